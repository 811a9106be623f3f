package quota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// shelf is a PlanStore in memory.
type shelf struct {
	mu    sync.Mutex
	c     PlanChanges
	reads int // of everything
	fails error
	edits []PlanEdit
}

func (s *shelf) PlanRevision(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Revision, s.fails
}

func (s *shelf) PlanChanges(context.Context) (PlanChanges, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return PlanChanges{s.c.Revision, maps.Clone(s.c.Plans), maps.Clone(s.c.People)}, s.fails
}

func (s *shelf) SetPlan(_ context.Context, by identity.Viewer, e PlanEdit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c.Plans[e.Plan].Version != e.Base {
		return ErrPlanChanged()
	}
	if s.c.Plans == nil {
		s.c.Plans = map[string]PlanVersion{}
	}
	s.c.Plans[e.Plan] = PlanVersion{Plan: e.Plan, Version: e.Base + 1, Values: e.Values, By: by.UserID}
	s.c.Revision++
	s.edits = append(s.edits, e)
	return nil
}

var root = identity.Viewer{UserID: "root", Role: identity.RoleAdmin}

func number(n float64) *float64 { return &n }

func TestAPlanIsChangedAndHoldsAtOnce(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	table := NewPlanTable(s, nil)
	if err := table.Load(t.Context()); err != nil || table.Of(identity.Viewer{Plan: Free}) != PlanOf(Free) {
		t.Fatalf("nothing is changed, and free is %+v, %v", table.Named(Free), err)
	}
	view, err := table.Change(t.Context(), root, Free, 0, map[string]*float64{"chat_per_minute": number(7), "web_days": number(7)})
	if err != nil || view.Version != 1 || view.By != "root" || !maps.Equal(view.Values, Values{"chat_per_minute": 7}) || view.Now["chat_per_minute"] != 7 || view.Shipped["chat_per_minute"] != 60 {
		t.Errorf("changed: %+v, %v", view, err)
	}
	if e := s.edits[0]; !maps.Equal(e.Was, Values{"chat_per_minute": 60}) || !maps.Equal(e.Became, Values{"chat_per_minute": 7}) {
		t.Errorf("the edit says %+v", e)
	}
	want := PlanOf(Free)
	want.Chat.Burst = 7
	if got := table.Of(identity.Viewer{UserID: "ada", Plan: "gold"}); got != want {
		t.Errorf("free is %+v, want %+v", got, want)
	}
	if table.Named(Paid) != PlanOf(Paid) || table.Named(Unverified) != PlanOf(Unverified) {
		t.Error("another plan was changed with it")
	}
	if view, err = table.Change(t.Context(), root, Free, 1, map[string]*float64{"chat_per_minute": nil}); err != nil || len(view.Values) != 0 || table.Named(Free) != PlanOf(Free) {
		t.Errorf("taken back: %+v, %v", view, err)
	}
	if view, err = table.Change(t.Context(), root, Free, 2, map[string]*float64{"chat_per_minute": number(60)}); err != nil || view.Version != 2 {
		t.Errorf("what changes nothing is a version: %+v, %v", view, err)
	}
}

func TestAChangeOfAPlanIsCheckedAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	table := NewPlanTable(s, nil)
	for what, c := range map[string]struct {
		by     identity.Viewer
		plan   string
		base   int
		change map[string]*float64
		code   fault.Code
		says   string
	}{
		"no administrator": {ada, Free, 0, nil, fault.Forbidden, "Only an administrator"},
		"no plan":          {root, "gold", 0, nil, fault.NotFound, "no such plan"},
		"an old version":   {root, Free, 3, nil, fault.Conflict, "Somebody else has changed"},
		"no number":        {root, Free, 0, map[string]*float64{"wishes": number(3)}, fault.Invalid, `no number "wishes"; it has chat_per_minute,`},
		"too small":        {root, Free, 0, map[string]*float64{"chat_per_minute": number(0)}, fault.Invalid, "chat_per_minute is 1 to 10000 a minute, not 0."},
		"too large":        {root, Free, 0, map[string]*float64{"web_days": number(31)}, fault.Invalid, "web_days is 1 to 30 days, not 31."},
		"not whole":        {root, Free, 0, map[string]*float64{"files": number(1.5)}, fault.Invalid, "files is a whole number"},
		"not all together": {root, Free, 0, map[string]*float64{"file_mib": number(2000)}, fault.Invalid, "One file may not be larger than all files together: file_mib is 2000, storage_mib 1024."},
	} {
		_, err := table.Change(t.Context(), c.by, c.plan, c.base, c.change)
		if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(s.edits) > 0 || table.Named(Free) != PlanOf(Free) {
		t.Error("something was changed all the same")
	}
	if _, err := table.Views(t.Context(), ada); !errors.Is(err, fault.Forbidden) {
		t.Errorf("anybody sees the plans: %v", err)
	}
}

