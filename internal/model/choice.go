package model

// Choice is the model of one role and how it is asked: what a policy.models
// artifact says for a role, a plan and a backend (LORA-26). The zero Choice
// leaves everything to the provider.
type Choice struct {
	Model       string // empty: the provider's default
	Temperature *float64
	MaxTokens   int // of one answer; 0: the provider's default
}
