package api

import (
	"context"
	"encoding/json"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/authserver"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// Signing a program in to the Model Context Protocol with OAuth 2.1, as the protocol's
// authorization says: the program finds out where (RFC 9728, RFC 8414), registers or
// names a document of its own, sends its person to our page, and trades the code it
// gets for a key that opens /mcp and nothing else. Clients are public and prove
// themselves by PKCE; who decides is the person in their session (mcp_consent.go).
func (s *server) mcpSignInRoutes() {
	described := func(pattern, name, summary string, answers any, handle http.HandlerFunc) {
		op := s.oauthRoute(pattern, name, summary, handle)
		s.answers(op, http.StatusOK, "application/json", "What it says", s.schemaOf(answers))
	}
	described("GET "+protectedPath+mcpPath, "mcpResource", "Where a program signs in for the Model Context Protocol (RFC 9728)", ProtectedResource{}, s.describeResource)
	described("GET "+protectedPath, "mcpResourceAtRoot", "The same, for programs that look for it here", ProtectedResource{}, s.describeResource)
	described("GET "+authServerPath, "authorizationServer", "How a program signs in (RFC 8414)", AuthorizationServer{}, s.describeAuthServer)

	op := s.oauthRoute("GET "+oauthPath+"authorize", "authorize", "Where a program sends its person to be let in", s.authorize)
	s.answers(op, http.StatusSeeOther, "text/html", "To the page where the person decides", &huma.Schema{Type: huma.TypeString})
	for _, name := range authserver.Parameters {
		s.operation(op).Parameters = append(s.operation(op).Parameters, &huma.Param{Name: name, In: "query", Schema: &huma.Schema{Type: huma.TypeString}})
	}

	op = s.oauthRoute("POST "+oauthPath+"register", "registerClient", "Register a program that signs people in (RFC 7591); it is a public client, without a secret", s.registerClient)
	s.operation(op).RequestBody = s.takes("application/json", ClientMetadata{})
	s.answers(op, http.StatusCreated, "application/json", "The client", s.schemaOf(RegisteredClient{}))

	op = s.oauthRoute("POST "+oauthPath+"token", "token", "Trade a code or a refresh token for tokens; each counts once", s.token)
	s.operation(op).RequestBody = s.takes(formType, TokenRequest{})
	s.answers(op, http.StatusOK, "application/json", "The tokens", s.schemaOf(TokenAnswer{}))

	op = s.oauthRoute("POST "+oauthPath+"revoke", "revokeToken", "End what a token is of (RFC 7009)", s.revokeToken)
	s.operation(op).RequestBody = s.takes(formType, RevokeRequest{})
	s.operation(op).Responses["200"] = &huma.Response{Description: "It has ended, or there was nothing to end"}

	add(s, route("GET /v1/oauth/consent", "readConsent", "What a program asks me for that I am to let in"), s.readConsent)
	add(s, route("POST /v1/oauth/consent", "decideConsent", "Let a program in, or refuse it, and where to go with that; in a session signed in within the hour"), s.decideConsent)
}

const (
	oauthPath      = "/oauth/"
	wellKnownPath  = "/.well-known/"
	protectedPath  = wellKnownPath + "oauth-protected-resource"
	authServerPath = wellKnownPath + "oauth-authorization-server"
	consentPage    = "/consent" // of the client

	formType = "application/x-www-form-urlencoded"
	maxForm  = 32 << 10
)

// mcpScopes are what a program may ask for: what there is at /mcp.
var mcpScopes = []string{scopeMCP, scopeChat, scopeRead, scopeTools, scopePropose}

// signsProgramsIn reports whether programs can sign people in here.
func (s *server) signsProgramsIn() bool { return s.Grants != nil && s.Clients != nil }

// oauthRoute registers an operation that anybody may call and that speaks HTTP itself.
func (s *server) oauthRoute(pattern, name, summary string, handle http.HandlerFunc) huma.Operation {
	op := public(route(pattern, name, summary))
	op.Tags = []string{"oauth"}
	s.handleHTTP(op, func(w http.ResponseWriter, r *http.Request) {
		if !s.signsProgramsIn() {
			s.refuse(w, r, fault.New(fault.NotFound, "No program signs anybody in here."))
			return
		}
		handle(w, r)
	})
	s.failsAs(op, s.schemaOf(OAuthFailure{}))
	return op
}

// takes declares a body that its handler reads itself.
func (s *server) takes(contentType string, body any) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{contentType: {Schema: s.schemaOf(body)}}}
}

// resource is what programs sign in for.
func (s *server) resource(r *http.Request) string { return s.base(r) + mcpPath }

// challenge tells who is turned away how to come in.
func (s *server) challenge(r *http.Request) string {
	if r.URL.Path != mcpPath || !s.signsProgramsIn() {
		return `Bearer realm="liminal"`
	}
	told := `Bearer resource_metadata="` + s.base(r) + protectedPath + mcpPath + `"`
	if bearer(r.Header.Get("Authorization")) != "" {
		told += `, error="invalid_token"`
	}
	return told
}

