package model

import (
	"cmp"
	"encoding/json"

	"liminal/internal/fault"
)

// Choice is the model of one role and how it is asked: what a policy.models
// artifact says for a role, a plan and a backend (LORA-26). The zero Choice
// leaves everything to the provider.
type Choice struct {
	Model       string // empty: the provider's default
	Temperature *float64
	MaxTokens   int // of one answer; 0: the provider's default
	// Most bounds what anybody asks for instead of MaxTokens, in tokens; 0: no
	// bound. It is the plan's.
	Most int
}

// Policy is a policy.models document: which model does what, and how it is
// asked.
type Policy struct {
	Default  Asking                       `json:"default"`  // of roles that are not named
	Roles    map[string]Asking            `json:"roles"`    //
	Backends map[string]map[string]string `json:"backends"` // a model's name by backend and tier
	Plans    map[string]Bounds            `json:"plans"`    //
}

// Asking is how the model of a role is asked. What is not set is said
// elsewhere.
type Asking struct {
	Tier        string   `json:"tier"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
}

// over is a where it says something, else b.
func (a Asking) over(b Asking) Asking {
	if a.Temperature == nil {
		a.Temperature = b.Temperature
	}
	a.Tier, a.MaxTokens = cmp.Or(a.Tier, b.Tier), cmp.Or(a.MaxTokens, b.MaxTokens)
	return a
}

// Bounds is what a plan changes.
type Bounds struct {
	Tiers     map[string]string `json:"tiers"`      // the tier that is used instead of another
	Roles     map[string]Asking `json:"roles"`      //
	MaxTokens int               `json:"max_tokens"` // of any answer; 0: no bound
}

// ReadPolicy reads a policy.models document that has been checked when it was
// written.
func ReadPolicy(doc []byte) (Policy, error) {
	var p Policy
	if err := json.Unmarshal(doc, &p); err != nil {
		return Policy{}, fault.Wrap(fault.Invalid, err, "The policy.models document cannot be read.")
	}
	return p, nil
}

// Choose gives the model of a role. The nearest of the policies comes first
// and is asked first, thing by thing; the last is everybody's, and only its
// plans hold: nobody raises the bounds of their own plan. A role's tier, after
// what the plan makes of it, names a model where a policy has a row for the
// backend; elsewhere the provider's default is asked, so that another backend
// needs no other policy (LORA-22).
func Choose(policies []Policy, backend, plan, role string) Choice {
	if len(policies) == 0 {
		return Choice{}
	}
	own, all := policies[:len(policies)-1], policies[len(policies)-1]
	bounds := all.Plans[plan]
	var asking Asking
	for _, p := range own {
		asking = asking.over(p.Roles[role]).over(p.Default)
	}
	asking = asking.over(bounds.Roles[role]).over(all.Roles[role]).over(all.Default)
	tier := cmp.Or(bounds.Tiers[asking.Tier], asking.Tier)
	c := Choice{Temperature: asking.Temperature, MaxTokens: asking.MaxTokens, Most: bounds.MaxTokens}
	for _, p := range policies {
		c.Model = cmp.Or(c.Model, p.Backends[backend][tier])
	}
	if c.Most > 0 && c.MaxTokens > c.Most {
		c.MaxTokens = c.Most
	}
	return c
}
