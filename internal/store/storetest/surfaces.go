package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Surfaces proves the caps and the audit of turns of surfaces.
func Surfaces(t *testing.T, open Open) {
	t.Run("no more turns of an hour than the cap, however many ask at once", func(t *testing.T) { hourlyCap(t, open) })
	t.Run("everybody together has a cap too, and hours are apart", func(t *testing.T) { globalCap(t, open) })
	t.Run("an administrator goes beyond their own cap, and it is noted", func(t *testing.T) { liftedCap(t, open) })
	t.Run("a turn leaves a row that has no words, or in the full mode has them", func(t *testing.T) { turnAudits(t, open) })
	t.Run("a run by itself leaves such a row too", func(t *testing.T) { auditsOfRuns(t, open) })
	t.Run("a run that nobody carries on closes its row", func(t *testing.T) { abandonedAudit(t, open) })
	t.Run("rows are their person's, and the administrators' of the tenant", func(t *testing.T) { whoseAudits(t, open) })
	t.Run("one's own workflow of the same name is none, one that is closed is not there", func(t *testing.T) { shadowedSurface(t, open) })
}

// desk is a surface.
func desk(hourly, global int, audit string) chat.Surfaced {
	return chat.Surfaced{Path: "desk", WorkflowID: id.New(), Name: "desk", Hourly: hourly, Global: global, Hint: 2, Audit: audit, Model: "m-1"}
}

func atDesk(of chat.Surfaced, text string) chat.NewTurn {
	return chat.NewTurn{RequestID: id.New(), Message: text, WorkflowID: of.Name, History: []chat.Said{}, Surfaces: []chat.Surfaced{of}, Visit: chat.Visit{Session: "tab-1", Page: "/r/matters"}}
}

func audits(t testing.TB, s *store.Store, v identity.Viewer, f chat.AuditFilter) []chat.TurnAudit {
	t.Helper()
	list, _, err := s.TurnAudits(t.Context(), v, f)
	need(t, err)
	return list
}

// Requirements: GRND-27 (the person's cap), GRND-29 (rate_limited), GRND-32 (atomic; by person and hour), SAFE-07 (hard block with retry-after)
func hourlyCap(t *testing.T, open Open) {
	c := newClock()
	o := unlimited
	o.Now = c.now
	s := open(t, o).Store
	v, other, of := person(t, s), person(t, s), desk(30, 0, chat.AuditRedacted)
	var let, refused atomic.Int32
	for _, err := range race(writers, func(int) error {
		_, err := s.Accept(t.Context(), v, atDesk(of, "What is due?"))
		switch {
		case err == nil:
			let.Add(1)
		case chat.IsErrHour(err, of):
			refused.Add(1)
			return nil
		}
		return err
	}) {
		need(t, err)
	}
	if let.Load() != 30 || refused.Load() != writers-30 {
		t.Errorf("%d turns were let through and %d refused", let.Load(), refused.Load())
	}
	used, _, err := s.TurnsOfHour(t.Context(), v, "desk")
	need(t, err)
	if used != 30 {
		t.Errorf("%d are counted", used)
	}
	_, err = s.Accept(t.Context(), v, atDesk(of, "One more?"))
	known := fault.From(err)
	details, _ := known.Details.(map[string]any)
	if known.Code != fault.RateLimited || details["retry_after"] != 3600 {
		t.Errorf("the 31st: %v with %v", err, details)
	}
	first := audits(t, s, v, chat.AuditFilter{Limit: 100})
	limited := 0
	for _, a := range first {
		if a.Error == chat.EndLimited && !a.FinishedAt.IsZero() {
			limited++
		}
	}
	if limited != writers-30+1 {
		t.Errorf("%d rows say that a turn was refused", limited)
	}
	if _, err := s.Accept(t.Context(), other, atDesk(of, "And me?")); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	spend := func(v identity.Viewer, workflow string) error {
		_, err := s.SpendTurn(t.Context(), v, workflow, []chat.Surfaced{of})
		return err
	}
	for _, workflow := range []string{of.Name, of.WorkflowID} { // whichever way it begins
		if err := spend(v, workflow); !chat.IsErrHour(err, of) {
			t.Errorf("a run by itself beyond the cap: %v", err)
		}
		need(t, spend(other, workflow))
	}
	need(t, spend(v, "another"))
	if used, _, _ := s.TurnsOfHour(t.Context(), other, "desk"); used != 3 {
		t.Errorf("%d of somebody else are counted", used)
	}
	again := atDesk(of, "The same")
	c.add(time.Hour)
	for range 2 { // a repeat is the same turn, and counts once
		_, err = s.Accept(t.Context(), v, again)
		need(t, err)
	}
	if used, _, _ = s.TurnsOfHour(t.Context(), v, "desk"); used != 1 {
		t.Errorf("%d in the next hour", used)
	}
}