// ProtectedResource describes what programs sign in for.
type ProtectedResource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`
}

func (s *server) describeResource(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, ProtectedResource{
		Resource: s.resource(r), Servers: []string{s.base(r)}, Scopes: mcpScopes, Methods: []string{"header"}, Name: "Liminal",
	})
}

// AuthorizationServer describes where programs sign in.
type AuthorizationServer struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Revoke       string   `json:"revocation_endpoint"`
	Scopes       []string `json:"scopes_supported"`
	Responses    []string `json:"response_types_supported"`
	Modes        []string `json:"response_modes_supported"`
	Grants       []string `json:"grant_types_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	TokenMethods []string `json:"token_endpoint_auth_methods_supported"`
	Revokes      []string `json:"revocation_endpoint_auth_methods_supported"`
	NamesIssuer  bool     `json:"authorization_response_iss_parameter_supported"`
	Documents    bool     `json:"client_id_metadata_document_supported"`
}

func (s *server) describeAuthServer(w http.ResponseWriter, r *http.Request) {
	base, none := s.base(r), []string{"none"}
	writeJSON(w, http.StatusOK, AuthorizationServer{
		Issuer: base, Authorize: base + oauthPath + "authorize", Token: base + oauthPath + "token",
		Register: base + oauthPath + "register", Revoke: base + oauthPath + "revoke", Scopes: mcpScopes,
		Responses: []string{"code"}, Modes: []string{"query"}, Grants: grantTypes, Challenges: []string{"S256"},
		TokenMethods: none, Revokes: none, NamesIssuer: true, Documents: s.Clients.ReadsDocuments(),
	})
}

const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
)

var grantTypes = []string{grantCode, grantRefresh}

// OAuthFailure is an error as OAuth has it.
type OAuthFailure struct {
	Error       string `json:"error"`
	Description string `json:"error_description" doc:"a sentence for a person"`
}

// asOAuth is a failure as OAuth has it.
func (f *Failure) asOAuth() any {
	details, _ := f.Reason.Details.(map[string]any)
	code, _ := details["reason"].(string)
	switch {
	case code != "":
	case f.code == http.StatusTooManyRequests:
		code = "temporarily_unavailable"
	case f.code >= http.StatusInternalServerError:
		code = "server_error"
	default:
		code = authserver.InvalidRequest
	}
	return OAuthFailure{Error: code, Description: f.Reason.Message}
}

// invalid is a fault of a request with the error code of OAuth it is told by.
func invalid(code, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).With(map[string]any{"reason": code})
}

// requestIn is a request of a program as a query has it. What stands there twice could
// be read as either.
func requestIn(q url.Values) (authserver.Request, error) {
	for _, name := range authserver.Parameters {
		if len(q[name]) > 1 {
			return authserver.Request{}, invalid(authserver.InvalidRequest, "The parameter %s is there more than once.", name)
		}
	}
	return authserver.Request{
		ClientID: q.Get("client_id"), Redirect: q.Get("redirect_uri"), ResponseType: q.Get("response_type"), Challenge: q.Get("code_challenge"),
		Method: q.Get("code_challenge_method"), Resource: q.Get("resource"), Scope: q.Get("scope"), State: q.Get("state"),
	}, nil
}

// authorize sends a person on to the page where they decide. What is wrong with a
// request is told them here: they are sent to the program by their own decision only.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	asks, err := requestIn(q)
	if err == nil {
		_, err = s.Clients.Check(r.Context(), asks, s.resource(r), mcpScopes)
	}
	if err == nil {
		on := url.Values{}
		for _, name := range authserver.Parameters {
			if value := q.Get(name); value != "" {
				on.Set(name, value)
			}
		}
		w.Header().Set("Location", consentPage+"?"+on.Encode())
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.refuse(w, r, err)
		return
	}
	f := s.fail(r.Context(), err)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.code)
	_ = notLetIn.Execute(w, f) // the reader may have gone
}

var notLetIn = template.Must(template.New("not let in").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>This program was not let in</title>
<h1>This program was not let in</h1><p>The program that sent you here asked for something that is not possible. You have done nothing wrong, and nothing has happened.</p>
<p>For whoever writes the program: {{.Reason.Message}}</p><p><a href="/">To Liminal</a></p><p><small>{{.RequestID}}</small></p></html>
`))

// ClientMetadata is what a program says of itself. What else it says is no matter here.
type ClientMetadata struct {
	Name      string   `json:"client_name,omitempty" doc:"as it calls itself"`
	Redirects []string `json:"redirect_uris" doc:"https, http at the person's own computer, or an app's own scheme"`
	Grants    []string `json:"grant_types,omitempty"`
	Responses []string `json:"response_types,omitempty"`
}

// RegisteredClient is a program that has registered.
type RegisteredClient struct {
	ID        string   `json:"client_id"`
	IssuedAt  int64    `json:"client_id_issued_at"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Method    string   `json:"token_endpoint_auth_method" enum:"none"`
}

