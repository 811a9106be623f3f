package architect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
)

// What the architect hands in goes the way of every patch: it is rehearsed on
// the runs the figures are of, counts against the bound of models, and waits
// for a person, who is not the system.
//
// Requirements: CFG-13, CFG-12, CFG-02
func TestAtTheRealDeskAProposalIsRehearsedAndWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{})
	ships, err := stock()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, library: artifacts.NewLibrary(s, ships.specs), ran: &recordings{bodies: map[string][]byte{}}}
	if err := h.library.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	spent := &purse{left: 1}
	desk := changes.New(changes.Options{Store: s, Library: h.library, Recordings: h.ran, Limits: spent})
	h.Architect, err = architect.New(architect.Options{
		Recordings: h.ran, Library: h.library, Desk: desk, Ratings: s.RatedRuns, Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	a := h.workflow("frail", dispensable)
	h.record(a, 20, hello, breaks("look", 20, 0, failed("upstream")))

	out, err := h.Propose(t.Context(), architect.Batch{Proposals: h.advice().Proposals})
	if err != nil || len(out.Proposed) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	view, err := desk.Get(t.Context(), identity.Steward(), out.Proposed[0])
	if err != nil || view.Proposer != changes.ByModel || view.Status != changes.Pending || view.ProposedBy != "Liminal" {
		t.Fatalf("%+v, %v", view.Patch, err)
	}
	if after := string(view.After[0].After); !strings.Contains(after, `"on_error"`) {
		t.Errorf("the document would be %s", after)
	}
	if _, err := desk.Decide(t.Context(), identity.Steward(), view.ID, changes.Decision{Approve: true}); err == nil {
		t.Error("the system approved its own patch")
	}
	if again, err := h.Propose(t.Context(), architect.Batch{Proposals: h.advice().Proposals}); err != nil || len(again.Proposed) != 0 || !strings.Contains(again.Refused[0].Why, "waits already") {
		t.Errorf("again: %+v, %v", again, err)
	}
	p := wish(t, a.ID, longer)
	p.Base = a.Version
	h.refused(h.hand([]artifacts.Artifact{a}, p), "Not so fast")
	if spent.rule != quota.ModelProposals() {
		t.Errorf("it counts against %+v", spent.rule)
	}
	ann := identity.Viewer{UserID: id.New(), Role: identity.RoleUser}
	if _, err := desk.Get(t.Context(), ann, view.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("anybody sees it: %v", err)
	}
}

// purse lets so many proposals through.
type purse struct {
	left int
	rule quota.Rule
}

func (p *purse) Spend(_ context.Context, r quota.Rule, _ string) error {
	p.rule = r
	if p.left--; p.left < 0 {
		return fault.New(fault.RateLimited, "Not so fast.")
	}
	return nil
}
