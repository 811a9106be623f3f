package wire

import (
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
)

// budgets bounds what model calls use. A model that quotes costs nobody
// anything: there only what an administrator gave a person holds.
func budgets(store quota.UsageStore, m model.Model) *quota.Budgets {
	if m.Generative() {
		return quota.NewBudgets(store, quota.BudgetOptions{})
	}
	return quota.NewBudgets(store, quota.BudgetOptions{Plan: func(string) identity.Budget { return identity.Budget{} }})
}

// configured says whether a model can answer at all (OPS-08); nil: it can.
func configured(m model.Model) func() error {
	if c, ok := m.(interface{ Configured() error }); ok {
		return c.Configured
	}
	return nil
}
