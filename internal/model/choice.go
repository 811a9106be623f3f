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
	// Backend answers in place of the default. Missing says what becomes of a
	// backend that is named, here or by a person's choice, and not there: "fail",
	// or "default" for the default in its place. Only everybody's policy says so.
	Backend string `json:"backend"`
	Missing string `json:"missing_backend"`
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
	Backend   string            `json:"backend"`    // that answers on the plan
}

// BackendFor is the backend that policies name for a plan: a person's own, and
// everybody's; empty where none is named. instead says that the default answers
// for one that is not there.
func BackendFor(policies []Policy, plan string) (own, everybodys string, instead bool) {
	if len(policies) == 0 {
		return "", "", false
	}
	all := policies[len(policies)-1]
	for _, p := range policies[:len(policies)-1] {
		own = cmp.Or(own, p.Backend)
	}
	return own, cmp.Or(all.Plans[plan].Backend, all.Backend), all.Missing == "default"
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
