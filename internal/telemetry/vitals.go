package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"liminal/internal/fault"
)

const (
	vitalLimit = 2 * time.Second // how long one check may take
	vitalFresh = time.Second     // how long an answer is told again
)

// VitalsOptions say what a process stands on (OBS-07).
type VitalsOptions struct {
	Version string
	// Checks ask the parts by name: "store", "redis", "files", "temporal". What
	// a *fault.Error says is shown; any other error is only logged.
	Checks map[string]func(context.Context) error
	// Needed are the checks without which requests are not welcome; the others
	// make the process unwell and keep its door open.
	Needed []string
	// Gate says that requests are welcome: false while starting and draining;
	// nil: they always are.
	Gate   func() bool
	Logger *slog.Logger
	Now    func() time.Time
}

// Vitals knows whether a process is well and whether requests are welcome.
// Asking it is cheap and bounded: checks run side by side for at most 2 s, and
// their answer holds for 1 s.
type Vitals struct {
	options VitalsOptions
	build   Build
	checks  map[string]*vital

	mu   sync.Mutex
	at   time.Time
	last Report
}

// Build is what the program was made of.
type Build struct {
	Revision string `json:"revision,omitempty"` // of the source; empty when it was not recorded
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Report is the state of a process.
type Report struct {
	Status  string             `json:"status" enum:"ok,failing"`
	Version string             `json:"version"`
	Build   Build              `json:"build"`
	Checks  map[string]Checkup `json:"checks"`
}

// Well reports whether every check was passed.
func (r Report) Well() bool { return r.Status == "ok" }

// Checkup is the result of one check.
type Checkup struct {
	Status  string `json:"status" enum:"ok,failing"`
	MS      int64  `json:"ms"`
	Message string `json:"message" doc:"one sentence for people"`
}

// NewVitals returns the vitals of a process.
func NewVitals(o VitalsOptions) *Vitals {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Vitals{options: o, build: buildOf(), checks: map[string]*vital{}}
	for name, ask := range o.Checks {
		v.checks[name] = &vital{ask: ask}
	}
	return v
}

func buildOf() Build {
	b := Build{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	return b
}

// Look asks every part how it is.
func (v *Vitals) Look(ctx context.Context) Report {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.options.Now(); v.at.IsZero() || now.Sub(v.at) >= vitalFresh {
		// The answer is for everybody who asks within a second: one who hangs up
		// must not spoil it.
		v.last = v.ask(context.WithoutCancel(ctx))
		v.at = v.options.Now()
	}
	return v.last
}

func (v *Vitals) ask(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, vitalLimit)
	defer cancel()
	r := Report{Status: "ok", Version: v.options.Version, Build: v.build, Checks: map[string]Checkup{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, check := range v.checks {
		all.Go(func() {
			began := time.Now()
			err := check.within(ctx)
			c := Checkup{Status: "ok", MS: time.Since(began).Milliseconds(), Message: "It answers."}
			if err != nil {
				v.options.Logger.ErrorContext(ctx, "health check failed", "check", name, "error", err)
				c.Status, c.Message = "failing", said(err)
			}
			mu.Lock()
			defer mu.Unlock()
			r.Checks[name] = c
			if err != nil {
				r.Status = "failing"
			}
		})
	}
	all.Wait()
	return r
}

// said is an error as a stranger may read it.
func said(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "It did not answer within 2 seconds."
	}
	return "It does not answer as it should; the log says why."
}

// vital is one check. One that hangs is not asked again until it comes back:
// probes must not pile up behind a dead disk.
type vital struct {
	ask func(context.Context) error

	mu   sync.Mutex
	busy chan error // nil: nobody asks
}

func (c *vital) within(ctx context.Context) error {
	c.mu.Lock()
	if c.busy == nil {
		c.busy = make(chan error, 1)
		go func(answer chan<- error) { answer <- c.ask(ctx) }(c.busy)
	}
	answer := c.busy
	c.mu.Unlock()
	select {
	case err := <-answer:
		c.mu.Lock()
		c.busy = nil
		c.mu.Unlock()
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ready reports whether requests are welcome, and if not why.
func (v *Vitals) Ready(ctx context.Context) (ready bool, why string) {
	if v.options.Gate != nil && !v.options.Gate() {
		return false, "This process is starting or draining."
	}
	if len(v.options.Needed) == 0 {
		return true, "Requests are welcome."
	}
	report := v.Look(ctx)
	for _, name := range slices.Sorted(slices.Values(v.options.Needed)) {
		if c, asked := report.Checks[name]; !asked || c.Status != "ok" {
			return false, "The " + name + " does not answer."
		}
	}
	return true, "Requests are welcome."
}

// ServeReady answers /readyz: 200, or 503 with the reason.
func (v *Vitals) ServeReady(w http.ResponseWriter, r *http.Request) {
	ready, why := v.Ready(r.Context())
	code := http.StatusOK
	if !ready {
		code = http.StatusServiceUnavailable
	}
	writeJSON(w, code, map[string]any{"ready": ready, "message": why})
}

// ServeHealth answers /healthz: 200, or 503 when a part is unwell.
func (v *Vitals) ServeHealth(w http.ResponseWriter, r *http.Request) {
	report := v.Look(r.Context())
	code := http.StatusOK
	if !report.Well() {
		code = http.StatusServiceUnavailable
	}
	writeJSON(w, code, report)
}

// Ops is /healthz, /readyz and /metrics for a listener of the inside.
func Ops(v *Vitals, m *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", v.ServeHealth)
	mux.HandleFunc("GET /readyz", v.ServeReady)
	mux.Handle("GET /metrics", m.Handler())
	return mux
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // whoever hung up does not need it
}
