package record

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// office is a house with a desk, at which two administrators sit.
type office struct {
	*house
	library *artifacts.Library
	desk    *changes.Desk
	second  identity.Viewer
}

// openOffice starts one with the given workflow as everybody's default, and
// with the way of patches that ships with the program.
func openOffice(t *testing.T, workflow string) *office {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the folder goes with it
	// Patches are numbered, and other stores work on the same server.
	err = db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO sqlite_sequence (name, seq) VALUES ('config_patch', @n)`, store.Args{"n": rand.Int64N(1 << 40)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &office{house: &house{T: t, store: store.New(db, store.Options{}), memory: inproc.New(inproc.Options{Base: inproc.Stride})}}
	t.Cleanup(o.memory.Close)
	o.viewer = o.person()
	o.second = o.colleague()
	o.furnish(workflow)
	return o
}

// colleague is a second administrator.
func (o *office) colleague() identity.Viewer {
	o.Helper()
	role := identity.RoleAdmin
	u, err := o.store.ChangeUser(o.Context(), o.account("b").ID, identity.UserChange{Role: &role})
	if err != nil {
		o.Fatal(err)
	}
	return u.Viewer("")
}

func (o *office) furnish(workflow string) {
	o.Helper()
	specs, err := builtin.Specs()
	if err != nil {
		o.Fatal(err)
	}
	specs = slices.DeleteFunc(specs, func(s tool.Spec) bool { return !strings.HasPrefix(s.Name, "config.") })
	o.library = artifacts.NewLibrary(o.store, specs)
	o.desk = changes.New(changes.Options{
		Store: o.store, Library: o.library, Recordings: o.store,
		Launch: func(ctx context.Context, r run.Run) { o.engine.Launch(ctx, r) },
		Send:   func(ctx context.Context, q run.Interrupt) { o.engine.Send(ctx, q) },
	})
	box, err := tool.NewBox(builtin.Tools(builtin.Parts{Desk: o.desk}), tool.Options{})
	if err != nil {
		o.Fatal(err)
	}
	seeds, err := o.library.Seeds()
	if err != nil {
		o.Fatal(err)
	}
	seeds = slices.DeleteFunc(seeds, func(s artifacts.Seed) bool {
		return s.Type != artifacts.KindTool && (s.Type != artifacts.KindWorkflow || s.Name != "config_patch")
	})
	seeds = append(seeds, artifacts.Seed{Type: artifacts.KindWorkflow, Name: "default", Schema: json.RawMessage(workflow)})
	if err := o.store.Seed(o.Context(), identity.System(), seeds); err != nil {
		o.Fatal(err)
	}
	o.work(&activities.Set{
		Turns: o.store, Messages: o.store, Conversations: o.store, Runs: o.store, Interrupts: o.store, Blobs: o.store,
		Contexts: o.store, Artifacts: o.library, Box: box, Log: o.memory, Record: true,
	})
}

// eventually tries an act until the patch's workflow has come so far.
func (o *office) eventually(what string, act func() error) {
	o.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = act(); fault.CodeOf(err) != fault.Conflict {
			break
		}
	}
	if err != nil {
		o.Fatalf("%s: %v", what, err)
	}
}

// Requirements: PLAT-08, CFG-01, CFG-04, CFG-05, CFG-11, CFG-15, ART-07
func TestAChangeOnItsWholeWayWhileARunIsInFlight(t *testing.T) {
	t.Parallel()
	o := openOffice(t, houseAsks)
	ctx := t.Context()
	before, err := o.library.Workflow(ctx, o.viewer, "default")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		o.end(o.chat("", "hello", "reject").Run.ID)
	}
	flying := o.chat("", "ask", "reject")
	q := o.paused(flying.Run.ID)

	p, err := o.desk.Propose(ctx, o.viewer, changes.Proposal{
		ArtifactID: before.ID, Justification: "Say it better.",
		Patch: json.RawMessage(`[{"op":"replace","path":"/nodes/1/response","value":"better: ${input.message} ${vars.ask?}"}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	o.eventually("the approval", func() error {
		_, err := o.desk.Decide(ctx, o.second, p.ID, changes.Decision{Approve: true, Reason: "fine", Confirm: "default"})
		return err
	})
	o.eventually("the application", func() error {
		_, err := o.desk.Apply(ctx, o.second, p.ID, changes.RolloutPlan{Hours: 24})
		return err
	})
	next := o.chat("", "hello", "reject")
	o.end(next.Run.ID)
	o.says(next.ConversationID, "user: hello", "assistant: better: hello ")

	if _, err := o.engine.Answer(ctx, o.viewer, q.ID, run.Answer{Type: "text_input", Value: "that one"}); err != nil {
		t.Fatal(err)
	}
	o.end(flying.Run.ID)
	o.says(flying.ConversationID, "user: ask", "system: Which one?", "user: that one", "assistant: said ask that one")

	o.eventually("the watch", func() error {
		open, err := o.store.PendingInterrupts(ctx, o.second, "")
		if err == nil && len(open) == 0 {
			err = fault.New(fault.Conflict, "It is looked at first.")
		}
		return err
	})
	o.eventually("the roll back", func() error {
		_, err := o.desk.RollBack(ctx, o.second, p.ID, "It was not better.")
		return err
	})
	last := o.chat("", "hello", "reject")
	o.end(last.Run.ID)
	o.says(last.ConversationID, "user: hello", "assistant: said hello ")
	o.gone(p)
	o.unmoved(before)
}

// gone waits for the end of a patch's run.
func (o *office) gone(p changes.Patch) {
	o.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		r, err := o.store.Run(o.Context(), identity.Steward(), p.RunID)
		if err != nil || time.Now().After(end) {
			o.Fatalf("the patch's run is %s (%v)", r.Status, err)
		}
		if r.Status.Ended() {
			if r.Status != run.Done {
				o.Errorf("the patch's run ended %s: %s", r.Status, r.Error)
			}
			return
		}
	}
}

// unmoved rehearses an artifact as it is on what its runs left: nothing goes
// another way.
func (o *office) unmoved(a artifacts.Artifact) {
	o.Helper()
	report, err := rehearsal.Run(o.Context(), o.library, o.store, rehearsal.Plan{Artifact: a, Doc: a.Schema})
	if err != nil {
		o.Fatal(err)
	}
	if report.Sample.Taken != 6 || report.Sample.Unreadable != 0 || report.Moved != 0 || report.Unknown != 0 || report.Questions != (rehearsal.Two{Before: 1, After: 1}) {
		o.Errorf("six runs, unchanged, rehearse as %+v", *report)
	}
}
