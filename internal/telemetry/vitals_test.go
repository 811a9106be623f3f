package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
)

func ask(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// Requirements: OBS-07
func TestHealthTellsOfEachPartAndLeaksNothing(t *testing.T) {
	t.Parallel()
	v := NewVitals(VitalsOptions{Version: "1.2.3", Checks: map[string]func(context.Context) error{
		"store":    func(context.Context) error { return nil },
		"redis":    func(context.Context) error { return errors.New("dial redis://:hunter2@10.0.0.7/0") },
		"temporal": func(context.Context) error { return fault.New(fault.Internal, "The namespace is not there.") },
	}})
	code, body := ask(t, Ops(v, NewMetrics("v")), "/healthz")
	var r Report
	if err := json.Unmarshal([]byte(body), &r); err != nil || code != http.StatusServiceUnavailable {
		t.Fatalf("%d %v: %s", code, err, body)
	}
	if r.Well() || r.Version != "1.2.3" || r.Build.Go == "" || r.Checks["store"].Status != "ok" || r.Checks["redis"].Status != "failing" {
		t.Errorf("got %s", body)
	}
	if r.Checks["temporal"].Message != "The namespace is not there." || r.Checks["redis"].Message == "" || strings.Contains(body, "hunter2") {
		t.Errorf("it says %s", body)
	}
}

// Requirements: OBS-07
func TestReadinessGatesTraffic(t *testing.T) {
	t.Parallel()
	var gate, down atomic.Bool
	now := time.Now()
	v := NewVitals(VitalsOptions{
		Needed: []string{"store"}, Gate: gate.Load, Now: func() time.Time { now = now.Add(2 * vitalFresh); return now },
		Checks: map[string]func(context.Context) error{
			"store": func(context.Context) error {
				if down.Load() {
					return errors.New("down")
				}
				return nil
			},
			"redis": func(context.Context) error { return errors.New("down") },
		},
	})
	ops := Ops(v, nil)
	for i, step := range []struct {
		gate, down bool
		want       int
	}{{false, false, 503}, {true, false, 200}, {true, true, 503}, {true, false, 200}, {false, false, 503}} {
		gate.Store(step.gate)
		down.Store(step.down)
		if code, body := ask(t, ops, "/readyz"); code != step.want {
			t.Errorf("step %d: %d %s, want %d", i, code, body, step.want)
		}
	}
}

// Requirements: OBS-07
func TestAPartThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked atomic.Int32
		v := NewVitals(VitalsOptions{Checks: map[string]func(context.Context) error{
			"files": func(context.Context) error { asked.Add(1); <-release; return nil },
			"store": func(context.Context) error { time.Sleep(time.Second); return nil },
		}})
		began := time.Now()
		r := v.Look(t.Context())
		if took := time.Since(began); took != vitalLimit || r.Checks["files"].Status != "failing" || r.Checks["store"].MS != 1000 {
			t.Errorf("after %v: %+v", took, r)
		}
		time.Sleep(vitalFresh)
		v.Look(t.Context())
		if n := asked.Load(); n != 1 {
			t.Errorf("a part that hangs was asked %d times", n)
		}
		close(release)
		time.Sleep(vitalFresh)
		if r := v.Look(t.Context()); r.Checks["files"].Status != "ok" {
			t.Errorf("a part that came back is %+v", r.Checks["files"])
		}
	})
}

func TestAnAnswerHoldsForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		v := NewVitals(VitalsOptions{Checks: map[string]func(context.Context) error{"store": func(context.Context) error { asked.Add(1); return nil }}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // one who hung up must not make the others believe we are unwell
		if r := v.Look(ctx); !r.Well() {
			t.Errorf("got %+v", r)
		}
		v.Look(t.Context())
		time.Sleep(vitalFresh)
		v.Look(t.Context())
		if n := asked.Load(); n != 2 {
			t.Errorf("the store was asked %d times", n)
		}
	})
}

// Requirements: OBS-07
func TestAFolderIsWellWhenItKeepsWhatIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Folder(dir)(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the probe left %v (%v)", left, err)
	}
	if err := Folder(filepath.Join(dir, "not mounted"))(t.Context()); err == nil {
		t.Error("a folder that is not there is well")
	}
	if os.Geteuid() == 0 {
		return // nothing is forbidden to root
	}
	if err := os.Chmod(dir, 0o500); err != nil { //nolint:gosec // a folder needs x
		t.Fatal(err)
	}
	if err := Folder(dir)(t.Context()); err == nil {
		t.Error("a folder that takes nothing is well")
	}
}