// Requirements: GRND-27 (everybody's cap), SAFE-07 (everybody's cap)
func globalCap(t *testing.T, open Open) {
	c := newClock()
	o := unlimited
	o.Now = c.now
	s := open(t, o).Store
	of := desk(0, 2, "")
	people := []identity.Viewer{person(t, s), administrator(t, s), person(t, s)}
	for i, v := range people {
		_, err := s.Accept(t.Context(), v, atDesk(of, "Hello"))
		if i < 2 {
			need(t, err)
			continue
		}
		wantFault(t, err, fault.RateLimited)
		if !strings.Contains(err.Error(), "everybody") {
			t.Error(err)
		}
	}
	used, global, err := s.TurnsOfHour(t.Context(), people[2], "desk")
	need(t, err)
	if used != 0 || global != 2 { // a turn that was refused is not counted of anybody
		t.Errorf("%d of %d", used, global)
	}
	c.add(time.Hour)
	_, err = s.Accept(t.Context(), people[2], atDesk(of, "Hello"))
	need(t, err)
}

// Requirements: SAFE-07 (hint; an administrator's own cap, noted)
func liftedCap(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, of := administrator(t, s), desk(2, 0, chat.AuditRedacted)
	var near, lifted []bool
	for range 3 {
		a, err := s.Accept(t.Context(), v, atDesk(of, "Hello"))
		need(t, err)
		near, lifted = append(near, a.Counted.Near()), append(lifted, a.Counted.Lifted)
	}
	if !slices.Equal(near, []bool{false, true, true}) || !slices.Equal(lifted, []bool{false, false, true}) {
		t.Errorf("near %v, lifted %v", near, lifted)
	}
	n := 0
	for _, a := range audits(t, s, v, chat.AuditFilter{Mine: true}) {
		if a.Lifted {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rows say that the cap was lifted", n)
	}
}

// Requirements: GRND-28 (written before the model; columns), GRND-30 (redacted has no words; full has them), GRND-48
func turnAudits(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	for _, mode := range []string{chat.AuditRedacted, chat.AuditFull} {
		v, of := person(t, s), desk(0, 0, mode)
		a, err := s.Accept(t.Context(), v, atDesk(of, "Wann ist die Frist von Zebra?"))
		need(t, err)
		open := audits(t, s, v, chat.AuditFilter{})
		if len(open) != 1 || open[0].TurnID != a.Run.ID || !open[0].FinishedAt.IsZero() || open[0].Model != "m-1" || open[0].Session != "tab-1" || len(open[0].PromptHash) != 64 {
			t.Fatalf("%s: before any model: %+v", mode, open)
		}
		input, output, cost := 120, 0, 0.000123
		_, err = s.CloseTurn(t.Context(), v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Audit: &chat.TurnEnd{
			Model: "m-2", Input: &input, Output: &output, CostUSD: &cost, ResponseHash: strings.Repeat("b", 64), Chips: 2, Tag: "data",
			Calls: []chat.AuditCall{{Name: "search", ArgsHash: strings.Repeat("c", 64), Status: "ok", LatencyMS: 12, Mutating: true, Approved: true}}, Rows: []int{3}, Response: "Am Montag , Zebra",
		}})
		need(t, err)
		got := audits(t, s, v, chat.AuditFilter{Surface: "desk"})[0]
		if got.FinishedAt.IsZero() || got.Model != "m-2" || *got.Input != 120 || got.Chips != 2 || got.Tag != "data" || got.Error != "" || *got.CostUSD != cost ||
			len(got.Calls) != 1 || got.Calls[0].LatencyMS != 12 || got.Calls[0].Name != "search" || !got.Calls[0].Mutating || !got.Calls[0].Approved {
			t.Errorf("%s: %+v", mode, got)
		}
		if full := mode == chat.AuditFull; full != (got.Message == "Wann ist die Frist von Zebra?") || full != (got.Response == "Am Montag , Zebra") ||
			full != (got.Page == "/r/matters") || full != slices.Equal(got.Rows, []int{3}) || full != (got.Abandoned != nil) || full != (got.Words != nil && *got.Words == 5) { // four words, nobody counted tokens
			t.Errorf("%s: %+v", mode, got)
		}
	}
	v, of := person(t, s), desk(0, 0, chat.AuditFull)
	a, err := s.Accept(t.Context(), v, atDesk(of, "Counted?"))
	need(t, err)
	output := 41
	_, err = s.CloseTurn(t.Context(), v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Audit: &chat.TurnEnd{Output: &output, Response: "Am Montag"}})
	need(t, err)
	if got := audits(t, s, v, chat.AuditFilter{})[0]; got.Words == nil || *got.Words != 41 {
		t.Errorf("what the provider counted: %v", got.Words)
	}
	for text, tokens := range map[string]int{"": 0, "one": 1, "one two three four": 5, "1 2 3 4 5 6 7 8 9 10": 13} {
		if n := store.WordTokens(text); n != tokens {
			t.Errorf("%q is %d tokens", text, n)
		}
	}
}

