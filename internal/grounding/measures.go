package grounding

import (
	"strconv"
	"strings"
)

// measure is what a number is of, and how many of the first of its kind one is:
// grams are of mass, and a kilogram is a thousand of them.
type measure struct {
	kind  string
	times float64
}

// measures are the measures that results and texts name, in small letters.
var measures = func() map[string]measure {
	m := map[string]measure{}
	for kind, list := range map[string][]string{
		"money": {"0.01 cent cents ct", "1 eur euro euros € usd us$ dollar dollars $ gbp pound pounds £ chf franken", "1000 teur t€ k€"},
		"mass":  {"0.001 mg", "1 g gramm gram grams", "1000 kg kilo kilos kilogramm kilogram kilograms", "1e6 t tonne tonnen tonnes tons"},
		"fluid": {"0.001 ml", "1 l liter litre litres liters", "100 hl hektoliter hectolitre hectolitres", "1000 m3 m³ kubikmeter cbm"},
		"way":   {"0.001 mm millimeter", "0.01 cm zentimeter", "1 m meter metre metres meters", "1000 km kilometer kilometre kilometres kilometers"},
		"area":  {"1 m2 m² qm sqm quadratmeter", "10000 ha hektar hectare hectares", "1e6 km2 km²"},
		"work":  {"0.001 wh", "1 kwh", "1000 mwh", "1e6 gwh"},
		"power": {"0.001 w watt", "1 kw kwp", "1000 mw"},
		"heat":  {"1 °c c celsius grad °"},
		"data":  {"0.001 mb mib", "1 gb gib", "1000 tb tib"},
		"share": {"1 percent prozent % share"},
		"plato": {"1 plato °p"},
		"time":  {"1 min mins minute minutes minuten", "60 h hour hours stunde stunden std", "1440 day days tag tage tagen d"},
	} {
		for _, line := range list {
			times, names, _ := strings.Cut(line, " ")
			for _, name := range strings.Fields(names) {
				m[name] = measure{kind, parsed(times)}
			}
		}
	}
	return m
}()

func parsed(s string) float64 {
	k := readings(strings.TrimSuffix(strings.TrimSuffix(s, "e6"), ","))
	v := k[0].value()
	if strings.HasSuffix(s, "e6") {
		v *= 1e6
	}
	return v
}

// measureOf is what a figure is of by its name: paid_cents, volume_hl.
func measureOf(name string) measure {
	name, _, _ = strings.Cut(strings.ToLower(name), "_per_")
	list := strings.Split(name, "_")
	for i := len(list) - 1; i >= 0; i-- {
		if m, ok := measures[list[i]]; ok && (len(list[i]) > 1 || i == len(list)-1 && i > 0) {
			return m
		}
	}
	return measure{}
}

// measured gives what a number in a text is of, by what stands behind it or
// before.
func (s *sentence) measuredBy(c *claim) measure {
	if c.unit == percent {
		return measures["%"]
	}
	rest := s.blank[c.end:]
	if m, ok := measures[strings.ToLower(firstWord(rest))]; ok {
		return m
	}
	before := strings.TrimRight(s.blank[:c.start], " ")
	for _, sign := range []string{"€", "$", "£", "EUR", "USD", "CHF", "GBP"} {
		if strings.HasSuffix(before, sign) {
			return measures["€"]
		}
	}
	return measure{}
}

// firstWord is what stands at the beginning of a text up to white space or a mark.
func firstWord(text string) string {
	text = strings.TrimLeft(text, " -\u00a0\u202f")
	if i := strings.IndexAny(text, " ,.;:!?)/|*\n"); i >= 0 {
		text = text[:i]
	}
	return text
}

// worded takes in a text that is a number, perhaps with what it is of: "186.40",
// "2450 kg".
func (e *Evidence) worded(r int32, name, text string) {
	digits, unit, _ := strings.Cut(text, " ")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Count(text, " ") > 1 || len(text) > 24 || strings.ContainsAny(digits, "eExXnN+") || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return
	}
	of := measureOf(name)
	if unit != "" {
		unit, _, _ = strings.Cut(unit, "/")
		of = measures[strings.ToLower(unit)]
		e.calls(unit, func(c *called) { add(&c.figures, name) })
	} else if !strings.Contains(digits, ".") && of.kind == "" {
		return // a room's number
	}
	e.figure(r, name, x, of)
}
