package builtin_test

import (
	"context"
	"errors"
	"testing"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// steps is a desk on which every patch goes well.
type steps struct{}

func (steps) StepCheck(context.Context, int64) (changes.Checked, error) {
	return changes.Checked{OK: true, About: "the workflow default"}, nil
}

func (steps) StepRehearse(_ context.Context, id int64) (changes.Rehearsed, error) {
	return changes.Rehearsed{Open: true, Verdict: "pass", Moved: int(id), Taken: 200, Said: "fine"}, nil
}

func (steps) StepExpire(_ context.Context, _ int64, s changes.Stage) (changes.Status, error) {
	if s != changes.Deciding {
		return changes.Approved, nil
	}
	return changes.Expired, nil
}

func (steps) StepWatch(context.Context, int64) (changes.Looked, error) {
	return changes.Looked{Over: true, Verdict: "fine"}, nil
}

// Requirements: CFG-15, TOOL-05
func TestOnlyTheSystemsRunsMakeStepsOfAPatch(t *testing.T) {
	t.Parallel()
	p := builtin.Parts{Desk: steps{}}
	for _, name := range []string{"config.check_v1", "config.rehearse_v1", "config.watch_v1"} {
		call := tool.Call{Inputs: inputs("patch_id", 7.0), Viewer: identity.Viewer{UserID: "root", Role: identity.RoleAdmin}}
		if _, err := run(t, p, name, &call); !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s of an administrator's run: %v", name, err)
		}
		call.Viewer = identity.Steward()
		must(t, p, name, &call)
	}
	if out := must(t, p, "config.rehearse_v1", &tool.Call{Inputs: inputs("patch_id", 7.0), Viewer: identity.Steward()}); out["moved"] != 7.0 {
		t.Errorf("rehearsed %v", out)
	}
	out := must(t, p, "config.expire_v1", &tool.Call{Inputs: inputs("patch_id", 7.0, "stage", "deciding"), Viewer: identity.Steward()})
	if out["status"] != "expired" {
		t.Errorf("expired: %v", out)
	}
	for _, s := range specs(t) {
		if s.Name == "config.check_v1" && (!s.Privileged || !s.IsJob()) {
			t.Error("everybody's graphs may move patches")
		}
	}
}
