package quota

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/fault"
)

// Number is one of the numbers of which a plan is made, as plans.json has it.
type Number struct {
	Key      string  `json:"key"`
	Unit     string  `json:"unit"`
	What     string  `json:"what"`
	Least    float64 `json:"least"`
	Most     float64 `json:"most"`
	Fraction bool    `json:"fraction"` // else it is whole
	Personal bool    `json:"personal"` // a person may have one of their own
	Shipped  Values  `json:"shipped"`  // by plan
}

// Values are numbers by key, or by plan.
type Values map[string]float64

//go:embed plans.json
var plansJSON []byte

// shipped is plans.json; a test holds that it can be read and is whole.
var shipped = readShipped(plansJSON)

type planDocument struct {
	Plans   []string `json:"plans"`
	Numbers []Number `json:"numbers"`
}

// readShipped reads the plans of the program itself. Whatever is wrong with
// them is a mistake of the build, and no plan of theirs can be stood on.
func readShipped(raw []byte) planDocument {
	var d planDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		panic(fmt.Sprintf("quota: plans.json: %v", err))
	}
	if err := d.check(); err != nil {
		panic(fmt.Sprintf("quota: plans.json: %v", err))
	}
	return d
}

func (d planDocument) check() error {
	if len(d.Numbers) != len(setters) || !slices.Contains(d.Plans, Free) || !slices.Contains(d.Plans, Unverified) {
		return fmt.Errorf("%d numbers of plans %v, want %d, and the plans %s and %s", len(d.Numbers), d.Plans, len(setters), Free, Unverified)
	}
	for _, n := range d.Numbers {
		if setters[n.Key] == nil {
			return fmt.Errorf("nothing is bounded by %q", n.Key)
		}
		for _, plan := range d.Plans {
			v, there := n.Shipped[plan]
			if !there {
				return fmt.Errorf("%s has no value for the plan %s", n.Key, plan)
			}
			if err := n.Check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Numbers lists what a plan is made of, in the order people read it.
func Numbers() []Number { return slices.Clone(shipped.Numbers) }

// PlanNames lists the plans there are.
func PlanNames() []string { return slices.Clone(shipped.Plans) }

// knownPlan is name, or Free where there is no such plan.
func knownPlan(name string) string {
	if slices.Contains(shipped.Plans, name) {
		return name
	}
	return Free
}

// shippedValues are the numbers of a plan as the program ships it.
func shippedValues(name string) Values {
	name = knownPlan(name)
	values := make(Values, len(shipped.Numbers))
	for _, n := range shipped.Numbers {
		values[n.Key] = n.Shipped[name]
	}
	return values
}

// Check says what is wrong with a value: Invalid, with the key as its field.
func (n Number) Check(v float64) error {
	switch {
	case math.IsNaN(v) || v < n.Least || v > n.Most:
		return fault.New(fault.Invalid, "%s is %s to %s %s, not %s.", n.Key, formatNumber(n.Least), formatNumber(n.Most), n.Unit, formatNumber(v)).
			With(map[string]any{"field": n.Key, "least": n.Least, "most": n.Most})
	case !n.Fraction && v != math.Trunc(v):
		return fault.New(fault.Invalid, "%s is a whole number, not %s.", n.Key, formatNumber(v)).With(map[string]any{"field": n.Key})
	}
	return nil
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// numberOf finds a number by its key: Invalid when there is none.
func numberOf(key string) (Number, error) {
	at := slices.IndexFunc(shipped.Numbers, func(n Number) bool { return n.Key == key })
	if at < 0 {
		keys := make([]string, len(shipped.Numbers))
		for i, n := range shipped.Numbers {
			keys[i] = n.Key
		}
		return Number{}, fault.New(fault.Invalid, "A plan has no number %q; it has %s.", key, strings.Join(keys, ", ")).
			With(map[string]any{"field": key})
	}
	return shipped.Numbers[at], nil
}

// CheckPersonal says what is wrong with numbers of a person's own: Invalid.
// Tokens and dollars are their budget, which has a place of its own.
func CheckPersonal(v Values) error {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		n, err := numberOf(key)
		if err == nil && !n.Personal {
			err = fault.New(fault.Invalid, "%s is no number that one person can have of their own.", key).With(map[string]any{"field": key})
		}
		if err == nil {
			err = n.Check(v[key])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sound keeps of numbers from the store what the program can stand on, and
// names what it cannot. A number that a later or an earlier program wrote, or
// somebody by hand, is no reason to hold anybody off: the one beneath it holds.
func sound(v Values, of func(Number) bool) (good Values, bad []string) {
	good = make(Values, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		n, err := numberOf(key)
		if err != nil || !of(n) || n.Check(v[key]) != nil {
			bad = append(bad, key)
			continue
		}
		good[key] = v[key]
	}
	return good, bad
}
