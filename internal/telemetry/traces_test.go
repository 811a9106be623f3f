package telemetry_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	common "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	service "go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/model/observed"
	"liminal/internal/model/scripted"
	"liminal/internal/run"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
	"liminal/worker"
	"liminal/workflows"
)

// busy is how long a collector may take where that is not what is tested.
const busy = time.Minute

// collected is an OTLP/HTTP collector of this process.
type collected struct {
	url string

	mu    sync.Mutex
	spans []*spans.Span
	fails []string
}

func collect(t *testing.T) *collected {
	t.Helper()
	c := &collected{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &in)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.URL.Path != "/v1/traces" {
		c.fails = append(c.fails, r.URL.Path)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range in.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// path is the names of a span and its ancestors, the oldest first.
func (c *collected) path(name string) (names []string) {
	byID := map[string]*spans.Span{}
	var at *spans.Span
	for _, s := range c.spans {
		byID[hex.EncodeToString(s.GetSpanId())] = s
		if s.GetName() == name {
			at = s
		}
	}
	for ; at != nil; at = byID[hex.EncodeToString(at.GetParentSpanId())] {
		names = append(names, at.GetName())
	}
	slices.Reverse(names)
	return names
}

// frontend stands in for Temporal's: it keeps the header of the workflow a
// client starts.
type frontend struct {
	header, scheduled *common.Header
	refuses           error // every start; nil: none
}

func (f *frontend) answer(_ context.Context, _ string, in, out any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
	switch in := in.(type) {
	case *service.StartWorkflowExecutionRequest:
		f.header = in.GetHeader()
		if f.refuses != nil {
			return f.refuses
		}
	case *service.CreateScheduleRequest:
		f.scheduled = in.GetSchedule().GetAction().GetStartWorkflow().GetHeader()
	}
	if started, ok := out.(*service.StartWorkflowExecutionResponse); ok {
		started.RunId, started.Started = "run", true
	}
	return nil
}

// dial gives a client of this frontend.
func (f *frontend) dial(t *testing.T, carry interceptor.Interceptor) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{
		HostPort: "127.0.0.1:1", Interceptors: []interceptor.ClientInterceptor{carry}, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(f.answer)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const graph = `{"kind":"workflow.chat","entrypoint":"answer","nodes":[
	{"id":"answer","type":"tool_call","tool":"say","inputs":{"message":"${input.message}"}}]}`

// asking is a tool that asks a model.
func asking(m model.Model) activitiestest.Func {
	return func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		text := ""
		message, _ := c.Inputs["message"].(string)
		for e, err := range m.Stream(ctx, model.Request{Task: "chat", MaxTokens: 64, Messages: []model.Message{
			{Role: model.User, Content: []model.Block{{Type: model.Text, Text: message}}},
		}}) {
			if err != nil {
				return nil, err
			}
			text += e.Text
		}
		return map[string]any{"answer": text}, nil
	}
}

// From the HTTP request through the engine, the workflow, its activity and the
// tool to the model: one trace, in which nobody's words are.
//
// Requirements: OBS-06 (gateway to model; router)
func TestATurnIsOneTraceFromTheRequestToTheModel(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": {Runs: tool.Inline}, "activity": {Runs: tool.Activity}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collect(t)
			traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: c.url, Export: busy, Flush: busy, Service: "liminal", Version: "v"})
			if err != nil {
				t.Fatal(err)
			}
			m := observed.New(scripted.New(scripted.Script{Name: "m1", Answers: []scripted.Answer{
				{Steps: []scripted.Step{{Text: "a private answer"}}, Usage: &model.Usage{Input: 7, Output: 3}},
			}}), observed.Options{Provider: "scripted"})
			server := httptest.NewServer(turning(t, traces, activitiestest.New(graph).Tool("say", spec, asking(m))))
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if err := traces.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkTrace(t, c)
		})
	}
}

// fitting trains in one step, which asks a model for what it learns from.
const fitting = `{"kind":"workflow.chat","entrypoint":"fit","nodes":[
	{"id":"fit","type":"tool_call","tool":"fit","inputs":{"job":"${input.job}","message":"a private answer"}}]}`

