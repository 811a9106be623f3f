package wire

import (
	"context"
	"fmt"

	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/safety"
)

// judge looks at what people ask and at what models answer (SAFE-01).
type judge interface {
	safety.Classifier
	safety.Holder
}

// judge is who looks, as the settings say; nil: nobody.
func (p *Platform) judge(ctx context.Context, o Options) (judge, error) {
	if o.Config.Model.Safety == "off" {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	rules, err := safety.Standard()
	if err != nil {
		return nil, fmt.Errorf("the rules of safety: %w", err)
	}
	if o.Config.Model.Safety == "rules" {
		return rules, nil
	}
	name, err := p.roleModel(ctx, o, "safety")
	if err != nil {
		return nil, err
	}
	return safety.NewJudge(safety.JudgeOptions{Model: o.Model, Name: name, Rules: rules, Logger: o.Logger}), nil
}

// roleModel is the model everybody's policy.models names for a role; empty: the
// provider's default.
func (p *Platform) roleModel(ctx context.Context, o Options, role string) (string, error) {
	stored, err := p.library.Models(ctx, identity.System())
	if err != nil {
		return "", fmt.Errorf("which model looks at answers: %w", err)
	}
	policies := make([]model.Policy, 0, len(stored))
	for _, a := range stored {
		policy, err := model.ReadPolicy(a.Schema)
		if err != nil {
			return "", fmt.Errorf("the policy of models %s: %w", a.Name, err)
		}
		policies = append(policies, policy)
	}
	return model.Choose(policies, rolesOf(o.Config.Model), "", role).Model, nil
}
