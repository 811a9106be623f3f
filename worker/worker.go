// Package worker is where runs meet Temporal from the outside: the workers
// that carry them out, the Engine that starts, answers and cancels them, the
// reconciler that makes up for what a crash left undone, and the border
// between our errors and Temporal's.
//
// It may import workflows, activities, the nouns and the SDK. It knows no
// store, no HTTP and no server.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/worker"

	"liminal/activities"
	"liminal/internal/cache"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// DefaultQueue is the task queue of workflows; the tools' queues are named
// after it.
const DefaultQueue = "liminal"

// Options are what workers and engines are made of.
type Options struct {
	Client client.Client
	// Activities are what a Worker carries out. An Engine uses them to stop
	// the calls of its own process at once; it may have none.
	Activities *activities.Set
	// The ports an engine works over; nil means those of Activities.
	Turns      chat.Turns
	Runs       run.Runs
	Interrupts run.Interrupts
	Log        stream.Log
	// Documents gives ingest runs the names of their files; it may be nil.
	Documents knowledge.Documents
	// Viewer finds who a person is now, for runs the reconciler starts; nil:
	// an ordinary user of that id.
	Viewer func(ctx context.Context, userID string) (identity.Viewer, error)
	// Granted is a person held to one of their access keys, or without one to
	// none; nil: no run is begun with a key.
	Granted func(ctx context.Context, v identity.Viewer, keyID string) (identity.Viewer, error)
	// Queue is the task queue of workflows; empty means DefaultQueue.
	Queue string
	// Apart are the tool queues that get task queues of their own, such as
	// liminal-models, so that one kind of work cannot hold up another and each
	// can have workers of its own. What is left out shares the workflows' queue,
	// where a worker in the same process gets its activities without asking for
	// them: about 1 ms sooner. nil means all of them.
	Apart []string
	// Only is the tool queue whose calls this worker takes, and nothing else: no
	// workflows, no sweeps, and it does not reconcile. Empty: all there is.
	Only string
	// Except is the tool queue whose calls this worker leaves to others. Empty: it
	// takes all.
	Except string
	// Every is the pause between two passes of the reconciler; 0 means 10 s.
	Every time.Duration
	// Stops tells the other processes at once which runs a person cancelled.
	// nil: there is no other process.
	Stops Stops
	// Cache is what all processes share: of their reconcilers one passes at a
	// time. nil: this process is alone.
	Cache cache.Cache
	// Forget deletes what is left of runs of which nothing is kept and whose time is
	// over (GRND-47), and tells of how many; nil: there are none.
	Forget func(ctx context.Context, v identity.Viewer) (int, error)
	// Surfaces are the workflows whose turns are counted, audited or held to
	// something, known without asking the store; nil: there are none.
	Surfaces func(ctx context.Context) ([]chat.Surfaced, error)
	// Spend counts a run of a workflow by itself as a turn of its surface, or refuses
	// it; nil: none is counted.
	Spend func(ctx context.Context, v identity.Viewer, workflow string, surfaces []chat.Surfaced) (*chat.TurnSurface, error)
	// Patience is how long a run is kept whose workflow fails in this program
	// itself, so that a mended version can go on with it; 0 means 10 minutes.
	Patience time.Duration
	// Codec is the one of Client, if it has one: it lets values grow beyond
	// what Temporal takes.
	Codec  *Codec
	Logger *slog.Logger
}

// Stops carries the cancels of runs between processes. It is quick and may lose
// some: the signal to the run's workflow is what counts.
type Stops interface {
	// Announce tells every process that listens of a cancelled run.
	Announce(ctx context.Context, runID string) error
	// Listen calls stop with the runs that are announced, until ctx ends.
	Listen(ctx context.Context, stop func(runID string))
}

