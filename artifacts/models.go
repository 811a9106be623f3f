package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// models checks a policy.models: who may bound plans, and that every tier it
// names is one.
func (c *checking) models() {
	p, err := model.ReadPolicy(c.doc)
	if err != nil {
		return // the schema has said so
	}
	if len(p.Plans) > 0 && !c.v.IsAdmin() {
		c.add(check.Limits, "/plans", "leave it out: the plans of everybody's policy hold for you", "only administrators say what a plan may use")
	}
	known := c.tiers(p)
	if len(known) == 0 {
		return // the policy leaves models to the configuration
	}
	for _, path := range slices.Sorted(maps.Keys(named(p))) {
		if tier := named(p)[path]; !known[tier] {
			c.add(check.References, path, "tiers that are known: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "), "no backend has a tier %q", tier)
		}
	}
}

// tiers are those for which a backend has a model, here or in everybody's
// policy.
func (c *checking) tiers(p model.Policy) map[string]bool {
	known := map[string]bool{}
	add := func(p model.Policy) {
		for _, row := range p.Backends {
			for tier := range row {
				known[tier] = true
			}
		}
	}
	add(p)
	all, err := c.library.store.ArtifactNamed(c.ctx, identity.System(), KindModels, DefaultPolicy)
	if err == nil {
		var theirs model.Policy
		if json.Unmarshal(all.Schema, &theirs) == nil {
			add(theirs)
		}
	} else if !errors.Is(err, fault.NotFound) {
		c.err = err
	}
	return known
}

// named are the tiers a policy names, by where it does.
func named(p model.Policy) map[string]string {
	found := map[string]string{}
	asks := func(path string, a model.Asking) {
		if a.Tier != "" {
			found[path+"/tier"] = a.Tier
		}
	}
	asks("/default", p.Default)
	for role, a := range p.Roles {
		asks("/roles/"+role, a)
	}
	for plan, b := range p.Plans {
		for from, to := range b.Tiers {
			found[fmt.Sprintf("/plans/%s/tiers/%s", plan, from)] = to
		}
		for role, a := range b.Roles {
			asks("/plans/"+plan+"/roles/"+role, a)
		}
	}
	return found
}
