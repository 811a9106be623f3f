package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/lora/train"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/training"
)

// apprentice trains one job; it tells what it was asked, and fails with fails.
type apprentice struct {
	asked func(what string, args ...any)
	fails error
}

func (a apprentice) ask(what string, args ...any) {
	if a.asked != nil {
		a.asked(what, args...)
	}
}

func (a apprentice) Plan(context.Context, identity.Viewer, string) (training.Planned, error) {
	return training.Planned{Queued: 1}, nil
}

func (a apprentice) Dataset(_ context.Context, _ identity.Viewer, c training.Claim) (training.Prepared, error) {
	return training.Prepared{Enough: true, Rows: 12, HeldOut: 4}, a.fails
}

func (a apprentice) Fit(_ context.Context, _ identity.Viewer, _ training.Claim, report func(train.Metric), notice func(string)) (training.Fitted, error) {
	held := 0.75
	for step := 1; step <= 3; step++ {
		report(train.Metric{Step: step, Of: 3, Loss: 1.5 / float64(step), HeldOut: &held, Speed: 100, ETA: float64(3 - step)})
	}
	notice("It may use all memory.")
	return training.Fitted{Steps: 3, Of: 3}, a.fails
}

func (a apprentice) Judge(context.Context, identity.Viewer, training.Claim) (training.Judged, error) {
	return training.Judged{Outcome: "rule", P: 0.95, Held: 6}, a.fails
}

func (a apprentice) Publish(context.Context, identity.Viewer, training.Claim) (training.Published, error) {
	return training.Published{Version: 1, Checksum: "ab", HandIn: true}, a.fails
}

func (a apprentice) HandIn(_ context.Context, _ identity.Viewer, c training.Claim) (training.HandIn, bool, error) {
	return training.HandIn{AdapterID: "a", Version: 2, Outcome: "rule"}, c.Job != "done", nil
}

func (a apprentice) HandedIn(_ context.Context, _ identity.Viewer, c training.Claim, patch int64, status string) error {
	a.ask("handed in", c.Job, patch, status)
	return nil
}

func (a apprentice) Settle(context.Context, identity.Viewer, training.Claim) (training.Settled, error) {
	return training.Settled{Status: "succeeded", Stage: "done", Version: 1}, nil
}

func (a apprentice) Fail(_ context.Context, _ identity.Viewer, c training.Claim, f training.Failure) (training.Failed, error) {
	a.ask("failed", c.Job, c.Fence, f.Code, f.Reason, f.Message)
	return training.Failed{Status: "queued", Reason: f.Message}, nil
}

var claimed = inputs("job", "j", "fence", 3.0)

func TestEachStepOfATrainingIsTold(t *testing.T) {
	t.Parallel()
	p := everything(t)
	var told []stream.ProgressData
	out := must(t, p, "train.fit_v1", &tool.Call{Inputs: claimed, Emit: func(d stream.Payload) {
		if at, ok := d.(stream.ProgressData); ok {
			told = append(told, at)
		}
	}})
	if out["steps"] != 3.0 || len(told) < 3 {
		t.Fatalf("%v, told %+v", out, told)
	}
	// Steps come faster than anybody reads: the last one is always told.
	last := told[len(told)-2]
	if *last.Done != 3 || *last.Total != 3 || last.Unit != "steps" || last.Figures["loss"] != 0.5 || last.Figures["held_out"] != 0.75 || last.Figures["tok_s"] != 100 {
		t.Errorf("%+v", last)
	}
	if told[len(told)-1].Message != "It may use all memory." {
		t.Errorf("%+v", told[len(told)-1])
	}
}

// Requirements: TRAIN-10 (failed with the reason)
func TestAStepThatMayPassIsTheJobsToTryAgain(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		fails error
		noted bool
	}{
		"a full disk":   {fault.Wrap(fault.Internal, errors.New("no space"), "The disk is full.").With(map[string]any{"reason": "disk_full"}), true},
		"a bad job":     {fault.New(fault.Invalid, "It cannot be trained."), false},
		"another claim": {fault.New(fault.Conflict, "Somebody else has it."), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range []string{"train.dataset_v1", "train.fit_v1", "train.judge_v1", "train.publish_v1"} {
				var asked []string
				p := everything(t)
				p.Training = apprentice{fails: of.fails, asked: func(what string, args ...any) { asked = append(asked, fmt.Sprint(what, args)) }}
				_, err := run(t, p, step, &tool.Call{Inputs: claimed})
				if of.noted != slices.Equal(asked, []string{"failed[j 3 server_error disk_full The disk is full.]"}) {
					t.Errorf("%s: noted %v", step, asked)
				}
				if of.noted && fault.CodeOf(err) != fault.Conflict { // the call itself is not made again
					t.Errorf("%s: %v", step, err)
				}
			}
		})
	}
}

func TestTrainedWeightsAreHandedInOnce(t *testing.T) {
	t.Parallel()
	var asked, stored []string
	p := everything(t)
	p.Training = apprentice{asked: func(what string, args ...any) { asked = append(asked, fmt.Sprint(what, args)) }}
	p.Learning = pupil{stored: func(what string, args ...any) { stored = append(stored, fmt.Sprint(what, args)) }}
	out := must(t, p, "adapter.propose_v1", &tool.Call{RunID: "r", Inputs: claimed})
	if out["patch"] != 4.0 || !slices.Equal(stored, []string{"weights[r a 2 rule]"}) || !slices.Equal(asked, []string{"handed in[j 4 applied]"}) {
		t.Errorf("%v, %v, %v", out, stored, asked)
	}
	out = must(t, p, "adapter.propose_v1", &tool.Call{RunID: "r", Inputs: inputs("job", "done", "fence", 3.0)})
	if out["status"] != "none" || len(stored) != 1 {
		t.Errorf("done again it gives %v, %v", out, stored)
	}
}