// A training is started by a sweep, of no request: from there to its steps, and
// to the models those ask, it is one trace.
//
// Requirements: OBS-06 (training)
func TestATrainingIsOneTraceFromItsStartToItsSteps(t *testing.T) {
	t.Parallel()
	c := collect(t)
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: c.url, Export: busy, Flush: busy, Service: "liminal", Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	carry, err := traces.Interceptor()
	if err != nil {
		t.Fatal(err)
	}
	m := observed.New(scripted.New(scripted.Script{Name: "m1", Answers: []scripted.Answer{{Steps: []scripted.Step{{Text: "a private lesson"}}}}}), observed.Options{Provider: "scripted"})
	world := activitiestest.New(graph).Tool("fit", tool.Spec{Runs: tool.Activity, Queue: tool.QueueTraining}, asking(m))
	world.Workflows["learn.train"] = fitting
	engine := &frontend{}
	if _, err := engine.dial(t, carry).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "train:j", TaskQueue: "liminal"}, workflows.TrainType); err != nil {
		t.Fatal(err)
	}
	carried(t, carry, engine, world.Set(), workflows.TrainType, world.House(run.KindTrain, map[string]any{"job": "j", "fence": 1}))
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	traceIDs := map[string]bool{}
	for _, s := range c.spans {
		traceIDs[hex.EncodeToString(s.GetTraceId())] = true
		if strings.Contains(s.String(), "private") {
			t.Errorf("a span holds what people said: %s", s)
		}
	}
	if len(traceIDs) != 1 || len(c.fails) > 0 {
		t.Errorf("there are %d traces; refused were %v", len(traceIDs), c.fails)
	}
	path := c.path("chat m1")
	if len(path) < 4 || path[0] != "StartWorkflow:Train" || path[1] != "RunWorkflow:Train" || path[len(path)-2] != "execute_tool fit" {
		t.Errorf("the way to the model is %q", path)
	}
}

// turning answers a request with a whole turn.
func turning(t *testing.T, traces *telemetry.Traces, world *activitiestest.World) http.Handler {
	t.Helper()
	carry, err := traces.Interceptor()
	if err != nil {
		t.Fatal(err)
	}
	engine := &frontend{}
	c := engine.dial(t, carry)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := traces.Request(r)
		defer telemetry.Answered(span, r.Method, "/v1/chat", http.StatusOK)
		if _, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "chat", TaskQueue: "liminal"}, workflows.ChatTurnType); err != nil {
			t.Error(err)
		}
		set := world.Set()
		set.Router = router{}
		carried(t, carry, engine, set, workflows.ChatTurnType, world.Chat("a private question", chat.TurnInput{}))
		w.WriteHeader(http.StatusOK)
	})
}

// carried runs a workflow as a worker does that got it of an engine.
func carried(t *testing.T, carry interceptor.Interceptor, engine *frontend, set *activities.Set, kind string, in activities.RunInput) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	const patience = 20 * time.Second // of a busy machine
	env.SetWorkerOptions(sdk.Options{Interceptors: []interceptor.WorkerInterceptor{carry, worker.NewFaults(nil)}, DeadlockDetectionTimeout: patience})
	env.SetTestTimeout(patience)
	env.SetHeader(engine.header)
	workflows.New(workflows.Options{}).Register(env)
	for name, f := range set.Named() {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	env.ExecuteWorkflow(kind, in)
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
}

// router chooses nothing.
type router struct{}

func (router) Route(context.Context, identity.Viewer, activities.RouteInput) (activities.Routed, error) {
	return activities.Routed{Trace: json.RawMessage(`{}`)}, nil
}

