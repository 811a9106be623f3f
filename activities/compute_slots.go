package activities

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"liminal/internal/cputime"
	"liminal/internal/tool"
)

const (
	// slotLease is how long a run may count as computing without a word from
	// its workflow: the worker that had it may have given it to another process.
	slotLease = 2 * time.Second
	// maxReleaseDelay is how long a slot is kept empty at most.
	maxReleaseDelay = 5 * time.Second
	// maxTurnWait is how long a chat turn waits for other runs of its person.
	maxTurnWait = 3 * time.Second
)

// computeSlots bounds how many runs of one person compute at once in this
// process. A run computes from its opening, and from each inline call, until its
// workflow says that it has nothing to do but to wait. What waits for a model, a
// person or a child keeps nobody's slot. The person's other runs wait for a slot,
// and nobody else's do: with one person on half of the processors at most, there
// is always one that the others' next step gets at once.
type computeSlots struct {
	once  sync.Once
	slots *tool.Slots

	mu       sync.Mutex
	releases map[string]func() // by the run that has the slot
}

// byPerson are the slots, made when they are first asked for.
func (a *computeSlots) byPerson() *tool.Slots {
	a.once.Do(func() {
		a.slots = tool.NewSlots(max(1, runtime.GOMAXPROCS(0)/2))
	})
	return a.slots
}

// awaitSlot waits for a slot among the person's runs that compute. A run that was
// cancelled meanwhile needs none: it only ends. One that does not wait for its
// turn, as a chat turn, goes on after a while all the same: a person has few of
// them at once (ISO-08), and looks on.
func (s *Set) awaitSlot(ctx context.Context, in RunInput) error {
	switch {
	case in.Viewer.IsSystem():
		return nil
	case in.Queued:
		return s.acquireRunSlot(ctx, in)
	}
	within, cancel := context.WithTimeout(ctx, maxTurnWait)
	defer cancel()
	if err := s.acquireRunSlot(within, in); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

func (s *Set) acquireRunSlot(ctx context.Context, in RunInput) error {
	ctx, unwatch := s.calls.watch(ctx, in.RunID)
	defer unwatch()
	// Whoever has a run is there for the others, though none of its calls may
	// ever leave this process.
	s.engineLimit.note(in.Viewer.UserID, time.Now())
	if in.Child != nil {
		if err := s.engineLimit.wait(ctx, in.Viewer.UserID, costRun, engineRate()); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	release, err := s.computeSlots.byPerson().Enter(ctx, in.Viewer.UserID)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	s.computeSlots.hold(in.key(), s.delayedRelease(in.Viewer.UserID, release))
	return nil
}

// unlessStopped is nothing where a person's cancel ended the wait.
func unlessStopped(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStopped) {
		return nil
	}
	return err
}

// acquireCallSlot waits until a call may be made: for the engine's rate limit and
// a share of its queue, or for a slot where it computes in this process. done is
// for when it has been made: it gives the share back, and hands the slot on to
// the call's run, which has the result to work on.
func (s *Set) acquireCallSlot(ctx context.Context, in CallInput, spec tool.Spec) (done func(), err error) {
	person := in.Run.Viewer.UserID
	switch {
	case in.Run.Viewer.IsSystem() && inline(ctx):
		return func() {}, nil
	case in.Run.Viewer.IsSystem():
		return s.share(ctx, in, spec)
	case !inline(ctx):
		if err := s.engineLimit.wait(ctx, person, costCall, engineRate()); err != nil {
			return nil, err
		}
		return s.share(ctx, in, spec)
	}
	return s.acquireInlineSlot(ctx, in)
}

// acquireInlineSlot is acquireCallSlot for a call that is made beside its
// workflow.
func (s *Set) acquireInlineSlot(ctx context.Context, in CallInput) (done func(), err error) {
	person := in.Run.Viewer.UserID
	if in.Attempt > 1 {
		// A timer of the engine's brought it here, and a graph may have a thousand
		// of them.
		if err := s.engineLimit.wait(ctx, person, costCall, engineRate()); err != nil {
			return nil, err
		}
	}
	release, err := s.computeSlots.byPerson().Enter(ctx, person)
	if err != nil {
		return nil, err
	}
	release = s.delayedRelease(person, release)
	return func() { s.computeSlots.hold(in.key(), release) }, nil
}

// hold keeps a slot until ReleaseSlot, or until its lease is over.
func (a *computeSlots) hold(key string, release func()) {
	a.mu.Lock()
	before := a.releases[key] // a run has one
	lease := time.AfterFunc(slotLease, release)
	if a.releases == nil {
		a.releases = map[string]func(){}
	}
	a.releases[key] = func() { lease.Stop(); release() }
	a.mu.Unlock()
	if before != nil {
		before()
	}
}

// ReleaseSlot says that a run computes no more, or not now. Saying it again, or
// of a run that is not known, changes nothing.
func (s *Set) ReleaseSlot(in RunInput) {
	a, key := &s.computeSlots, in.key()
	a.mu.Lock()
	release := a.releases[key]
	delete(a.releases, key)
	a.mu.Unlock()
	if release != nil {
		release()
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

// delayedRelease gives a slot back at once, as long as its person has computed
// little; after that, while others are there, only as fast as their share grows. What
// counts is the time for which the slot was held, but no more than the processor
// time of the whole process meanwhile: whoever waited, for a database or for
// other processes to leave the processors, has not computed.
func (s *Set) delayedRelease(person string, release func()) func() {
	began, used := time.Now(), cputime.Process()
	return sync.OnceFunc(func() {
		now := time.Now()
		took := min(now.Sub(began), cputime.Process()-used, slotLease).Seconds()
		if wait := s.computeLimit.reserve(person, took, computeRate(), now); wait > 0 {
			time.AfterFunc(min(wait, maxReleaseDelay), release)
			return
		}
		release()
	})
}
