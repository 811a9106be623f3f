package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"liminal/internal/telemetry"
)

// Requirements: OBS-02 (correlation id), OBS-06 (gateway to model)
func TestARequestBeginsATraceAndItsLogLinesNameIt(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "GET /v1/runs/{id}") && !strings.Contains(string(body), "/healthz") {
			sent.Add(1)
		}
	}))
	defer collector.Close()
	traces, err := telemetry.OpenTraces(t.Context(), telemetry.TraceOptions{Endpoint: collector.URL, Service: "liminal"})
	if err != nil {
		t.Fatal(err)
	}
	var log written
	w := newWorld(t, func(o *Options) { o.Traces, o.Logger = traces, log.logger() })
	const caller = "0af7651916cd43dd8448eb211c80319c"
	stranger := &person{world: w}
	stranger.get("/healthz")
	stranger.do("GET", "/v1/runs/0198c2a4-7c1e-7d2a-8f00-0123456789ab", nil, "Traceparent", "00-"+caller+"-b7ad6b7169203331-01")
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent.Load() != 1 {
		t.Errorf("the collector got %d batches with the request", sent.Load())
	}
	if told := log.String(); strings.Count(told, `"trace_id":"`+caller+`"`) != 1 {
		t.Errorf("the request's line does not name its trace: %s", told)
	}
}
