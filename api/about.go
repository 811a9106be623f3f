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
	Listens  bool                 `json:"speech_to_text" doc:"what is said can be made text"`
	Speaks   bool                 `json:"text_to_speech" doc:"answers can be read aloud"`
	Surfaces []SurfaceInfo        `json:"surfaces" doc:"assistants with a page of their own, in the order of the sidebar; a workflow whose document has surface.path and that is not here is switched off, and is offered to nobody"`
}

// SurfaceInfo is an assistant with a page of its own, as a client shows it. Texts
// are by language; a language left out reads the English.
type SurfaceInfo struct {
	Path       string            `json:"path" doc:"its page is /{path}"`
	Title      map[string]string `json:"title"`
	Tagline    map[string]string `json:"tagline"`
	Icon       string            `json:"icon" doc:"the name of a picture, such as sparkle; empty: none"`
	Order      int               `json:"order"`
	Accent     string            `json:"accent" doc:"a colour, such as #1b6a61; empty: none"`
	WorkflowID string            `json:"workflow_id" format:"uuid" doc:"what answers a turn there"`
	API        string            `json:"api" doc:"the protocol at /api/{path}, grounded or session; empty: none"`
	Keeps      string            `json:"keeps" enum:"conversations,nothing"`
	Disclosure map[string]string `json:"disclosure" doc:"what is told before the first message; empty: nothing"`
}

func (s *server) uiConfig(ctx context.Context, _ *struct{}) (UIConfig, error) {
	door, err := s.SignIns.Door(ctx)
	if err != nil {
		return UIConfig{}, err
	}
	surfaces, err := s.surfaceInfos(ctx)
	return UIConfig{
		Version: s.Version, Model: s.modelNow(), Temporal: Nullable[TemporalUI]{s.Temporal},
		FirstRun: door.FirstRun, SignUp: door.SignUp, Upload: limitsOf(s.Plans.Named(quota.Free)), Search: s.WebSearch,
		Listens: s.Transcriber != nil, Speaks: s.Speaker != nil,
		Setup: door.FirstRun && s.stranger(requestOf(ctx), ""), Surfaces: surfaces,
	}, err
}

// surfaceInfos are the surfaces in use.
func (s *server) surfaceInfos(ctx context.Context) ([]SurfaceInfo, error) {
	out := []SurfaceInfo{}
	if s.Surfaces == nil {
		return out, nil
	}
	all, err := s.Surfaces.All(ctx)
	for _, one := range all {
		out = append(out, SurfaceInfo{
			Path: one.Path, Title: texts(one.Title), Tagline: texts(one.Tagline), Icon: one.Icon, Order: one.Place(), Accent: one.Accent,
			WorkflowID: one.WorkflowID, API: one.API, Keeps: one.Keeps, Disclosure: texts(one.Disclosure),
		})
	}
	return out, err
}

// texts is never null: a client reads a language of it.
func texts(by map[string]string) map[string]string {
	if by == nil {
		return map[string]string{}
	}
	return by
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
	s.handleFrom(op, func(r *http.Request) string { return credential(r.Header.Get) }, handle)
}

// handleFrom is handleHTTP where requests show otherwise who sends them.
func (s *server) handleFrom(op huma.Operation, shown func(*http.Request) string, handle http.HandlerFunc) {
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
			err = s.enterAt(r.Context(), audienceOf(op), shown(r), scopesOf(op)...)
		} else {
			err = s.tooManyErrors(requestOf(r.Context()).origin())
		}
		if err != nil {
			if fault.CodeOf(err) == fault.Unauthorized {
				w.Header().Set("WWW-Authenticate", s.challenge(r))
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