func (s *server) registerClient(w http.ResponseWriter, r *http.Request) {
	made, err := s.register(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusCreated, RegisteredClient{
		ID: made.ID, IssuedAt: made.CreatedAt.Unix(), Name: made.Name, Redirects: made.Redirects,
		Grants: grantTypes, Responses: []string{"code"}, Method: "none",
	})
}

func (s *server) register(w http.ResponseWriter, r *http.Request) (c authserver.Client, err error) {
	if !isJSON(r.Header) {
		return c, invalid(authserver.InvalidMetadata, "A registration is sent as application/json.")
	}
	raw, err := s.small(w, r)
	if err != nil {
		return c, err
	}
	var in ClientMetadata
	if err := checkJSON(raw); err != nil {
		return c, invalid(authserver.InvalidMetadata, "The registration cannot be read: %v", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, invalid(authserver.InvalidMetadata, "The registration is no JSON object as it has to be.")
	}
	if err := s.Limits.Spend(r.Context(), quota.ClientRegistrations(), requestOf(r.Context()).origin()); err != nil {
		return c, err
	}
	return s.Clients.Register(r.Context(), authserver.Registration(in))
}

// small is the body of a request that is never large.
func (s *server) small(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, s.deadlines.body(w, r.Body), maxForm))
	if err != nil {
		return nil, invalid(authserver.InvalidRequest, "The request broke off, or is larger than %d bytes.", maxForm)
	}
	return raw, nil
}

// form is a form in a body, of which no field is there twice.
func (s *server) form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != formType {
		return nil, invalid(authserver.InvalidRequest, "This is sent as %s.", formType)
	}
	raw, err := s.small(w, r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, invalid(authserver.InvalidRequest, "The form cannot be read.")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, invalid(authserver.InvalidRequest, "The field %.40q is there more than once.", name)
		}
	}
	return form, nil
}

// TokenRequest is what tokens are asked for with.
type TokenRequest struct {
	Grant    string `json:"grant_type" enum:"authorization_code,refresh_token"`
	ClientID string `json:"client_id"`
	Code     string `json:"code,omitempty"`
	Redirect string `json:"redirect_uri,omitempty" doc:"with code: as it was sent for it"`
	Verifier string `json:"code_verifier,omitempty" doc:"with code: PKCE"`
	Refresh  string `json:"refresh_token,omitempty"`
	Resource string `json:"resource,omitempty" doc:"as it was asked for"`
}

// TokenAnswer is what a program acts with.
type TokenAnswer struct {
	Access  string `json:"access_token" doc:"an access key of the audience mcp"`
	Type    string `json:"token_type" enum:"Bearer"`
	Seconds int    `json:"expires_in"`
	Refresh string `json:"refresh_token" doc:"for the next tokens, once"`
	Scope   string `json:"scope"`
}

func (s *server) token(w http.ResponseWriter, r *http.Request) {
	t, err := s.traded(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, TokenAnswer{
		Access: t.Access, Type: "Bearer", Seconds: int(t.Life / time.Second), Refresh: t.Refresh, Scope: strings.Join(t.Scopes, " "),
	})
}

func (s *server) traded(w http.ResponseWriter, r *http.Request) (t identity.Tokens, err error) {
	form, err := s.form(w, r)
	if err != nil {
		return t, err
	}
	client := form.Get("client_id")
	switch asked := form.Get("resource"); {
	case asked != "" && asked != s.resource(r):
		return t, invalid(authserver.InvalidTarget, "What is asked for must be the resource %s.", s.resource(r))
	case client == "":
		return t, invalid(authserver.InvalidRequest, "The client_id is missing; clients here have no secret and send it in the form.")
	}
	switch grant := form.Get("grant_type"); grant {
	case grantCode:
		return s.Grants.Redeem(r.Context(), identity.Redemption{
			Code: form.Get("code"), Client: client, Redirect: form.Get("redirect_uri"), Verifier: form.Get("code_verifier"),
		})
	case grantRefresh:
		return s.Grants.Renew(r.Context(), form.Get("refresh_token"), client)
	default:
		return t, invalid("unsupported_grant_type", "The grant_type is %s or %s.", grantCode, grantRefresh)
	}
}

// RevokeRequest names what is to end.
type RevokeRequest struct {
	Token string `json:"token" doc:"an access token or a refresh token"`
}

// revokeToken answers the same whatever the token is (RFC 7009, 2.2).
func (s *server) revokeToken(w http.ResponseWriter, r *http.Request) {
	form, err := s.form(w, r)
	if err == nil && form.Get("token") == "" {
		err = invalid(authserver.InvalidRequest, "The token is missing.")
	}
	if err == nil {
		err = s.Grants.RevokeToken(context.WithoutCancel(r.Context()), form.Get("token"))
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}
