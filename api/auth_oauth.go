package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/oauth"
	"liminal/internal/quota"
)

func (s *server) oauthRoutes() {
	add(s, public(route("GET /v1/auth/oauth", "oauthProviders", "Where people may sign in with an account they have elsewhere")), s.oauthProviders)
	add(s, public(route("POST /v1/auth/oauth/{provider}/start", "startOAuth", "Begin to sign in elsewhere; in a session, to link the provider to the account")), s.startOAuth)
	add(s, route("GET /v1/auth/links", "links", "What else signs in to this account"), s.links)
	add(s, route("DELETE /v1/auth/links/{provider}", "unlink", "Take a provider from this account"), s.unlink)
	op := public(route("GET /v1/auth/oauth/{provider}/callback", "finishOAuth", "Where a provider sends people back to"))
	op.Parameters = []*huma.Param{{Name: "provider", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}}
	for _, name := range []string{"state", "code", "error", "iss"} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: &huma.Schema{Type: "string"}})
	}
	s.handleHTTP(op, s.finishOAuth)
	s.answers(op, http.StatusSeeOther, "text/html", "To the client. The fragment says what happened: #signed_in={provider}, with the refresh token in the cookie; #linked={provider}; or #mfa_ticket={ticket}, to show a second factor with", &huma.Schema{Type: "string"})
}

// Providers are where people may sign in.
type Providers struct {
	Providers []Provider `json:"providers"`
}

// Provider is one of them.
type Provider struct {
	Name  string `json:"name" doc:"as in the path of start"`
	Label string `json:"label" doc:"for people"`
}

func (s *server) oauthProviders(context.Context, *struct{}) (Providers, error) {
	list := Providers{Providers: []Provider{}}
	if s.Providers != nil {
		for _, p := range s.Providers.List() {
			list.Providers = append(list.Providers, Provider(p))
		}
	}
	return list, nil
}

type startOAuthInput struct {
	Provider string `path:"provider"`
	Body     *struct {
		Return string `json:"return,omitempty" maxLength:"2000" doc:"path of the client to come back to; / when missing"`
		Tenant string `json:"tenant_id,omitempty" maxLength:"100" doc:"must be the account's own"`
		Setup  string `json:"setup_word,omitempty" maxLength:"100" doc:"for the first account, as in a sign-up"`
	} `required:"false"`
}

// OAuthRedirect is where to send a browser.
type OAuthRedirect struct {
	URL string `json:"url"`
}

func (s *server) startOAuth(ctx context.Context, in *startOAuthInput) (OAuthRedirect, error) {
	req := requestOf(ctx)
	if err := s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()); err != nil {
		return OAuthRedirect{}, err
	}
	b := oauth.Begin{Provider: in.Provider, Return: "/", Redirect: s.base(req.raw) + "/v1/auth/oauth/" + url.PathEscape(in.Provider) + "/callback"}
	b.Stranger = s.stranger(req, "")
	if in.Body != nil {
		b.Tenant, b.Stranger = in.Body.Tenant, s.stranger(req, in.Body.Setup)
		if in.Body.Return != "" {
			b.Return = in.Body.Return
		}
	}
	if !clientPath(b.Return) {
		return OAuthRedirect{}, fault.New(fault.Invalid, "Where to come back to must be a path of the client, as in /settings.").With(map[string]any{"field": "return"})
	}
	if header := req.raw.Header.Get("Authorization"); header != "" {
		if err := s.enter(ctx, bearer(header)); err != nil {
			return OAuthRedirect{}, err
		}
		b.Viewer = req.viewer
	}
	if s.Providers == nil {
		return OAuthRedirect{}, fault.New(fault.NotFound, "Nobody can sign in with %q here.", in.Provider)
	}
	if err := s.SignIns.Welcomes(ctx, b.Stranger); err != nil { // here, where the page can ask for the word
		return OAuthRedirect{}, err
	}
	begun, err := s.Providers.Start(ctx, b)
	if err != nil {
		return OAuthRedirect{}, err
	}
	s.setOAuthCookie(req, "/v1/auth/oauth", begun.State, begun.Browser, int(oauth.Patience.Seconds()))
	return OAuthRedirect{URL: begun.URL}, nil
}

// Links are what else signs in to an account.
type Links struct {
	Links []Linked `json:"links"`
}

// Linked is one of them.
type Linked struct {
	Provider string    `json:"provider"`
	Email    string    `json:"email" doc:"as the provider said when it was linked; empty when it did not"`
	LinkedAt time.Time `json:"linked_at"`
}

