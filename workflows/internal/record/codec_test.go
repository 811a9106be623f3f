package record

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/wire/devserver"
	"liminal/worker"
)

// memStore is worker.Values in memory.
type memStore struct {
	mu   sync.Mutex
	kept map[string][]byte
	down int // so many visits fail
}

func (s *memStore) visit() error {
	if s.down > 0 {
		s.down--
		return fault.New(fault.Internal, "The store is down.")
	}
	return nil
}

func (s *memStore) PutPayload(_ context.Context, id string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[id] = bytes.Clone(value)
	return s.visit()
}

func (s *memStore) Payload(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.kept[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such value.")
	}
	return bytes.Clone(v), s.visit()
}

func (s *memStore) holds() (n int, bytes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.kept {
		bytes += string(v)
	}
	return len(s.kept), bytes
}

func randomKeys(t *testing.T, ids ...string) string {
	t.Helper()
	var keys []string
	for _, id := range ids {
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, id+":"+base64.StdEncoding.EncodeToString(secret))
	}
	return strings.Join(keys, ",")
}

func codecOf(t *testing.T, keys string, values worker.Values) *worker.Codec {
	t.Helper()
	c, err := worker.NewCodec(keys, values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// raw is everything Temporal keeps of an execution, as it keeps it: read
// without a codec.
func (s *stage) raw(workflowID string) string {
	s.Helper()
	bare := dial(s.T, nil)
	var all strings.Builder
	history := bare.GetWorkflowHistory(s.Context(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			s.Fatal(err)
		}
		all.WriteString(e.String())
	}
	d, err := bare.WorkflowService().DescribeWorkflowExecution(s.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: devserver.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
	})
	if err != nil {
		s.Fatal(err)
	}
	all.WriteString(protojson.Format(d))
	return all.String()
}

// secretWords stand in everything a person and a model say below.
const secretWords = "the heron flies at dawn"

// Requirements: SAFE-08, PLAT-14
func TestAHistoryUnderTheCodecHoldsNoTextOfPeople(t *testing.T) {
	t.Parallel()
	values := &memStore{kept: map[string][]byte{}}
	w := activitiestest.New(asking)
	w.Tool("llm", model, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if c.Node == "after" {
			return nil, fault.New(fault.Invalid, "No answer to: %s", secretWords)
		}
		return map[string]any{"answer": secretWords + strings.Repeat(" again", 5_000)}, nil
	})
	s := emptyStage(t, w, codecOf(t, randomKeys(t, "a"), values))
	s.work()
	r := s.start(w.Chat(secretWords, chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	state, err := s.engine.State(t.Context(), activitiestest.Viewer, r.ID)
	if err != nil || !strings.Contains(string(state), "Which one?") {
		t.Errorf("the run says of itself %s (%v)", state, err)
	}
	s.answer(0, run.Answer{Type: "text_input", Value: secretWords})
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Failed)
	if e := s.world.Event(stream.Error); e["message"] != "No answer to: "+secretWords {
		t.Errorf("the person is told %v", e)
	}
	raw := s.raw(r.WorkflowID)
	for _, told := range []string{"heron flies", base64.StdEncoding.EncodeToString([]byte(secretWords))[:16], "Which one"} {
		if strings.Contains(raw, told) {
			t.Errorf("the history holds %q", told)
		}
	}
	for _, there := range []string{"binary/liminal", "liminal_user"} {
		if !strings.Contains(raw, there) {
			t.Errorf("the history holds no %q", there)
		}
	}
	if _, kept := values.holds(); strings.Contains(kept, "heron flies") {
		t.Error("a value beside the history is readable")
	}
}

// Requirements: PLAT-14
func TestAValueBeyondTemporalsLimitPassesThroughARun(t *testing.T) {
	t.Parallel()
	long := make([]byte, 3<<20) // the server refuses 2 MiB
	if _, err := rand.Read(long); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(long)
	values := &memStore{kept: map[string][]byte{}, down: 2}
	s := emptyStage(t, activitiestest.New(""), codecOf(t, "", values), func(set *activities.Set) {
		set.Sweeps = map[string]activities.Sweep{"big": {Every: 24 * time.Hour, Run: func(context.Context) (activities.Swept, error) {
			return activities.Swept{Note: text}, nil
		}}}
	})
	s.work()
	got := s.sweepOnce("big")
	if got.Note != text {
		t.Errorf("%d bytes came back of %d", len(got.Note), len(text))
	}
	if n, _ := values.holds(); n == 0 {
		t.Error("the history holds it")
	}
}

// A rollout that turns encryption on, or changes its key, meets runs that
// began before.
func TestARunGoesOnUnderAnotherKey(t *testing.T) {
	t.Parallel()
	keys := randomKeys(t, "new", "old")
	_, oldKey, _ := strings.Cut(keys, ",")
	values := &memStore{kept: map[string][]byte{}}
	for name, before := range map[string]string{"none": "", "an older one": oldKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := emptyStage(t, activitiestest.New(asking).Tool("llm", model, echo), codecOf(t, before, values))
			s.work()
			r := s.start(s.world.Chat("hello", chat.TurnInput{}))
			s.until(r.ID, run.Waiting)
			s.stop()
			s.codec = codecOf(t, keys, values)
			s.client = dial(t, s.codec)
			s.work()
			s.answer(0, run.Answer{Type: "text_input", Value: secretWords})
			s.until(r.ID, run.Done)
			if raw := s.raw(r.WorkflowID); strings.Contains(raw, "heron flies") {
				t.Error("the answer is readable")
			}
		})
	}
}
