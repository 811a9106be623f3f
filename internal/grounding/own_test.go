package grounding_test

import (
	"testing"

	"liminal/internal/grounding"
)

// workshop is two lists, of which one names records of the other.
func workshop() *grounding.Evidence {
	e := grounding.New(today, options())
	e.Result(grounding.Result{Call: "1", Tool: "orders", Value: map[string]any{
		"team": map[string]any{"hours": 19.0},
		"orders": []any{
			map[string]any{"id": "o-1", "customer": "Ferrand & Fils", "status": "open", "due": "2026-05-16", "price_eur": 1250.0, "hours": 7.0, "from": "09:00", "until": "11:30"},
			map[string]any{"id": "o-2", "customer": "Okonkwo Trading", "status": "open", "due": "2026-06-03", "price_eur": 780.0, "hours": 12.0, "from": "14:00", "until": "15:15"},
			map[string]any{"id": "o-3", "customer": "Ferrand & Fils", "status": "done", "due": "2026-05-02", "price_eur": 98.5, "hours": 3.0, "from": "08:00", "until": "08:45"},
		},
		"customers": []any{
			map[string]any{"id": "c-1", "name": "Ferrand & Fils", "city": "Lyon", "discount_pct": 3.0},
			map[string]any{"id": "c-2", "name": "Okonkwo Trading", "city": "Lagos", "discount_pct": 8.0},
		},
	}, Kinds: []grounding.Kind{
		{In: "orders", Entity: "order", Tell: told("id")}, {In: "customers", Entity: "customer", Tell: told("name")},
	}})
	return e
}

func told(member string) func(map[string]any) (string, string) {
	return func(v map[string]any) (string, string) {
		line, _ := v[member].(string)
		return line, line
	}
}

// Requirements: GRND-16, GRND-18
func TestASentenceIsOfTheRecordItMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The order of Ferrand & Fils in Lyon is due on 16 May and costs €1,250.00 [#order-o-1].": "",
		"It runs from 09:00 to 11:30, so two and a half hours [#order-o-1].":                     "",
		"That is with the 3% that Ferrand & Fils has [#order-o-1] [#customer-c-1].":              "",
		"The order costs €780.00 [#order-o-1].":                                                  "780.00",
		"The order of Okonkwo Trading is due on 16 May [#order-o-1].":                            "Okonkwo Trading",
		"It is due on 3 June [#order-o-1].":                                                      "3 June",
		"It takes 12 hours [#order-o-1].":                                                        "12",
		"Ferrand & Fils gets 8% off [#customer-c-1].":                                            "8%",
		"The order of Ferrand & Fils is due on 16 May [#order-o-1] [#customer-c-2].":             "c-2",
		"Bought by Amara Diallo, due on 16 May [#order-o-1].":                                    "Amara",
	} {
		_, _, bad := judged(workshop(), text)
		if want == "" && bad != nil || want != "" && (len(bad) == 0 || bad[0] != want) {
			t.Errorf("%s: found %q, want %q", text, bad, want)
		}
	}
}

// Requirements: GRND-16
func TestACountIsOfWhatTheSentenceTellsApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Two orders are open.":                             "",
		"Two of the three orders are open.":                "",
		"There are two orders from Ferrand & Fils.":        "",
		"Two orders are due in May, both in the 1st half.": "",
		"Three orders are open.":                           "Three",
		"There are three orders from Okonkwo Trading.":     "three",
		"Of the three orders, four are open.":              "four",
	} {
		_, _, bad := judged(workshop(), text)
		if want == "" && bad != nil || want != "" && (len(bad) == 0 || bad[0] != want) {
			t.Errorf("%s: found %q, want %q", text, bad, want)
		}
	}
}