func (o Options) withDefaults() Options {
	if o.Queue == "" {
		o.Queue = DefaultQueue
	}
	if o.Apart == nil {
		o.Apart = toolQueues()
	}
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if set := o.Activities; set != nil {
		o.Turns, o.Runs = either(o.Turns, set.Turns), either(o.Runs, set.Runs)
		o.Interrupts, o.Log = either(o.Interrupts, set.Interrupts), either(o.Log, set.Log)
	}
	if o.Viewer == nil {
		o.Viewer = func(_ context.Context, userID string) (identity.Viewer, error) {
			return identity.Viewer{UserID: userID, Role: identity.RoleUser}, nil
		}
	}
	if o.Granted == nil {
		o.Granted = func(_ context.Context, v identity.Viewer, keyID string) (identity.Viewer, error) {
			if keyID != "" {
				return identity.Viewer{}, fault.New(fault.NotFound, "There are no access keys here.")
			}
			return v.With(nil), nil
		}
	}
	return o
}

// toolQueues are all queues of tools.
func toolQueues() []string {
	return []string{tool.QueueModels, tool.QueueTools, tool.QueueIngest, tool.QueueTraining}
}

// seals are those of the activities; nil: nothing is sealed.
func (o Options) seals() *activities.Seals {
	if o.Activities == nil {
		return nil
	}
	return o.Activities.Seals
}

func either[T comparable](port, other T) T {
	var none T
	if port == none {
		return other
	}
	return port
}

// queues are the task queues of the tools that have their own.
func (o Options) queues() activities.Queues {
	q := activities.Queues{}
	for _, name := range o.Apart {
		q[name] = o.Queue + "-" + name
	}
	return q
}

// Worker carries out runs: workflows on one task queue, activities on it and
// on those apart. It reconciles while it lives.
type Worker struct {
	engine  *Engine
	workers []sdk.Worker
	sweeps  sweeps
	only    bool // one tool queue
	every   time.Duration

	mu      sync.Mutex
	stop    context.CancelFunc
	done    chan struct{}
	stopped bool
}

// How much one process does at once.
const (
	maxCalls     = 2000 // ordinary activities: most of them wait
	maxIngest    = 4    // heavy work, for which nobody waits with open eyes
	ingestShare  = 2    // of it for one person
	ingestLine   = 2    // more that wait here; the rest wait in the engine
	ingestSlots  = 64   // with those that only look whether it is their turn
	maxLocal     = 4000 // those that wait for their turn among them
	maxTasks     = 2000 // workflow tasks
	pollers      = 8    // fixed: growing and shrinking their number was slower here
	stopTimeout  = 3 * time.Second
	heartbeatGap = time.Second // how soon a cancel reaches a call in another process
	// stickyTimeout is how long a step waits for the worker that has its run in
	// memory before any other takes it: what a dead worker costs (OPS-09).
	stickyTimeout = time.Second
	// cachedRuns is how many runs stay in memory between two of their steps. A
	// paused run keeps goroutines there, so the SDK's 10,000 would cost 100 KB
	// each; a run outside answers after a replay, a few milliseconds later.
	cachedRuns = 500
)