func checkTrace(t *testing.T, c *collected) {
	t.Helper()
	if path := c.path("route"); len(path) < 4 || path[0] != "POST /v1/chat" || !strings.HasPrefix(path[2], "RunWorkflow:") {
		t.Errorf("the way to the router is %q", path)
	}
	traceIDs := map[string]bool{}
	for _, s := range c.spans {
		traceIDs[hex.EncodeToString(s.GetTraceId())] = true
		if strings.Contains(s.String(), "private") {
			t.Errorf("a span holds what people said: %s", s)
		}
	}
	if len(traceIDs) != 1 || len(c.fails) > 0 {
		t.Errorf("there are %d traces; refused were %v", len(traceIDs), c.fails)
	}
	path := c.path("chat m1")
	if len(path) < 5 || path[0] != "POST /v1/chat" || !strings.HasPrefix(path[1], "StartWorkflow:") || !strings.HasPrefix(path[2], "RunWorkflow:") ||
		path[len(path)-2] != "execute_tool say" {
		t.Errorf("the way to the model is %q", path)
	}
	attributes := map[string]string{}
	for _, s := range c.spans {
		if s.GetName() == "chat m1" {
			if s.GetKind() != spans.Span_SPAN_KIND_CLIENT {
				t.Errorf("the model's span is %s", s.GetKind())
			}
			for _, a := range s.GetAttributes() {
				attributes[a.GetKey()] = strings.TrimSpace(a.GetValue().String())
			}
		}
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "m1", "gen_ai.provider.name": "scripted",
		"gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": "3", "gen_ai.request.max_tokens": "64",
	} {
		if !strings.Contains(attributes[key], want) {
			t.Errorf("%s is %q, want %s", key, attributes[key], want)
		}
	}
}

// Requirements: OBS-06 (gateway to model)
func TestACollectorThatIsDownHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(hangs)
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: s.URL, Service: "liminal"})
	if err != nil {
		t.Fatal(err)
	}
	_, span := traces.Tracer().Start(t.Context(), "x")
	span.End()
	began := time.Now()
	if err := traces.Close(t.Context()); err == nil {
		t.Error("spans that could not be sent are no error")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("closing took %v", took)
	}
}

func TestNoEndpointNoTraces(t *testing.T) {
	t.Parallel()
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{})
	if traces != nil || err != nil {
		t.Errorf("got %v, %v", traces, err)
	}
	if err := traces.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// What a schedule starts is no part of the trace it was made in.
func TestAScheduleKeepsNoTrace(t *testing.T) {
	t.Parallel()
	c := collect(t)
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: c.url, Export: busy, Flush: busy, Service: "liminal"})
	if err != nil {
		t.Fatal(err)
	}
	carry, err := traces.Interceptor()
	if err != nil {
		t.Fatal(err)
	}
	engine := &frontend{}
	if _, err := engine.dial(t, carry).ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: "sweep", Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Action: &client.ScheduleWorkflowAction{ID: "sweep", Workflow: "Sweep", TaskQueue: "liminal"},
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(engine.scheduled.String(), "traceparent") {
		t.Errorf("the schedule carries %s", engine.scheduled)
	}
	if err := traces.Close(t.Context()); err != nil || len(c.spans) != 1 {
		t.Errorf("%d spans were made (%v)", len(c.spans), err)
	}
}

// Requirements: GRND-47 (the server keeps no transcript)
func TestATraceQuotesNobodyWhereNothingIsKept(t *testing.T) {
	t.Parallel()
	c := collect(t)
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: c.url, Export: busy, Flush: busy, Service: "liminal"})
	if err != nil {
		t.Fatal(err)
	}
	carry, err := traces.Interceptor()
	if err != nil {
		t.Fatal(err)
	}
	engine := &frontend{refuses: serviceerror.ToStatus(serviceerror.NewInvalidArgument("it quotes")).Err()}
	starts := engine.dial(t, carry)
	for _, workflow := range []string{"chat:" + id.New() + ":x", "chat:" + id.NewUnkept() + ":x"} {
		if _, err := starts.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflow, TaskQueue: "liminal"}, workflows.ChatTurnType); err == nil {
			t.Error("the start was not refused")
		}
	}
	if err := traces.Close(t.Context()); err != nil || len(c.spans) != 2 {
		t.Fatalf("%d spans were made (%v)", len(c.spans), err)
	}
	quoting := 0
	for _, s := range c.spans {
		if s.GetStatus().GetCode() != spans.Status_STATUS_CODE_ERROR {
			t.Errorf("a span does not tell of the failure: %s", s)
		}
		if strings.Contains(s.String(), "it quotes") {
			quoting++
		}
	}
	if quoting != 1 {
		t.Errorf("%d spans quote the failure, want that of the run that is kept", quoting)
	}
}
