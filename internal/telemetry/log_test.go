package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"liminal/internal/id"
)

// written is what a logger wrote, decoded.
func written(t *testing.T, log func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log(NewLogger(&out, LogOptions{JSON: true, Level: slog.LevelDebug}))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return line
}

// Requirements: OBS-03, SAFE-08
func TestALogLineHoldsNoSecretAndNoPerson(t *testing.T) {
	t.Parallel()
	secrets := []string{"hunter2", "ann@example.org", "s3cr3t", "abcdef0123456789", "30 901820"}
	var out bytes.Buffer
	log := NewLogger(&out, LogOptions{}).With("token", "hunter2")
	log.Error("mail to ann@example.org failed",
		"password", "hunter2", "Authorization", "Bearer abcdef0123456789", slog.Group("http", "cookie", "hunter2", "n", 7),
		"error", errors.New("dial postgres://ann:s3cr3t@db/x"),
		"body", map[string]any{"password": "hunter2", "phone": "+49 30 901820"}, "raw", []byte("refresh_token=hunter2"),
		"request_id", "0198c2a4-7c1e-7d2a-8f00-0123456789ab")
	for _, secret := range secrets {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q stands in %s", secret, out.String())
		}
	}
	if !strings.Contains(out.String(), "0198c2a4-7c1e-7d2a-8f00-0123456789ab") {
		t.Errorf("the id of the request is gone: %s", out.String())
	}
}

// Requirements: OBS-02 (correlation id)
func TestALogLineNamesItsRequestRunAndTrace(t *testing.T) {
	t.Parallel()
	id := "first"
	ctx := WithRun(WithRequest(t.Context(), func() string { return id }), "run-1", "")
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	id = "renamed"
	line := written(t, func(l *slog.Logger) { l.InfoContext(ctx, "hello") })
	for key, want := range map[string]string{
		"request_id": "renamed", "run_id": "run-1", "trace_id": "01000000000000000000000000000000", "span_id": "0200000000000000",
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %s", key, line[key], want)
		}
	}
	if got := TraceID(ctx); got != "01000000000000000000000000000000" {
		t.Errorf("the trace's id is %q", got)
	}
}

func TestAnIDThatIsGivenIsNotRepeated(t *testing.T) {
	t.Parallel()
	ctx := WithRun(context.Background(), "run-1", "req-1")
	var out bytes.Buffer
	NewLogger(&out, LogOptions{JSON: true}).With("run_id", "own").InfoContext(ctx, "hello", "request_id", "given")
	if n := strings.Count(out.String(), "_id"); n != 2 || !strings.Contains(out.String(), `"given"`) {
		t.Errorf("got %s", out.String())
	}
}

func TestAValueStaysAsItIsWhenNothingIsInIt(t *testing.T) {
	t.Parallel()
	line := written(t, func(l *slog.Logger) { l.Debug("m", "list", []int{1, 2}, "level", slog.LevelWarn, "n", 12) })
	if list, ok := line["list"].([]any); !ok || len(list) != 2 || line["n"] != 12.0 {
		t.Errorf("got %v", line)
	}
}

// Requirements: GRND-47 (the server keeps no transcript)
func TestALogQuotesNobodyWhereNothingIsKept(t *testing.T) {
	t.Parallel()
	unkept, ordinary := id.NewUnkept(), id.New()
	for _, c := range []struct {
		run  string
		want bool
	}{{unkept, false}, {ordinary, true}} {
		var out bytes.Buffer
		log := NewLogger(&out, LogOptions{})
		log.Info("its own", "run", c.run, "error", errors.New("the words"))
		log.Info("the engine's", "WorkflowID", "chat:"+c.run+":x", "Error", "the words")
		log.With("WorkflowID", "graph:"+c.run+"/e").Info("a logger's", "StackTrace", "the words")
		log.InfoContext(WithRun(t.Context(), c.run, ""), "a context's", "routing", "the words")
		if n := strings.Count(out.String(), "the words"); n != map[bool]int{true: 4, false: 0}[c.want] {
			t.Errorf("of %s the words are written %d times:\n%s", c.run, n, &out)
		}
	}
}