// What is stored may be of another release, or written by hand: nobody is shut
// out by it.
func TestABrokenPlanShutsNobodyOut(t *testing.T) {
	t.Parallel()
	s := &shelf{c: PlanChanges{
		Revision: 1,
		Plans: map[string]PlanVersion{
			Free:   {Values: Values{"chat_per_minute": 0, "streams": -4, "sockets": 3, "of_tomorrow": 9, "file_mib": 1e300}},
			"gold": {Values: Values{"sockets": 900}},
		},
		People: map[string]Values{"ada": {"streams": 0, "tokens_per_day": 5, "sockets": 5}},
	}}
	table := NewPlanTable(s, nil)
	if err := table.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := PlanOf(Free)
	want.Sockets = 3
	if got := table.Named(Free); got != want || table.Named("gold") != want {
		t.Errorf("free is %+v, want %+v", got, want)
	}
	want.Sockets = 5
	if got := table.Of(identity.Viewer{UserID: "ada", Plan: Free}); got != want {
		t.Errorf("ada has %+v, want %+v", got, want)
	}
	s.c.Revision, s.fails = 2, errors.New("the database is away")
	if err := table.Load(t.Context()); err == nil || table.Named(Free).Sockets != 3 {
		t.Errorf("without the database free is %+v, %v", table.Named(Free), err)
	}
	var none *PlanTable
	if none.Load(t.Context()) != nil || none.Of(identity.Viewer{Plan: Paid}) != PlanOf(Paid) {
		t.Error("no table knows no plans")
	}
}

func TestAPersonHasNumbersOfTheirOwnOnceTheirAddressIsKnown(t *testing.T) {
	t.Parallel()
	s := &shelf{c: PlanChanges{Revision: 1, People: map[string]Values{"ada": {"storage_mib": 5}}}}
	table := NewPlanTable(s, nil)
	if err := table.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[identity.Viewer]int64{
		{UserID: "ada", Plan: Paid}: 5 << 20, {UserID: "ada", Plan: Unverified}: 50 << 20, {UserID: "bob", Plan: Paid}: 20 << 30,
	} {
		if got := table.Of(who).MaxStorageBytes; got != want {
			t.Errorf("%s on %s may keep %d bytes, want %d", who.UserID, who.Plan, got, want)
		}
	}
	for _, wrong := range []Values{{"tokens_per_day": 5}, {"wishes": 1}, {"files": 0}} {
		if err := CheckPersonal(wrong); !errors.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if err := CheckPersonal(Values{"files": 5}); err != nil {
		t.Error(err)
	}
}

func TestAnotherProcessLearnsOfAChangeAndReadsNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		here, there := NewPlanTable(s, nil), NewPlanTable(s, nil)
		if err := there.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop := there.Follow(t.Context(), 3*time.Second)
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.reads != 1 {
			t.Errorf("%d reads in a minute without a change", s.reads)
		}
		if _, err := here.Change(t.Context(), root, Free, 0, map[string]*float64{"sockets": number(2)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := there.Named(Free).Sockets; got != 2 {
			t.Errorf("the other process allows %d", got)
		}
	})
}

// The table of docs/plans.md is plans.json, to the digit.
func TestTheDocumentedNumbersAreThoseThatShip(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, n := range Numbers() {
		row := fmt.Sprintf("| `%s` | %s | %s |", n.Key, n.What, n.Unit)
		for _, plan := range PlanNames() {
			row += " " + digits(n.Shipped[plan]) + " |"
		}
		row += fmt.Sprintf(" %s to %s", digits(n.Least), digits(n.Most))
		if n.Personal {
			row += ", a person’s own too"
		}
		want = append(want, row+" |")
	}
	if !slices.Equal(rows, want) {
		t.Errorf("docs/plans.md and plans.json differ; the table should be\n%s", strings.Join(want, "\n"))
	}
}

func digits(n float64) string {
	if n != float64(int64(n)) {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return grouped(int64(n))
}
