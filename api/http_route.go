package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

const (
	maxJSON = 1 << 20 // bytes of a JSON body
)

// hooks are huma's package variables. They are set once, before the first
// route: huma has no other place for the shape of an error.
var hooks sync.Once

func setHooks() {
	huma.DefaultArrayNullable = false // our lists are never null
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return badRequest(requestOf(ctx.Context()), status, msg, errs)
	}
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return badRequest(&request{}, status, msg, errs)
	}
}

// Problem is one fault of a request.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// brokenBody is what huma says when a body breaks off, which is not our fault.
const brokenBody = "cannot read request body"

// badRequest is what huma found wrong with a request before a handler saw it.
// Values are left out: a body may hold a password.
func badRequest(req *request, status int, msg string, errs []error) *Failure {
	switch {
	case status == http.StatusRequestTimeout:
		return failureOf(req, http.StatusBadRequest, fault.New(fault.Invalid, "The request came too slowly and was cut off. Try again."))
	case msg == brokenBody:
		return failureOf(req, http.StatusBadRequest, fault.New(fault.Invalid, "The request broke off before its end. Try again."))
	case status >= http.StatusInternalServerError:
		return failureOf(req, status, fault.From(errors.New(msg)))
	case status == http.StatusRequestEntityTooLarge:
		return failureOf(req, http.StatusBadRequest, fault.New(fault.Invalid, "The request is larger than the %d bytes allowed here.", maxJSON))
	}
	problems := make([]Problem, 0, len(errs))
	for _, err := range errs {
		p := Problem{Message: "is not valid"}
		if d, ok := err.(huma.ErrorDetailer); ok {
			p = Problem{Field: d.ErrorDetail().Location, Message: d.ErrorDetail().Message}
		}
		problems = append(problems, p)
	}
	f := fault.New(fault.Invalid, "The request is not valid: %s.", summary(msg, problems))
	if len(problems) > 0 {
		f = f.With(problems)
	}
	return failureOf(req, http.StatusBadRequest, f)
}

func summary(msg string, problems []Problem) string {
	if len(problems) == 0 {
		return msg
	}
	parts := make([]string, 0, len(problems))
	for _, p := range problems {
		parts = append(parts, strings.TrimSuffix(strings.TrimSpace(p.Field+" "+p.Message), "."))
	}
	return strings.Join(parts, "; ")
}

// newHuma configures huma: no schema links in bodies, no docs pages, unknown
// fields tolerated, JSON only.
func newHuma(mux *http.ServeMux, version string) huma.API {
	hooks.Do(setHooks)
	c := huma.DefaultConfig("Liminal", version)
	c.Info.Description = "A chat platform whose behaviour is data, run durably. Every answer is in the envelope {status, data | error, request_id}."
	c.CreateHooks = nil
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.AllowAdditionalPropertiesByDefault = true
	c.Formats = map[string]huma.Format{"application/json": bodies(), "json": bodies()}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "the access_token of a sign-in"},
		"key":    {Type: "apiKey", In: "header", Name: "X-Api-Key", Description: "an access key with the scope; also as api-key, or as Authorization: Bearer"},
	}
	return humago.New(mux, c)
}

// bodies are JSON somebody meant.
func bodies() huma.Format {
	f := huma.DefaultJSONFormat
	read := f.Unmarshal
	f.Unmarshal = func(data []byte, v any) error {
		if err := checkJSON(data); err != nil {
			return err
		}
		return read(data, v)
	}
	return f
}

// The scopes of access keys, for the tables of routes.
const (
	scopeChat      = identity.ScopeChat
	scopeRead      = identity.ScopeRead
	scopeWrite     = identity.ScopeWrite
	scopeTools     = identity.ScopeTools
	scopeArtifacts = identity.ScopeArtifacts
	scopePropose   = identity.ScopePropose
	scopeWebhooks  = identity.ScopeWebhooks
	scopeMCP       = identity.ScopeMCP
	scopeAdmin     = identity.ScopeAdmin
)

