package quota

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/poll"
)

// PlanVersion is what administrators have changed of a plan, by the latest of
// its versions. Numbers that are not in it are as they ship.
type PlanVersion struct {
	Plan    string
	Version int // 0: nobody has changed it
	Values  Values
	By      string // who made the version; empty: nobody
	At      time.Time
}

// PlanChanges is all that administrators have changed.
type PlanChanges struct {
	Revision int64
	Plans    map[string]PlanVersion // by name
	People   map[string]Values      // numbers of a person's own, by id
}

// PlanStore keeps what administrators changed.
type PlanStore interface {
	// PlanRevision is a number that grows with every change, of a plan or of
	// a person's numbers. It reads one row.
	PlanRevision(ctx context.Context) (int64, error)
	// PlanChanges reads all of it.
	PlanChanges(ctx context.Context) (PlanChanges, error)
	// SetPlan writes the next version of a plan after e.Base and, with it, an
	// entry of the audit log. ErrPlanChanged when e.Base is not the latest.
	SetPlan(ctx context.Context, by identity.Viewer, e PlanEdit) error
}

// PlanEdit is the next version of a plan.
type PlanEdit struct {
	Plan        string
	Base        int    // the version it follows
	Values      Values // what differs from what ships
	Was, Became Values // of the numbers that this edit changes
}

// PlanTable says what each person may use now: the plans as they ship, with
// what administrators changed and with what a person has of their own. It is
// read from memory, so asking costs a turn nothing; Follow keeps it current. A
// nil table knows the plans as they ship. It is safe for concurrent use.
type PlanTable struct {
	store  PlanStore
	logger *slog.Logger

	loading sync.Mutex // one reads the store at a time, so that an older answer never covers a newer one
	now     atomic.Pointer[planState]
}

type planState struct {
	revision int64
	plans    map[string]Plan
	people   map[string]Values
}

// NewPlanTable returns a table over a store; until it is loaded the plans are
// as they ship. logger may be nil.
func NewPlanTable(s PlanStore, logger *slog.Logger) *PlanTable {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &PlanTable{store: s, logger: logger}
}

// Of is what v may use. Numbers of their own count once their address is
// confirmed.
func (t *PlanTable) Of(v identity.Viewer) Plan {
	p := t.Named(v.Plan)
	if s := t.state(); s != nil && p.Name != Unverified {
		p.set(s.people[v.UserID])
	}
	return p
}

// Named is the plan of a name, for whoever has nothing of their own.
func (t *PlanTable) Named(name string) Plan {
	name = knownPlan(name)
	if s := t.state(); s != nil {
		return s.plans[name]
	}
	return shippedPlans[name]
}

// shippedPlans are Plans by name, built once.
var shippedPlans = func() map[string]Plan {
	by := map[string]Plan{}
	for _, p := range Plans() {
		by[p.Name] = p
	}
	return by
}()

func (t *PlanTable) state() *planState {
	if t == nil {
		return nil
	}
	return t.now.Load()
}

// Load reads the store, unless nothing has changed there. Numbers it cannot
// stand on are logged and left out, so that no plan can be broken by what is
// stored. When it fails the plans stay as they were.
func (t *PlanTable) Load(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	revision, err := t.store.PlanRevision(ctx)
	if s := t.now.Load(); err != nil || s != nil && s.revision == revision {
		return err
	}
	c, err := t.store.PlanChanges(ctx)
	if err != nil {
		return err
	}
	s := &planState{revision: c.Revision, plans: maps.Clone(shippedPlans), people: make(map[string]Values, len(c.People))}
	for name, changed := range c.Plans {
		p, known := s.plans[name]
		if !known {
			t.logger.WarnContext(ctx, "a plan is stored that this program does not know; it is left out", "plan", name)
			continue
		}
		good, bad := sound(changed.Values, func(Number) bool { return true })
		t.ignored(ctx, "plan", name, bad)
		p.set(good)
		s.plans[name] = p
	}
	for id, own := range c.People {
		good, bad := sound(own, func(n Number) bool { return n.Personal })
		t.ignored(ctx, "user_id", id, bad)
		s.people[id] = good
	}
	t.now.Store(s)
	return nil
}

func (t *PlanTable) ignored(ctx context.Context, what, name string, keys []string) {
	if len(keys) > 0 {
		t.logger.WarnContext(ctx, "numbers that are stored cannot be used; those beneath them hold", what, name, "numbers", keys)
	}
}

