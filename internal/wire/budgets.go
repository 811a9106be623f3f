package wire

import (
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
)

// budgets bounds what model calls use. Models that quote cost nobody anything:
// while there are no others, only what an administrator gave a person holds.
func (p *Platform) budgets() *quota.Budgets {
	return quota.NewBudgets(p.store, quota.BudgetOptions{Plan: func(v identity.Viewer) identity.Budget {
		if p.registry.Generates() {
			return p.plans.Of(v).Budget
		}
		return identity.Budget{}
	}})
}

// configured says whether a model can answer at all (OPS-08): the environment's,
// or any other where somebody may be answered by it.
func (p *Platform) configured(m model.Model) func() error {
	c, ok := m.(interface{ Configured() error })
	return func() error {
		if !ok || !p.registry.Alone() {
			return nil // a backend that cannot answer says so itself
		}
		return c.Configured()
	}
}
