package store

import (
	"context"
	"encoding/json"
	"strconv"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ run.Acts = (*Store)(nil)

func actArgs(v identity.Viewer, a run.Act) Args {
	return Args{"run": a.RunID, "effect": a.EffectID, "attempt": a.Attempt, "user": v.UserID}
}

func act(tx Tx, v identity.Viewer, a run.Act) (found run.Act, err error) {
	found = run.Act{RunID: a.RunID, EffectID: a.EffectID, Attempt: a.Attempt}
	there, err := first(tx, `SELECT tool, begun_at, ended_at, outcome FROM act WHERE run_id = @run AND effect_id = @effect AND attempt = @attempt AND user_id = @user`,
		actArgs(v, a), &found.Tool, when{&found.BegunAt}, when{&found.EndedAt}, decode{&found.Outcome})
	if err == nil && !there {
		err = missing("act")
	}
	if err == nil {
		err = openOutcome(tx, v.UserID, &found)
	}
	return found, err
}

// sealOutcome is what came of an act as its row holds it.
func sealOutcome(tx Tx, user string, a run.Act) (json.RawMessage, error) {
	if !id.Unkept(a.RunID) || len(a.Outcome) == 0 {
		return a.Outcome, nil
	}
	w, err := runVault(tx, user, a.RunID)
	if err != nil {
		return nil, err
	}
	object, err := sealed(w, outcomeRow(a), a.Outcome)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// openOutcome puts the words back into an act that was read.
func openOutcome(tx Tx, user string, a *run.Act) error {
	var object map[string]any
	if !id.Unkept(a.RunID) || json.Unmarshal(a.Outcome, &object) != nil {
		return nil
	}
	w, err := runVault(tx, user, a.RunID)
	if err != nil {
		return err
	}
	a.Outcome = nil
	unsealed(w, outcomeRow(*a), object, &a.Outcome)
	return nil
}

func outcomeRow(a run.Act) string { return a.EffectID + " " + strconv.Itoa(a.Attempt) }

// BeginAct implements run.Acts.
func (s *Store) BeginAct(ctx context.Context, v identity.Viewer, a run.Act) (before *run.Act, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		before = nil
		r, err := visible(tx, v, a.RunID)
		if err != nil {
			return err
		}
		own := identity.Viewer{UserID: r.UserID}
		args := actArgs(own, a)
		args["tool"], args["now"] = a.Tool, s.now()
		n, err := tx.Exec(`INSERT INTO act (run_id, effect_id, attempt, user_id, tool, begun_at) VALUES (@run, @effect, @attempt, @user, @tool, @now)
			ON CONFLICT (run_id, effect_id, attempt) DO NOTHING`, args)
		if err != nil || n == 1 {
			return err
		}
		known, err := act(tx, own, a)
		before = &known
		return err
	})
	return before, err
}

// Act implements run.Acts.
func (s *Store) Act(ctx context.Context, v identity.Viewer, a run.Act) (found run.Act, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		r, err := visible(tx, v, a.RunID)
		if err == nil {
			found, err = act(tx, identity.Viewer{UserID: r.UserID}, a)
		}
		return err
	})
	return found, err
}

// EndAct implements run.Acts.
func (s *Store) EndAct(ctx context.Context, v identity.Viewer, a run.Act) error {
	return s.write(ctx, v, func(tx Tx) error {
		r, err := visible(tx, v, a.RunID)
		if err != nil {
			return err
		}
		args := actArgs(identity.Viewer{UserID: r.UserID}, a)
		outcome, err := sealOutcome(tx, r.UserID, a)
		if err != nil {
			return err
		}
		args["now"], args["outcome"] = s.now(), rawJSON(unescaped(outcome))
		_, err = tx.Exec(`UPDATE act SET ended_at = @now, outcome = @outcome
			WHERE run_id = @run AND effect_id = @effect AND attempt = @attempt AND user_id = @user AND ended_at IS NULL`, args)
		return err
	})
}
