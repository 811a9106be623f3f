package activities

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"liminal/internal/identity"
	"liminal/internal/tool"
)

// activeLease is how long a run may count as computing without a word from its
// workflow: the worker that had it may have given it to another process.
const activeLease = 2 * time.Second

// active bounds how many runs of one person compute at once in this process,
// and how many of their inline calls do. A run computes from its opening until
// its workflow says that it waits: for a call on another queue, a person, a
// time or a child. So what waits for a model keeps nobody's place, and a tree of
// a thousand short runs takes a bounded share of the processor from everybody
// else. The rest of that person's runs wait for them.
type active struct {
	once  sync.Once
	runs  *tool.Slots
	calls *tool.Slots

	mu   sync.Mutex
	held map[string]func()
}

// ready gives each person as many places as half of the processors, and of runs
// two at least: much of what they wait for is the engine.
func (a *active) ready() {
	a.once.Do(func() {
		half := max(1, runtime.GOMAXPROCS(0)/2)
		a.runs, a.calls = tool.NewSlots(max(2, half)), tool.NewSlots(half)
		a.held = map[string]func(){}
	})
}

// begin waits for a place among the person's runs that compute. A run that was
// cancelled meanwhile needs none: it only ends. One that does not wait for its
// turn, as a chat turn, goes on after a while all the same: a person has few of
// them at once (ISO-08), and looks on.
func (s *Set) begin(ctx context.Context, in RunInput) error {
	switch {
	case in.Viewer.IsSystem():
		return nil
	case in.Turn:
		return s.enterRun(ctx, in)
	}
	within, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	if err := s.enterRun(within, in); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// turnPatience is how long a chat turn waits for other runs of its person.
const turnPatience = 3 * time.Second

func (s *Set) enterRun(ctx context.Context, in RunInput) error {
	s.active.ready()
	ctx, release := s.calls.watch(ctx, in.RunID)
	defer release()
	leave, err := s.place(ctx, in)
	switch {
	case err == nil:
		s.active.hold(in.Key(), s.rested(in.Viewer.UserID, leave))
	case errors.Is(context.Cause(ctx), errStopped):
		err = nil
	}
	return err
}

func (s *Set) place(ctx context.Context, in RunInput) (leave func(), err error) {
	if in.Child != nil {
		if err := s.pace.take(ctx, in.Viewer.UserID, costRun); err != nil {
			return nil, err
		}
	}
	return s.active.runs.Enter(ctx, in.Viewer.UserID)
}

// hold keeps a place until Idle, or until its lease is over.
func (a *active) hold(key string, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.held[key] // an opening that is made again has one already
	lease := time.AfterFunc(activeLease, leave)
	a.held[key] = func() { lease.Stop(); leave() }
	if before != nil {
		before()
	}
}

// Idle says that a run computes no more, or not now. Saying it again, or of a
// run that is not known, changes nothing.
func (s *Set) Idle(in RunInput) {
	a := &s.active
	a.mu.Lock()
	key := in.Key()
	leave := a.held[key]
	delete(a.held, key)
	a.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// Key names a run of a tree: the root by its id, a child by its effect too.
func (r RunInput) Key() string {
	if r.Child == nil {
		return r.RunID
	}
	return r.RunID + "/" + r.Child.EffectID
}

// enterCall waits until a call may be made: for a place among the person's
// inline calls, which compute in this process, or at the pace of the engine.
func (s *Set) enterCall(ctx context.Context, v identity.Viewer) (leave func(), err error) {
	switch {
	case v.IsSystem():
		return func() {}, nil
	case !local(ctx):
		return func() {}, s.pace.take(ctx, v.UserID, costCall)
	}
	s.active.ready()
	if leave, err = s.active.calls.Enter(ctx, v.UserID); err == nil {
		leave = s.rested(v.UserID, leave)
	}
	return leave, err
}

// rested gives a place back only after it has been empty for twice as long as
// it was taken, while others are there: who computes much has at most a third of
// each place's time, and less where the processors are busy. Who is alone has
// all of it.
func (s *Set) rested(person string, leave func()) func() {
	began := time.Now()
	return sync.OnceFunc(func() {
		now := time.Now()
		if s.pace.alone(person, now) {
			leave()
			return
		}
		time.AfterFunc(min(2*now.Sub(began), activeLease), leave)
	})
}
