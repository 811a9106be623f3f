package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"liminal/internal/telemetry"
)

// written is a log that can be read while it is written.
type written struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

func (w *written) logger() *slog.Logger {
	return telemetry.NewLogger(w, telemetry.LogOptions{JSON: true, Level: slog.LevelDebug})
}

// Requirements: OBS-01 (request latency and errors)
func TestRequestsAreCountedByRouteAndNotByPath(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v")
	w := newWorld(t, func(o *Options) { o.Metrics = metrics })
	ada := w.signUp("ada@example.org")
	ada.get("/v1/runs/0198c2a4-7c1e-7d2a-8f00-0123456789ab").fails(404, "not_found")
	ada.get("/v1/nothing/at/all").fails(404, "not_found")
	ada.do("BREW", "/v1/chat", nil)
	w.server.mux.HandleFunc("GET /v1/panic", func(http.ResponseWriter, *http.Request) { panic("no") })
	ada.get("/v1/panic").fails(500, "server_error")
	rec := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`liminal_http_requests_total{method="POST",route="/v1/auth/signup",status="2xx"} 1`,
		`liminal_http_requests_total{method="GET",route="/v1/runs/{id}",status="4xx"} 1`,
		`liminal_http_requests_total{method="GET",route="unknown",status="4xx"} 1`,
		`liminal_http_requests_total{method="other",route="unknown",status="4xx"} 1`,
		`liminal_http_requests_total{method="GET",route="/v1/panic",status="5xx"} 1`,
		`liminal_http_request_seconds_count{method="GET",route="/v1/runs/{id}"} 1`,
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(rec.Body.String(), "0198c2a4") {
		t.Error("the figures name a run")
	}
}

// What people say of answers is counted once for each event, by its signal; what
// is refused, and a request that is sent again, are none.
//
// Requirements: PREF-06
func TestHowOftenAnswersAreJudgedIsAFigure(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("v")
	ada := newWorld(t, func(o *Options) { o.Metrics = metrics }).signUp("ada@example.org")
	said := ada.post("/v1/chat", map[string]any{"message": "hello"}).ok()
	about := map[string]any{"conversation_id": said["conversation_id"], "message_id": said["message_id"], "signal": "like"}
	ada.post("/v1/preferences", about, "Idempotency-Key", "once").ok()
	ada.post("/v1/preferences", about, "Idempotency-Key", "once").ok()
	about["signal"] = "never"
	ada.post("/v1/preferences", about).ok()
	ada.post("/v1/preferences", about).ok()
	about["message_id"] = said["user_message_id"]
	ada.post("/v1/preferences", about).fails(400, "validation_error")
	rec := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{`liminal_preferences_total{signal="like"} 1` + "\n", `liminal_preferences_total{signal="never"} 2` + "\n"} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// Requirements: OBS-03, SAFE-08
func TestSampledBodiesAreShownWithoutPeopleAndSecrets(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 1} {
		var log written
		ada := newWorld(t, func(o *Options) { o.Logger, o.Payloads = log.logger(), share }).signUp("ada@example.org")
		ada.post("/v1/conversations", map[string]any{"title": "Write to bob@example.org about password=hunter2"})
		told := log.String()
		if shown := strings.Contains(told, `"msg":"payload"`); shown != (share > 0) || share > 0 && !strings.Contains(told, "Write to [email]") {
			t.Errorf("a share of %v shows bodies: %v\n%s", share, shown, told)
		}
		for _, secret := range []string{"ada@example.org", "bob@example.org", "hunter2", "correct horse", ada.token, ada.refresh} {
			if strings.Contains(told, secret) {
				t.Errorf("%q stands in the log", secret)
			}
		}
	}
}

// Requirements: OBS-02 (correlation id)
func TestWhatARequestLogsNamesIt(t *testing.T) {
	t.Parallel()
	var log written
	w := newWorld(t, func(o *Options) { o.Logger = log.logger() })
	w.server.mux.HandleFunc("GET /v1/speaks", func(_ http.ResponseWriter, r *http.Request) { w.server.Logger.InfoContext(r.Context(), "inside") })
	const mine = "0198c2a4-7c1e-7d2a-8f00-0123456789ab"
	(&person{world: w}).do("GET", "/v1/speaks", nil, "X-Request-Id", mine)
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, `"request_id":"`+mine+`"`) {
			t.Errorf("a line without its request: %s", line)
		}
	}
}

// Requirements: OBS-07
func TestTheGateTellsProbesWhetherRequestsAreWelcome(t *testing.T) {
	t.Parallel()
	open := true
	w := newWorld(t, func(o *Options) {
		o.Vitals = telemetry.NewVitals(telemetry.VitalsOptions{
			Version: "1.2.3", Gate: func() bool { return open }, Needed: []string{"store"},
			Checks: map[string]func(context.Context) error{
				"store": func(context.Context) error { return nil },
				"redis": func(context.Context) error { return errors.New("no route to 10.0.0.7") },
			},
		})
	})
	stranger := &person{world: w}
	if got := stranger.get("/readyz"); got.status != http.StatusOK {
		t.Errorf("ready: %d %s", got.status, got.body)
	}
	got := stranger.get("/healthz")
	got.fails(500, "server_error")
	if body := string(got.body); !strings.Contains(body, `"store":{"status":"ok"`) || !strings.Contains(body, `"version":"1.2.3"`) || strings.Contains(body, "10.0.0.7") {
		t.Errorf("health: %s", body)
	}
	open = false
	if got := stranger.get("/readyz"); got.status != http.StatusServiceUnavailable {
		t.Errorf("draining: %d %s", got.status, got.body)
	}
}