// route begins an operation: "GET /v1/runs/{id}", its name, what it does, and
// the scopes of access keys any of which opens it. One without a scope is closed
// to keys: accounts, keys, secrets, and what is decided and applied.
func route(pattern, name, summary string, scopes ...string) huma.Operation {
	method, path, _ := strings.Cut(pattern, " ")
	noun, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/v1/"), "/api/"), "/")
	return huma.Operation{
		OperationID: name, Method: method, Path: path, Summary: summary,
		Tags: []string{strings.Trim(noun, "/")}, MaxBodyBytes: maxJSON, Metadata: map[string]any{scopesKey: scopes},
	}
}

// scopesKey is where an operation keeps its scopes for guard.
const scopesKey = "scopes"

// audienceKey is where an operation keeps the audience of keys that open it beside
// those of the whole API.
const audienceKey = "audience"

func audienceOf(op huma.Operation) string {
	audience, _ := op.Metadata[audienceKey].(string)
	return audience
}

func scopesOf(op huma.Operation) []string {
	scopes, _ := op.Metadata[scopesKey].([]string)
	return scopes
}

// security says how an operation is opened: in a session, or by a key with any
// of its scopes.
func security(scopes []string) []map[string][]string {
	ways := []map[string][]string{{"bearer": {}}}
	for _, s := range scopes {
		ways = append(ways, map[string][]string{"key": {s}})
	}
	return ways
}

// public marks an operation that needs no session; the others do (API-08).
func public(op huma.Operation) huma.Operation {
	op.Security = []map[string][]string{}
	return op
}

// guard completes an operation: who may call it, and what it may answer.
func (s *server) guard(op huma.Operation) huma.Operation {
	op.Errors = []int{400, 404, 409, 429, 500}
	op.BodyReadTimeout = s.deadlines.json
	if op.Security == nil {
		op.Security = security(scopesOf(op))
		op.Middlewares = append(op.Middlewares, s.signedIn(scopesOf(op)))
		op.Errors = append(op.Errors, 401, 403)
	} else {
		op.Middlewares = append(op.Middlewares, s.welcome)
		op.Errors = append(op.Errors, 401, 403)
	}
	op.Middlewares = append(op.Middlewares, s.typed, s.inTurn)
	slices.Sort(op.Errors)
	return op
}

// signedIn lets a request through when it is of a live session, or of an access
// key with one of the scopes.
func (s *server) signedIn(scopes []string) func(ctx huma.Context, next func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if err := s.enter(ctx.Context(), credential(ctx.Header), scopes...); err != nil {
			s.writeFailure(ctx, err)
			return
		}
		next(ctx)
	}
}

// welcome lets a request of a stranger through unless its address has made too
// many errors.
func (s *server) welcome(ctx huma.Context, next func(huma.Context)) {
	if err := s.tooManyErrors(requestOf(ctx.Context()).origin()); err != nil {
		s.writeFailure(ctx, err)
		return
	}
	next(ctx)
}

// enter makes the request its session's person's, or its access key's, which
// needs one of the scopes: without scopes there is a session only. Whoever has
// made too many errors is told so instead: a person by who they are, a stranger
// by address.
func (s *server) enter(ctx context.Context, token string, scopes ...string) error {
	return s.enterAt(ctx, "", token, scopes...)
}

// enterAt is enter where keys of an audience are taken as well.
func (s *server) enterAt(ctx context.Context, audience, token string, scopes ...string) error {
	req := requestOf(ctx)
	v, err := s.authenticate(ctx, req, audience, token)
	if err != nil {
		return cmp.Or(s.tooManyErrors(req.origin()), err)
	}
	req.viewer = v
	return cmp.Or(s.tooManyErrors(v.UserID), v.Allows(scopes...))
}

