package wire

import (
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
)

// budgets bounds what model calls use. A model that quotes costs nobody
// anything: there only what an administrator gave a person holds.
func budgets(store quota.UsageStore, plans *quota.PlanTable, m model.Model) *quota.Budgets {
	return quota.NewBudgets(store, quota.BudgetOptions{Plan: func(v identity.Viewer) identity.Budget {
		if !m.Generative() {
			return identity.Budget{}
		}
		return plans.Of(v).Budget
	}})
}

// configured says whether a model can answer at all (OPS-08); nil: it can.
func configured(m model.Model) func() error {
	if c, ok := m.(interface{ Configured() error }); ok {
		return c.Configured
	}
	return nil
}