func (s *server) links(ctx context.Context, _ *struct{}) (Links, error) {
	all := Links{Links: []Linked{}}
	if s.Elsewhere == nil {
		return all, nil
	}
	list, err := s.Elsewhere.Links(ctx, viewerOf(ctx))
	for _, l := range list {
		all.Links = append(all.Links, Linked{Provider: l.Provider, Email: l.Email, LinkedAt: l.LinkedAt.UTC()})
	}
	return all, err
}

type unlinkInput struct {
	Provider string `path:"provider"`
}

func (s *server) unlink(ctx context.Context, in *unlinkInput) (Nothing, error) {
	if s.Elsewhere == nil {
		return Nothing{}, fault.New(fault.NotFound, "Nothing is linked to this account.")
	}
	return Nothing{}, s.Elsewhere.Unlink(ctx, viewerOf(ctx), in.Provider)
}

// base is how people reach this server.
func (s *server) base(r *http.Request) string {
	switch {
	case s.PublicURL != "":
		return strings.TrimSuffix(s.PublicURL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	default:
		return "http://" + r.Host
	}
}

// clientPath reports whether a browser sent to s stays on this host, at the
// client: a path, and nothing a browser could read as an address.
func clientPath(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.Contains(s, "#") {
		return false
	}
	odd := strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\\' || r > '~' })
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !odd && !ours(u.Path)
}

// oauthCookie is the name of the cookie that binds a sign-in to the browser
// that began it. Each has its own, so that two pages can sign in at once.
func oauthCookie(state string) string {
	sum := sha256.Sum256([]byte(state))
	return "liminal_oauth_" + hex.EncodeToString(sum[:8])
}

// setOAuthCookie is Lax: the browser must bring it along when the provider
// sends it here, which is somewhere below path.
func (s *server) setOAuthCookie(req *request, path, state, value string, maxAge int) {
	c := http.Cookie{
		Name: oauthCookie(state), Value: value, Path: path, MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: req.raw.TLS != nil || strings.HasPrefix(s.PublicURL, "https://"),
	}
	req.header.Add("Set-Cookie", c.String())
}

// finishOAuth sends a person who came back on to the client, or tells them
// why not: on a page, for there is no client on the way.
func (s *server) finishOAuth(w http.ResponseWriter, r *http.Request) {
	to, err := s.comeBack(r)
	if err == nil {
		w.Header().Set("Location", to)
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
	_ = refusal.Execute(w, f) // the reader may have gone
}

var refusal = template.Must(template.New("refusal").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not signed in</title>
<h1>Not signed in</h1><p>{{.Reason.Message}}</p><p><a href="/">Back</a></p><p><small>{{.RequestID}}</small></p></html>
`))

// comeBack returns where to send the browser.
func (s *server) comeBack(r *http.Request) (to string, err error) {
	ctx, req, q := r.Context(), requestOf(r.Context()), r.URL.Query()
	if err := s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()); err != nil {
		return "", err
	}
	if s.Providers == nil || s.Elsewhere == nil {
		return "", fault.New(fault.NotFound, "Nobody can sign in elsewhere here.")
	}
	c := oauth.Callback{Provider: r.PathValue("provider"), State: q.Get("state"), Code: q.Get("code"), Refusal: q.Get("error"), Issuer: q.Get("iss")}
	if cookie, err := r.Cookie(oauthCookie(c.State)); err == nil {
		c.Browser = cookie.Value
		s.setOAuthCookie(req, "/v1/auth/oauth", c.State, "", -1)
	}
	who, begun, err := s.Providers.Finish(ctx, c)
	if err != nil {
		return "", err
	}
	if begun.Viewer.UserID != "" {
		return begun.Return + "#linked=" + url.QueryEscape(c.Provider), s.Elsewhere.Link(ctx, begun.Viewer, who)
	}
	who.Tenant, who.Stranger = begun.Tenant, begun.Stranger
	return s.enterElsewhere(ctx, req, who, begun.Return)
}

// enterElsewhere opens a session for who. What happened is in the fragment of
// the address, which reaches no server and no log: the client trades its cookie
// for tokens, or asks for the second factor of the ticket.
func (s *server) enterElsewhere(ctx context.Context, req *request, who identity.External, back string) (to string, err error) {
	in, err := s.Elsewhere.LogInElsewhere(ctx, who, req.device())
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if needed, ok := f.Details.(identity.FactorNeeded); ok {
			return back + "#mfa_ticket=" + url.QueryEscape(needed.Ticket), nil
		}
	}
	_, err = s.signedInAs(req, in, err)
	return back + "#signed_in=" + url.QueryEscape(who.Provider), err
}
