package activities

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"liminal/internal/tool"
)

const (
	// activeLease is how long a run may count as computing without a word from
	// its workflow: the worker that had it may have given it to another process.
	activeLease = 2 * time.Second
	// longestRest is how long a place is kept empty at most.
	longestRest = 5 * time.Second
	// turnPatience is how long a chat turn waits for other runs of its person.
	turnPatience = 3 * time.Second
)

// active bounds how many runs of one person compute at once in this process. A
// run computes from its opening, and from each inline call, until its workflow
// says that it has nothing to do but to wait. What waits for a model, a person
// or a child keeps nobody's place. The person's other runs wait for a place, and
// nobody else's do: with one person on half of the processors at most, there is
// always one that the others' next step gets at once.
type active struct {
	once   sync.Once
	places *tool.Slots

	mu   sync.Mutex
	held map[string]func()
}

func (a *active) ready() *tool.Slots {
	a.once.Do(func() {
		a.places, a.held = tool.NewSlots(max(1, runtime.GOMAXPROCS(0)/2)), map[string]func(){}
	})
	return a.places
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

func (s *Set) enterRun(ctx context.Context, in RunInput) error {
	ctx, release := s.calls.watch(ctx, in.RunID)
	defer release()
	if in.Child != nil {
		if err := s.engine.take(ctx, in.Viewer.UserID, costRun, enginePace()); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	leave, err := s.active.ready().Enter(ctx, in.Viewer.UserID)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	s.active.hold(in.key(), s.rested(in.Viewer.UserID, leave))
	return nil
}

// unlessStopped is nothing where a person's cancel ended the wait.
func unlessStopped(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStopped) {
		return nil
	}
	return err
}

// enterCall waits until a call may be made: at the pace of the engine and for a
// share of its queue, or for a place where it computes in this process. leave
// gives that place to the call's run, which has the result to work on.
func (s *Set) enterCall(ctx context.Context, in CallInput, spec tool.Spec) (leave func(), err error) {
	person := in.Run.Viewer.UserID
	switch {
	case in.Run.Viewer.IsSystem() && inline(ctx):
		return func() {}, nil
	case in.Run.Viewer.IsSystem():
		return s.share(ctx, in, spec)
	case !inline(ctx):
		if err := s.engine.take(ctx, person, costCall, enginePace()); err != nil {
			return nil, err
		}
		return s.share(ctx, in, spec)
	}
	place, err := s.active.ready().Enter(ctx, person)
	if err != nil {
		return nil, err
	}
	place = s.rested(person, place)
	return func() { s.active.hold(in.key(), place) }, nil
}

// hold keeps a place until Idle, or until its lease is over.
func (a *active) hold(key string, leave func()) {
	a.mu.Lock()
	before := a.held[key] // a run has one
	lease := time.AfterFunc(activeLease, leave)
	a.held[key] = func() { lease.Stop(); leave() }
	a.mu.Unlock()
	if before != nil {
		before()
	}
}

// Idle says that a run computes no more, or not now. Saying it again, or of a
// run that is not known, changes nothing.
func (s *Set) Idle(in RunInput) {
	a, key := &s.active, in.key()
	a.mu.Lock()
	leave := a.held[key]
	delete(a.held, key)
	a.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// key names a run of a tree: the root by its id, a child by its effect too.
func (r RunInput) key() string {
	if r.Child == nil {
		return r.RunID
	}
	return r.RunID + "/" + r.Child.EffectID
}

// key names the run that makes a call. The effects of a child have its own
// before them.
func (c CallInput) key() string {
	if i := strings.LastIndexByte(c.Effect, '/'); i >= 0 {
		return c.Run.RunID + "/" + c.Effect[:i]
	}
	return c.Run.RunID
}

// rested gives a place back at once, as long as its person has computed little;
// after that, while others are there, only as fast as their share grows. What
// counts is the time for which the place was held, but no more than the
// processor time of the whole process meanwhile: whoever waited, for a database
// or for other processes to leave the processors, has not computed.
func (s *Set) rested(person string, leave func()) func() {
	began, used := time.Now(), processTime()
	return sync.OnceFunc(func() {
		now := time.Now()
		took := min(now.Sub(began), processTime()-used, activeLease).Seconds()
		if rest := s.computing.reserve(person, took, computePace(), now); rest > 0 {
			time.AfterFunc(min(rest, longestRest), leave)
			return
		}
		leave()
	})
}
