package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/quota"
	"liminal/internal/telemetry"
)

func (s *server) aboutRoutes() {
	add(s, public(route("GET /v1/config/ui", "uiConfig", "What a client needs to know before anybody signs in")), s.uiConfig)
	op := public(route("GET /healthz", "health", "Whether the server and what it stands on answer"))
	op.Tags = []string{"health"}
	add(s, op, s.health)
	if s.Vitals == nil {
		s.Vitals = telemetry.NewVitals(telemetry.VitalsOptions{Version: s.Version, Checks: s.Checks, Logger: s.Logger})
	}
	// For probes only, which speak no envelope; so it is not documented.
	s.mux.HandleFunc("GET /readyz", s.Vitals.ServeReady)
}

// UIConfig is what a client needs to know.
type UIConfig struct {
	Version  string               `json:"version"`
	Model    ModelInfo            `json:"model"`
	Temporal Nullable[TemporalUI] `json:"temporal_ui"`
	FirstRun bool                 `json:"first_run" doc:"nobody has signed up yet"`
	SignUp   bool                 `json:"sign_up" doc:"an account can be made here"`
	Setup    bool                 `json:"setup_word_needed" doc:"the first account asks for the word that the program printed when it started"`
	Upload   FileLimits           `json:"upload"`
	Search   bool                 `json:"web_search" doc:"the web can be searched"`
}

func (s *server) uiConfig(ctx context.Context, _ *struct{}) (UIConfig, error) {
	door, err := s.SignIns.Door(ctx)
	return UIConfig{
		Version: s.Version, Model: s.modelNow(), Temporal: Nullable[TemporalUI]{s.Temporal},
		FirstRun: door.FirstRun, SignUp: door.SignUp, Upload: limitsOf(s.Plans.Named(quota.Free)), Search: s.WebSearch,
		Setup: door.FirstRun && s.stranger(requestOf(ctx), ""),
	}, err
}

// health tells of everything the server stands on. What fails is named; why
// is for the log (OBS-07).
func (s *server) health(ctx context.Context, _ *struct{}) (telemetry.Report, error) {
	report := s.Vitals.Look(ctx)
	if !report.Well() {
		return report, fault.New(fault.Internal, "Part of the server does not answer.").With(report)
	}
	return report, nil
}

// configured is a fault of the reason NotConfigured while no model is set up
// that could answer (OPS-08); what needs none works all the same.
func (s *server) configured() error {
	if s.Configured == nil {
		return nil
	}
	return s.Configured()
}

// handleHTTP registers a handler that speaks HTTP itself: uploads, downloads and
// sockets. It is documented and guarded like the others.
func (s *server) handleHTTP(op huma.Operation, handle http.HandlerFunc) {
	private := op.Security == nil
	op = s.guard(op)
	op.Responses = map[string]*huma.Response{}
	for _, code := range op.Errors {
		s.declare(&op, code)
	}
	s.huma.OpenAPI().AddOperation(&op)
	s.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		var err error
		if private {
			err = s.enter(r.Context(), r.Header.Get("Authorization"))
		} else {
			err = s.tooManyErrors(requestOf(r.Context()).origin())
		}
		if err != nil {
			if fault.CodeOf(err) == fault.Unauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="liminal"`)
			}
			s.refuse(w, r, err)
			return
		}
		handle(w, r)
	})
}

func (s *server) declare(op *huma.Operation, code int) {
	op.Responses[strconv.Itoa(code)] = &huma.Response{Description: http.StatusText(code), Content: map[string]*huma.MediaType{
		"application/json": {Schema: s.schemaOf(Failure{})},
	}}
}

// providers declares that what an operation stands on may be missing or away
// (API-17).
func (s *server) providers(op huma.Operation) {
	for _, code := range []int{http.StatusBadGateway, http.StatusServiceUnavailable} {
		s.declare(s.operation(op), code)
	}
}

func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }
