package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/workflows"
)

func sweeping(b *bundle, name string, run func(context.Context) (activities.Swept, error)) (activities.Swept, error) {
	b.Helper()
	b.set.Sweeps = map[string]activities.Sweep{"tmp": {Every: 24 * time.Hour, Run: run}}
	b.env.ExecuteWorkflow(workflows.SweepType, activities.SweepInput{Name: name})
	if !b.env.IsWorkflowCompleted() {
		b.Fatal("the sweep does not end")
	}
	var out activities.Swept
	if err := b.env.GetWorkflowError(); err != nil {
		return out, err
	}
	return out, b.env.GetWorkflowResult(&out)
}

// Requirements: FILE-07
func TestASweepThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	tries := 0
	out, err := sweeping(setup(t, activitiestest.New("")), "tmp", func(context.Context) (activities.Swept, error) {
		if tries++; tries < 3 {
			return activities.Swept{}, errors.New("the disk is busy")
		}
		return activities.Swept{Removed: 7, Note: "tmp"}, nil
	})
	if err != nil || tries != 3 || out.Removed != 7 || out.Note != "tmp" {
		t.Errorf("after %d tries it gives %+v, %v", tries, out, err)
	}
}

func TestASweepGivesUpUntilItsNextTime(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(""))
	tries, at := 0, b.env.Now()
	_, err := sweeping(b, "tmp", func(context.Context) (activities.Swept, error) {
		tries++
		return activities.Swept{}, errors.New("the disk is gone")
	})
	if took := b.env.Now().Sub(at); err == nil || tries != 5 || took > time.Hour {
		t.Errorf("it gave up after %d tries and %s with %v", tries, took, err)
	}
}

// A worker of an older version may take a sweep it does not know.
func TestASweepOfAnotherVersionIsLeftToItsWorkers(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(""))
	at := b.env.Now()
	_, err := sweeping(b, "unknown", nil)
	if took := b.env.Now().Sub(at); err == nil || took < time.Minute {
		t.Errorf("it was tried for %s only (%v)", took, err)
	}
}

// Requirements: CFG-13, PLAT-11 (config evolution)
func TestTheArchitectIsLetInByItsSweep(t *testing.T) {
	t.Parallel()
	began := 0
	b := setup(t, activitiestest.New(oneNode))
	b.set.Sweeps = map[string]activities.Sweep{activities.NameArchitect: activities.Architect(24*time.Hour, func(context.Context) error {
		if began++; began == 1 {
			return errDown
		}
		return nil
	})}
	b.env.ExecuteWorkflow(workflows.SweepType, activities.SweepInput{Name: activities.NameArchitect})
	if err := b.env.GetWorkflowError(); err != nil || began != 2 {
		t.Errorf("the sweep ended with %v after %d tries", err, began)
	}
}