// credential is what a request shows of who sends it: the token of a session or
// an access key, as Authorization: Bearer, or a key as X-Api-Key or api-key. A
// query has none: it stands in logs and in histories.
func credential(header func(name string) string) string {
	if token := bearer(header("Authorization")); token != "" {
		return token
	}
	for _, name := range []string{"X-Api-Key", "Api-Key"} {
		if key := strings.TrimSpace(header(name)); identity.IsKey(key) {
			return key
		}
	}
	return ""
}

// authenticate says whose session a token is of. A request that names a tenant
// means that one: a session of another is no session there (ISO-12). One that
// names a session is refused with a token of another; naming one makes nobody
// anybody.
func (s *server) authenticate(ctx context.Context, req *request, audience, token string) (identity.Viewer, error) {
	if v, ok := ctx.Value(enteredKey{}).(identity.Viewer); ok {
		return v, nil
	}
	v, err := s.SignIns.AuthenticateAt(ctx, audience, token)
	if err != nil {
		return identity.Viewer{}, err
	}
	if tenant := req.tenant(); tenant != "" && tenant != v.TenantID {
		return identity.Viewer{}, fault.New(fault.Unauthorized, "You are signed out in this tenant. Sign in there.")
	}
	if session := req.session(); session != "" && session != v.SessionID {
		return identity.Viewer{}, fault.New(fault.Unauthorized, "You are signed out of this session. Sign in again.")
	}
	return v, nil
}

func (s *server) writeFailure(ctx huma.Context, err error) {
	f := s.fail(ctx.Context(), err)
	if f.code == http.StatusUnauthorized {
		ctx.SetHeader("WWW-Authenticate", `Bearer realm="liminal"`)
	}
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(f.code)
	_ = s.huma.Marshal(ctx.BodyWriter(), "application/json", f) // the reader may have gone
}

// bearer is the token of an Authorization header, or nothing.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// answer is the output of an operation with an envelope.
type answer[T any] struct{ Body Envelope[T] }

// add registers an operation that takes I and answers with T in the envelope.
func add[I, T any](s *server, op huma.Operation, handle func(context.Context, *I) (T, error)) {
	op = s.guard(op)
	huma.Register(s.huma, op, func(ctx context.Context, in *I) (*answer[T], error) {
		requestOf(ctx).liftReadDeadline()
		data, err := handle(ctx, in)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &answer[T]{Body: envelope(ctx, data)}, nil
	})
	s.tidy(op)
}

// addStream registers an operation that writes its own answer; errors before
// the first byte still leave in the envelope (STREAM-16).
func addStream[I any](s *server, op huma.Operation, handle func(context.Context, *I) (func(http.ResponseWriter, *http.Request), error)) {
	op = s.guard(op)
	huma.Register(s.huma, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		requestOf(ctx).liftReadDeadline()
		write, err := handle(ctx, in)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humago.Unwrap(c)
			write(w, r)
		}}, nil
	})
	s.tidy(op)
}

// tidy removes the 422 huma declares by itself: we answer 400.
func (s *server) tidy(op huma.Operation) {
	if o := s.operation(op); o != nil {
		delete(o.Responses, "422")
	}
}

// operation finds a registered operation in the document.
func (s *server) operation(op huma.Operation) *huma.Operation {
	item := s.huma.OpenAPI().Paths[op.Path]
	for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if o != nil && o.OperationID == op.OperationID {
			return o
		}
	}
	return nil
}

// answers declares a further answer of an operation that writes its own.
func (s *server) answers(op huma.Operation, code int, contentType, description string, schema *huma.Schema) {
	o := s.operation(op)
	key := strconv.Itoa(code)
	if o.Responses[key] == nil {
		o.Responses[key] = &huma.Response{}
	}
	o.Responses[key].Description = description
	if o.Responses[key].Content == nil {
		o.Responses[key].Content = map[string]*huma.MediaType{}
	}
	o.Responses[key].Content[contentType] = &huma.MediaType{Schema: schema}
}

func envelope[T any](ctx context.Context, data T) Envelope[T] {
	return Envelope[T]{Status: "ok", Data: data, RequestID: requestOf(ctx).id}
}
