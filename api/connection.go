package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// Connections are the accounts that people have elsewhere and let tools act with.
type Connections interface {
	// List is what the viewer can connect, and what they have.
	List(ctx context.Context, v identity.Viewer) ([]connect.Info, error)
	Start(ctx context.Context, b connect.Begin) (connect.Begun, error)
	Finish(ctx context.Context, c connect.Callback, stands func(ctx context.Context, userID, mark string) error) (connect.Begin, error)
	// End forgets one; told says whether its server was told too.
	End(ctx context.Context, v identity.Viewer, name string) (told bool, err error)
	// SetClient keeps the client of a connection.spec, sealed; Forbidden for all
	// but administrators.
	SetClient(ctx context.Context, v identity.Viewer, name, id, secret string) error
}

func (s *server) connectionRoutes() {
	add(s, route("GET /v1/connections", "connections", "Accounts elsewhere that I can connect for tools, and those I have; no token is ever told", scopeRead), s.listConnections)
	add(s, route("POST /v1/connections/{name}/begin", "beginConnection", "Begin to connect an account: where to send the browser, which comes back to the callback"), s.beginConnection)
	add(s, route("DELETE /v1/connections/{name}", "endConnection", "Disconnect: the tokens are forgotten at once, here and there, and runs that wait do nothing with them"), s.endConnection)
	add(s, route("PUT /v1/connections/{name}/client", "setConnectionClient", "Set the client of a connection.spec, for administrators; it is sealed, and never shown"), s.setConnectionClient)
	op := public(route("GET /v1/connections/{name}/callback", "finishConnection", "Where a server sends people back to"))
	op.Parameters = []*huma.Param{{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}}
	for _, name := range []string{"state", "code", "error"} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: &huma.Schema{Type: "string"}})
	}
	s.handleHTTP(op, s.finishConnection)
	s.answers(op, http.StatusSeeOther, "text/html", "To the client. The fragment says what happened: #connected={name}, or #not_connected={reason}", &huma.Schema{Type: "string"})
}

// Connection is an account elsewhere that a person can connect.
type Connection struct {
	Name       string                     `json:"name" doc:"of the connection.spec"`
	Title      string                     `json:"title"`
	Configured bool                       `json:"configured" doc:"false: an administrator has to set it up first"`
	Account    Nullable[ConnectedAccount] `json:"account" doc:"null: not connected"`
}

// ConnectedAccount is what is known of a connected account.
type ConnectedAccount struct {
	Name      string     `json:"name" doc:"what people call it there; empty: the server did not say"`
	Scopes    []string   `json:"scopes" doc:"what was granted"`
	Refused   bool       `json:"refused" doc:"the server takes it no more: connect again"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at" nullable:"true" doc:"of what is kept now, which may be refreshed; null: nobody said"`
}

// ConnectionList is all of them.
type ConnectionList struct {
	Data []Connection `json:"data"`
}

func (s *server) connections() (Connections, error) {
	if s.Connections == nil {
		return nil, fault.New(fault.NotFound, "There is no such connection.")
	}
	return s.Connections, nil
}