// Follow loads the table every so often until stop is called, which waits for
// it: another process may have changed something. It reads one row each time.
func (t *PlanTable) Follow(ctx context.Context, every time.Duration) (stop func()) {
	return poll.Every(ctx, every, func(ctx context.Context) {
		if err := t.Load(ctx); err != nil && ctx.Err() == nil {
			t.logger.WarnContext(ctx, "the plans cannot be read; they stay as they were", "error", err)
		}
	})
}

// PlanView is a plan as an administrator sees it.
type PlanView struct {
	PlanVersion
	Now     Values // every number as it holds
	Shipped Values
}

// Views lists the plans as the store has them, for administrators: others are
// Forbidden.
func (t *PlanTable) Views(ctx context.Context, v identity.Viewer) ([]PlanView, error) {
	if !v.IsAdmin() {
		return nil, errPlans()
	}
	var c PlanChanges
	if t != nil {
		var err error
		if c, err = t.store.PlanChanges(ctx); err != nil {
			return nil, err
		}
	}
	views := make([]PlanView, len(shipped.Plans))
	for i, name := range shipped.Plans {
		views[i] = viewOf(name, c.Plans[name])
	}
	return views, nil
}

func viewOf(name string, changed PlanVersion) PlanView {
	good, _ := sound(changed.Values, func(Number) bool { return true })
	changed.Plan, changed.Values = name, good
	view := PlanView{PlanVersion: changed, Shipped: shippedValues(name), Now: shippedValues(name)}
	maps.Copy(view.Now, good)
	return view
}

// Change lays numbers over a plan, for administrators; nil takes one back to
// what ships. base is the version it was looked at in. It holds here at once,
// and in every other process within Follow's rhythm. Errors: Forbidden,
// NotFound, Invalid with the number as its field, Conflict when somebody else
// has changed the plan meanwhile.
func (t *PlanTable) Change(ctx context.Context, v identity.Viewer, plan string, base int, change map[string]*float64) (PlanView, error) {
	switch {
	case !v.IsAdmin():
		return PlanView{}, errPlans()
	case !slices.Contains(shipped.Plans, plan):
		return PlanView{}, fault.New(fault.NotFound, "There is no such plan.")
	case t == nil:
		return PlanView{}, fault.New(fault.Conflict, "This server keeps its plans as they ship.")
	}
	c, err := t.store.PlanChanges(ctx)
	if err != nil {
		return PlanView{}, err
	}
	was := viewOf(plan, c.Plans[plan])
	if was.Version != base {
		return PlanView{}, ErrPlanChanged()
	}
	next, err := was.with(change)
	if err != nil {
		return PlanView{}, err
	}
	if maps.Equal(next, was.Values) {
		return was, nil
	}
	edit := PlanEdit{Plan: plan, Base: base, Values: next, Was: Values{}, Became: Values{}}
	for key, n := range was.Shipped {
		if after, set := next[key]; set {
			n = after
		}
		if n != was.Now[key] {
			edit.Was[key], edit.Became[key] = was.Now[key], n
		}
	}
	if err := t.store.SetPlan(ctx, v, edit); err != nil {
		return PlanView{}, err
	}
	if err := t.Load(ctx); err != nil {
		return PlanView{}, err
	}
	if c, err = t.store.PlanChanges(ctx); err != nil {
		return PlanView{}, err
	}
	return viewOf(plan, c.Plans[plan]), nil
}

// with is what is changed of a plan after a change; a number that is set to
// what ships is not changed.
func (p PlanView) with(change map[string]*float64) (Values, error) {
	next, now := maps.Clone(p.Values), maps.Clone(p.Now)
	for _, key := range slices.Sorted(maps.Keys(change)) {
		n, err := numberOf(key)
		if err != nil {
			return nil, err
		}
		to := change[key]
		if to == nil || *to == p.Shipped[key] {
			delete(next, key)
			now[key] = p.Shipped[key]
			continue
		}
		if err := n.Check(*to); err != nil {
			return nil, err
		}
		next[key], now[key] = *to, *to
	}
	if now["file_mib"] > now["storage_mib"] {
		return nil, fault.New(fault.Invalid, "One file may not be larger than all files together: file_mib is %s, storage_mib %s.", formatNumber(now["file_mib"]), formatNumber(now["storage_mib"])).
			With(map[string]any{"field": "file_mib"})
	}
	return next, nil
}

// ErrPlanChanged refuses a change of a plan that somebody else has changed
// meanwhile.
func ErrPlanChanged() error {
	return fault.New(fault.Conflict, "Somebody else has changed this plan meanwhile. Look at it again.").With(map[string]any{"reason": "changed"})
}

func errPlans() error {
	return fault.New(fault.Forbidden, "Only an administrator sees and changes the plans.")
}