// New makes a worker over o.Activities, whose queues and starter it sets.
func New(o Options) (*Worker, error) {
	o = o.withDefaults()
	if o.Client == nil || o.Activities == nil {
		return nil, errors.New("a worker needs a Temporal client and activities")
	}
	if o.Only != "" && !slices.Contains(o.Apart, o.Only) {
		return nil, errors.New("there is no tool queue " + o.Only + " of its own")
	}
	if o.Except != "" && (!slices.Contains(o.Apart, o.Except) || o.Only != "") {
		return nil, errors.New("the tool queue " + o.Except + " cannot be left to other workers")
	}
	for _, name := range o.Apart {
		if !slices.Contains(toolQueues(), name) {
			return nil, errors.New("there is no tool queue " + name)
		}
	}
	sdk.SetStickyWorkflowCacheSize(cachedRuns) // of the process: the SDK has one for all workers
	engine := NewEngine(o)
	o.Activities.Queues = o.queues()
	if o.Activities.Shares == nil {
		o.Activities.Shares = tool.NewShares(maxIngest, ingestShare, ingestLine)
	}
	if o.Activities.Starter == nil {
		o.Activities.Starter = engine
	}
	w := &Worker{engine: engine, every: o.Every, sweeps: o.sweeps(), only: o.Only != ""}
	if !w.only {
		main := sdk.New(o.Client, o.Queue, o.options())
		Register(main, o.Activities, workflows.Options{
			Idle: o.Activities.ReleaseSlot, Seals: o.Activities.Seals,
			Stop: func(in activities.RunInput) { o.Activities.Stop(in.RunID) },
		})
		w.workers = append(w.workers, main)
	}
	for _, name := range o.Apart {
		if w.only && name != o.Only || name == o.Except {
			continue
		}
		options := o.options()
		options.DisableWorkflowWorker = true
		switch name {
		case tool.QueueIngest:
			options.MaxConcurrentActivityExecutionSize = ingestSlots
		case tool.QueueTraining: // it takes all processors there are
			options.MaxConcurrentActivityExecutionSize = 1
		}
		apart := sdk.New(o.Client, o.Queue+"-"+name, options)
		if name == tool.QueueIngest {
			apart.RegisterActivityWithOptions(o.Activities.Sweep, activity.RegisterOptions{Name: activities.NameSweep})
		}
		apart.RegisterActivityWithOptions(o.Activities.SealedCall, activity.RegisterOptions{Name: activities.NameCall})
		w.workers = append(w.workers, apart)
	}
	return w, nil
}

func (o Options) options() sdk.Options {
	fixed := sdk.NewPollerBehaviorSimpleMaximum(sdk.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: pollers})
	return sdk.Options{
		WorkflowTaskPollerBehavior:              fixed,
		ActivityTaskPollerBehavior:              fixed,
		MaxConcurrentActivityExecutionSize:      maxCalls,
		MaxConcurrentEagerActivityExecutionSize: maxCalls,
		MaxConcurrentLocalActivityExecutionSize: maxLocal,
		MaxConcurrentWorkflowTaskExecutionSize:  maxTasks,
		MaxHeartbeatThrottleInterval:            heartbeatGap,
		WorkerStopTimeout:                       stopTimeout,
		StickyScheduleToStartTimeout:            stickyTimeout,
		DisablePayloadErrorLimit:                o.Codec != nil,
		DisableRegistrationAliasing:             true,
		Interceptors:                            []interceptor.WorkerInterceptor{NewFaults(o.Logger)},
	}
}

// Registry takes workflows and activities; a worker and a test environment are
// ones.
type Registry interface {
	workflows.Registry
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Register registers every workflow and activity.
func Register(r Registry, set *activities.Set, o workflows.Options) {
	workflows.New(o).Register(r)
	for name, f := range set.Named() {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// Engine starts, answers and cancels the runs of this worker.
func (w *Worker) Engine() *Engine { return w.engine }

// Start begins to work, and to reconcile with what an earlier process left.
func (w *Worker) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return errors.New("the worker has been started before")
	}
	for i, each := range w.workers {
		if err := each.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		var all sync.WaitGroup
		if !w.only {
			all.Go(func() { w.engine.Reconcile(ctx, w.every) })
			all.Go(func() {
				w.sweeps.renew(ctx, w.every, func(err error) { w.engine.complain(ctx, "the sweeps are not scheduled", err) })
			})
		}
		if w.engine.o.Stops != nil {
			all.Go(func() { w.engine.o.Stops.Listen(ctx, w.engine.o.Activities.Stop) })
		}
		all.Wait()
	}()
	return nil
}

// Stop ends the work within a few seconds. Calls cut off by it are made again
// by the next worker. Stopping twice is the same as once.
func (w *Worker) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil || w.stopped {
		return
	}
	w.stopped = true
	w.stop()
	<-w.done
	var all sync.WaitGroup
	for _, each := range w.workers {
		all.Go(each.Stop)
	}
	all.Wait()
}