func (s *server) listConnections(ctx context.Context, _ *struct{}) (ConnectionList, error) {
	out := ConnectionList{Data: []Connection{}}
	if s.Connections == nil {
		return out, nil
	}
	list, err := s.Connections.List(ctx, viewerOf(ctx))
	for _, i := range list {
		one := Connection{Name: i.Name, Title: i.Title, Configured: i.Configured}
		if k := i.Mine; k != nil {
			one.Account.V = &ConnectedAccount{
				Name: k.AccountName, Scopes: append([]string{}, k.Scopes...), Refused: k.Refused, CreatedAt: k.CreatedAt.UTC(), ExpiresAt: timeOrNil(k.ExpiresAt),
			}
		}
		out.Data = append(out.Data, one)
	}
	slices.SortFunc(out.Data, func(a, b Connection) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// ConnectionName is the path of a connection.
type ConnectionName struct {
	Name string `path:"name" maxLength:"128"`
}

type beginConnectionInput struct {
	ConnectionName
	Body *struct {
		Return string `json:"return,omitempty" maxLength:"2000" doc:"path of the client to come back to; /settings when missing"`
	} `required:"false"`
}

func (s *server) beginConnection(ctx context.Context, in *beginConnectionInput) (OAuthRedirect, error) {
	desk, err := s.connections()
	if err != nil {
		return OAuthRedirect{}, err
	}
	req, v := requestOf(ctx), viewerOf(ctx)
	if err := s.Limits.Spend(ctx, quota.SignIn(), v.UserID); err != nil {
		return OAuthRedirect{}, err
	}
	b := connect.Begin{Name: in.Name, Viewer: v, Return: "/settings", Redirect: s.base(req.raw) + "/v1/connections/" + url.PathEscape(in.Name) + "/callback"}
	if in.Body != nil && in.Body.Return != "" {
		b.Return = in.Body.Return
	}
	if !clientPath(b.Return) {
		return OAuthRedirect{}, fault.New(fault.Invalid, "Where to come back to must be a path of the client, as in /settings.").With(map[string]any{"field": "return"})
	}
	if b.Mark, err = s.Devices.Mark(ctx, v); err != nil {
		return OAuthRedirect{}, err
	}
	begun, err := desk.Start(ctx, b)
	if err != nil {
		return OAuthRedirect{}, err
	}
	s.setOAuthCookie(req, "/v1/connections", begun.State, begun.Browser, int(connect.Patience.Seconds()))
	return OAuthRedirect{URL: begun.URL}, nil
}

// finishConnection sends a person who came back on to the client, which says in
// their language what became of it. A program is told as everywhere.
func (s *server) finishConnection(w http.ResponseWriter, r *http.Request) {
	begun, err := s.connectionBack(r)
	back, failed := begun.Return, err
	if back == "" {
		back = "/settings"
	}
	if failed != nil && !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.refuse(w, r, failed)
		return
	}
	fragment := "#connected=" + url.QueryEscape(r.PathValue("name"))
	if failed != nil {
		reason := fault.Reason(failed)
		if reason == "" {
			reason = string(fault.CodeOf(failed))
		}
		fragment = "#not_connected=" + url.QueryEscape(reason)
		s.fail(r.Context(), failed)
	}
	w.Header().Set("Location", back+fragment)
	w.WriteHeader(http.StatusSeeOther)
}

func (s *server) connectionBack(r *http.Request) (connect.Begin, error) {
	ctx, req, q := r.Context(), requestOf(r.Context()), r.URL.Query()
	if err := s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()); err != nil {
		return connect.Begin{}, err
	}
	desk, err := s.connections()
	if err != nil {
		return connect.Begin{}, err
	}
	c := connect.Callback{Name: r.PathValue("name"), State: q.Get("state"), Code: q.Get("code"), Refusal: q.Get("error")}
	if cookie, err := r.Cookie(oauthCookie(c.State)); err == nil {
		c.Browser = cookie.Value
		s.setOAuthCookie(req, "/v1/connections", c.State, "", -1)
	}
	return desk.Finish(ctx, c, s.Devices.Marked)
}

// Disconnected says what became of a connection that was ended.
type Disconnected struct {
	Told bool `json:"told" doc:"the server was told and took the tokens back; false: it knows no way, or did not answer, and they run out by themselves"`
}

func (s *server) endConnection(ctx context.Context, in *struct{ ConnectionName }) (Disconnected, error) {
	desk, err := s.connections()
	if err != nil {
		return Disconnected{}, err
	}
	told, err := desk.End(ctx, viewerOf(ctx), in.Name)
	return Disconnected{Told: told}, err
}

type setConnectionClientInput struct {
	ConnectionName
	Body struct {
		ID     string `json:"client_id" maxLength:"400" doc:"empty with an empty secret: none any more"`
		Secret string `json:"client_secret" maxLength:"4096"`
	}
}

// There is no Idempotency-Key, as for the secrets of sources.
func (s *server) setConnectionClient(ctx context.Context, in *setConnectionClientInput) (Nothing, error) {
	if !viewerOf(ctx).IsAdmin() {
		return Nothing{}, fault.New(fault.Forbidden, "Only administrators set the clients of connections.")
	}
	desk, err := s.connections()
	if err != nil {
		return Nothing{}, err
	}
	return Nothing{}, desk.SetClient(ctx, viewerOf(ctx), in.Name, in.Body.ID, in.Body.Secret)
}