// A run that begins by itself leaves a row as a turn does: before any model is
// asked, and completed with its end, whoever ends it.
//
// Requirements: GRND-28 (before the upstream call; closed when nobody carries the run on), GRND-29, GRND-30
func auditsOfRuns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	for _, mode := range []string{chat.AuditRedacted, chat.AuditFull} {
		v, of := administrator(t, s), desk(1, 0, mode)
		var kept *chat.TurnSurface
		for range 2 { // the second is beyond an administrator's own cap
			var err error
			kept, err = s.SpendTurn(t.Context(), v, of.Name, []chat.Surfaced{of})
			need(t, err)
		}
		input, err := json.Marshal(map[string]any{"artifact": of.Name, "input": map[string]any{"message": "Wann ist die Frist?"}, "surface": kept})
		need(t, err)
		begin := func() run.Run {
			r := run.Run{ID: id.New(), Kind: run.KindGraph, UserID: v.UserID, Input: input}
			r.WorkflowID = "graph:" + r.ID
			need(t, s.CreateRun(t.Context(), v, r))
			return r
		}
		of1, of2 := begin(), begin()
		row := func(r run.Run) chat.TurnAudit {
			list := audits(t, s, v, chat.AuditFilter{Mine: true})
			at := slices.IndexFunc(list, func(one chat.TurnAudit) bool { return one.TurnID == r.ID })
			if at < 0 {
				t.Fatalf("%s: no row of run %s", mode, r.ID)
			}
			return list[at]
		}
		if got := row(of1); !got.FinishedAt.IsZero() || got.Model != "m-1" || !got.Lifted || got.Session == "" || len(got.PromptHash) != 64 || (got.Message != "") != (mode == chat.AuditFull) {
			t.Errorf("%s: before any model: %+v", mode, got)
		}
		need(t, s.EndRun(t.Context(), v, of1.ID, run.End{Status: run.Done, Audit: json.RawMessage(`{"Model":"m-2","Tag":"data","Response":"Am Montag"}`)}))
		if got := row(of1); got.FinishedAt.IsZero() || got.Model != "m-2" || got.Tag != "data" || got.Error != "" || (got.Response != "") != (mode == chat.AuditFull) {
			t.Errorf("%s: %+v", mode, got)
		}
		need(t, s.EndRun(t.Context(), v, of2.ID, run.End{Status: run.Failed}))
		if got := row(of2); got.Error != chat.EndUpstream || got.FinishedAt.IsZero() {
			t.Errorf("%s: nobody carried it on: %+v", mode, got)
		}
	}
}

// Requirements: GRND-28 (closed when nobody carries the run on), GRND-29 (upstream_error; user_aborted), GRND-33 (the audit says so)
func abandonedAudit(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, of := person(t, s), desk(0, 0, chat.AuditRedacted)
	for status, want := range map[run.Status]string{run.Failed: chat.EndUpstream, run.Cancelled: chat.EndAborted} {
		a, err := s.Accept(t.Context(), v, atDesk(of, "Hello"))
		need(t, err)
		for range 2 {
			_, err = s.CloseTurn(t.Context(), v, chat.Close{RunID: a.Run.ID, End: run.End{Status: status}})
			need(t, err)
		}
		list := audits(t, s, v, chat.AuditFilter{})
		at := slices.IndexFunc(list, func(one chat.TurnAudit) bool { return one.TurnID == a.Run.ID })
		if got := list[at]; got.Error != want || got.FinishedAt.IsZero() || got.Model != "m-1" {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// Requirements: GRND-31 (own rows; administrators all)
func whoseAudits(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	ada, bob, root := person(t, s), person(t, s), administrator(t, s)
	of := desk(0, 0, chat.AuditFull)
	for _, v := range []identity.Viewer{ada, bob} {
		_, err := s.Accept(t.Context(), v, atDesk(of, "Hello"))
		need(t, err)
	}
	for _, v := range []identity.Viewer{ada, bob} {
		if list := audits(t, s, v, chat.AuditFilter{}); len(list) != 1 || list[0].UserID != v.UserID {
			t.Errorf("%+v", list)
		}
	}
	if list := audits(t, s, root, chat.AuditFilter{}); len(list) != 2 {
		t.Errorf("an administrator sees %d", len(list))
	}
	elsewhere := root
	elsewhere.TenantID = "another"
	if list := audits(t, s, elsewhere, chat.AuditFilter{}); len(list) != 0 {
		t.Errorf("one of another tenant sees %d", len(list))
	}
	_, err := s.DeleteUser(t.Context(), bob.UserID)
	need(t, err)
	if list := audits(t, s, root, chat.AuditFilter{}); len(list) != 1 {
		t.Errorf("%d rows when one account is gone", len(list))
	}
}

func shadowedSurface(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other, of := person(t, s), person(t, s), desk(1, 0, chat.AuditRedacted)
	_, err := s.CreateArtifact(t.Context(), v, artifacts.Artifact{Type: artifacts.KindWorkflow, Name: "desk", CreatedBy: "user", Schema: []byte(`{}`)}, "")
	need(t, err)
	for range 2 {
		_, err = s.Accept(t.Context(), v, atDesk(of, "Hello"))
		need(t, err)
	}
	if list := audits(t, s, v, chat.AuditFilter{}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	of.Closed = true
	_, err = s.Accept(t.Context(), other, atDesk(of, "Hello"))
	wantFault(t, err, fault.NotFound)
}
