package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/wire/devserver"
	"liminal/worker"
)

var update = flag.Bool("update", false, "write the histories to workflows/testdata/histories")

// deadline is for what only hangs when it is wrong: a task that was handed to a
// worker just ending is handed out again after ten seconds alone.
const deadline = time.Minute

var alone = flag.Bool("alone", false, "hold runs to the times that are promised; nothing else may keep the machine busy")

// promised is how long something may take: what is promised where nothing else
// is at work, and beside other tests what it takes never at all.
func promised(d time.Duration) time.Duration {
	if *alone {
		return d
	}
	return deadline
}

// server is the embedded one, or the separate one that LANE_TEMPORAL names
// when -lane is given.
var server interface{ Address() string }

var onTestStack = flag.Bool("lane", false, "work on the separate server that LANE_TEMPORAL names")

// separate is the host:port of a server elsewhere.
type separate string

func (s separate) Address() string { return string(s) }

func TestMain(m *testing.M) {
	if os.Getenv(childAddress) != "" {
		os.Exit(childMain())
	}
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if *onTestStack {
		server = separate(os.Getenv("LANE_TEMPORAL"))
		return prepared(m)
	}
	dir, err := os.MkdirTemp("", "record-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	embedded, err := devserver.Start(context.Background(), devserver.Options{Dir: dir, Frontend: "127.0.0.1:0", UI: "127.0.0.1:0"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer embedded.Stop()
	server = embedded
	return prepared(m)
}

// prepared runs the tests on a server that is ready for runs.
func prepared(m *testing.M) int {
	ctx := context.Background()
	c, err := worker.Dial(ctx, worker.ClientOptions{Address: server.Address(), Namespace: devserver.Namespace})
	if err == nil {
		defer c.Close()
		err = worker.Prepare(ctx, c, devserver.Namespace)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// stage is one world with a worker of its own on the shared server.
type stage struct {
	*testing.T
	world  *activitiestest.World
	set    *activities.Set
	client client.Client
	codec  *worker.Codec // of client; may be nil
	engine *worker.Engine
	queue  string // of its own: tests may run more than once on the server
	stop   func() // of the worker
}

// told logs why workflow tasks failed, when a test did.
func (s *stage) told(workflowID string) {
	if !s.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	all := s.client.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		if err != nil {
			return
		}
		s.Log(e.GetEventId(), e.GetEventType(), e.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage())
	}
}

func newStage(t *testing.T, world *activitiestest.World, change ...func(*activities.Set)) *stage {
	t.Helper()
	s := emptyStage(t, world, nil, change...)
	s.work()
	return s
}

// dial connects to the shared server.
func dial(t *testing.T, codec *worker.Codec) client.Client {
	t.Helper()
	c, err := worker.Dial(t.Context(), worker.ClientOptions{Address: server.Address(), Namespace: devserver.Namespace, Codec: codec})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// emptyStage is one without a worker: its engine starts, answers and cancels
// what others carry out.
func emptyStage(t *testing.T, world *activitiestest.World, codec *worker.Codec, change ...func(*activities.Set)) *stage {
	t.Helper()
	set := world.Set()
	for _, f := range change {
		f(set)
	}
	world.Salt(id.New())
	s := &stage{T: t, world: world, set: set, client: dial(t, codec), codec: codec, queue: id.New(), stop: func() {}}
	o := s.options(nil)
	o.Turns, o.Runs, o.Interrupts, o.Log = set.Turns, set.Runs, set.Interrupts, set.Log
	s.engine = worker.NewEngine(o)
	return s
}

func (s *stage) options(set *activities.Set) worker.Options {
	return worker.Options{
		Client: s.client, Activities: set, Logger: slog.New(slog.NewTextHandler(s.Output(), nil)),
		Queue: s.queue, Every: time.Hour, Codec: s.codec,
	}
}

// work starts a worker, which stop ends before the test does.
func (s *stage) work() {
	s.Helper()
	w := s.hire(s.options(s.set))
	s.engine, s.stop = w.Engine(), w.Stop
}

// hire starts a worker that ends with the test.
func (s *stage) hire(o worker.Options) *worker.Worker {
	s.Helper()
	w, err := worker.New(o)
	if err != nil {
		s.Fatal(err)
	}
	if err := w.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
	return w
}

// start starts the run of in.
func (s *stage) start(in activities.RunInput) run.Run {
	s.Helper()
	row := s.row(in.RunID)
	s.eventually("the start of "+row.ID, func() bool { // Temporal has four seconds for each
		return s.engine.StartNext(s.Context(), in.Viewer, row) == nil
	})
	s.Cleanup(func() { s.told(row.WorkflowID) })
	return row
}

// launch has a run started, again where Temporal took longer than a start may.
func (s *stage) launch(row run.Run) {
	s.Helper()
	s.eventually("the start of "+row.ID, func() bool {
		_, err := s.client.DescribeWorkflowExecution(s.Context(), row.WorkflowID, "")
		if _, missing := errors.AsType[*serviceerror.NotFound](err); missing {
			s.engine.Launch(s.Context(), row)
		}
		return err == nil
	})
}

// cancel cancels a run as a person does, who tries again when Temporal was too slow.
func (s *stage) cancel(id string) {
	s.Helper()
	s.eventually("the cancel of "+id, func() bool {
		_, err := s.engine.Cancel(s.Context(), activitiestest.Viewer, id)
		return err == nil
	})
}

func (s *stage) row(runID string) run.Run {
	s.Helper()
	row, err := s.set.Runs.Run(s.Context(), activitiestest.Viewer, runID)
	if err != nil {
		s.Fatal(err)
	}
	return row
}

// until waits for a run's status.
func (s *stage) until(runID string, want run.Status) {
	s.Helper()
	s.eventually(fmt.Sprintf("run %s to be %s", runID, want), func() bool {
		row := s.row(runID)
		if row.Status.Ended() && row.Status != want {
			s.Fatalf("run %s ended %s, want %s", runID, row.Status, want)
		}
		return row.Status == want
	})
}

func (s *stage) eventually(what string, ok func() bool) {
	s.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited %s for %s", deadline, what)
		}
	}
}

// closed waits for the workflow's own end, which follows its row's.
func (s *stage) closed(workflowID string) {
	s.Helper()
	s.eventually("the workflow "+workflowID+" to close", func() bool {
		d, err := s.client.DescribeWorkflowExecution(s.Context(), workflowID, "")
		return err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
}

// history reads an execution's events; an empty runID means the last one.
func (s *stage) history(workflowID, runID string) *historypb.History {
	s.Helper()
	h := &historypb.History{}
	all := s.client.GetWorkflowHistory(s.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		if err != nil {
			s.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// freeze keeps the history of an execution under a name, if it has one, and
// gives how many events of each type it has.
func (s *stage) freeze(name, workflowID, runID string) map[enumspb.EventType]int {
	s.Helper()
	h := s.history(workflowID, runID)
	count := map[enumspb.EventType]int{}
	for _, e := range h.Events {
		count[e.GetEventType()]++
	}
	if !*update || name == "" {
		return count
	}
	raw, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(h)
	if err != nil {
		s.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", " "); err != nil {
		s.Fatal(err)
	}
	pretty.WriteByte('\n')
	if err := os.WriteFile(filepath.Join("..", "..", "testdata", "histories", name+".json"), pretty.Bytes(), 0o644); err != nil {
		s.Fatal(err)
	}
	return count
}

// steady reports that a machine did not stand still while it worked on a run, or
// on any of several: one that did has steps made again, and says nothing of how
// many a run takes.
func (s *stage) steady(workflowIDs ...string) bool {
	s.Helper()
	for _, workflowID := range workflowIDs {
		var began time.Time
		for _, e := range s.history(workflowID, "").GetEvents() {
			at := e.GetEventTime().AsTime()
			still := e.GetActivityTaskStartedEventAttributes().GetAttempt() > 1
			switch e.GetEventType() {
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
				began = at
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
				still = at.Sub(began) > 2*time.Second // half of what a step may take
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
				still = true
			default:
			}
			if still {
				s.Logf("the machine stood still: %v of %s at %s", e.GetEventType(), workflowID, at)
				return false
			}
		}
	}
	return true
}

// question waits for the i-th question.
func (s *stage) question(i int) run.Interrupt {
	s.Helper()
	var q run.Interrupt
	s.eventually(fmt.Sprintf("question %d", i), func() (ok bool) {
		q, ok = s.world.Question(i)
		return ok
	})
	return q
}

// answer answers the i-th question as the API does.
func (s *stage) answer(i int, a run.Answer) {
	s.Helper()
	q := s.question(i)
	if _, err := s.engine.Answer(s.Context(), activitiestest.Viewer, q.ID, a); err != nil {
		s.Fatal(err)
	}
	if _, err := s.engine.Answer(s.Context(), activitiestest.Viewer, q.ID, a); !errors.Is(err, fault.Conflict) {
		s.Errorf("a second answer gives %v, want a conflict", err)
	}
}
