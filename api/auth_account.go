package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// refreshCookie holds a browser's refresh token; scripts cannot read it and
// it travels to /v1/auth only (AUTH-04, C-33).
const refreshCookie = "liminal_refresh"

// pageCookie says to pages that somebody has signed in in this browser.
const pageCookie = "liminal_in"

// sessionCookie names a browser's session (AUTH-06). It signs nobody in: a
// refresh by cookie must be of the session it names.
const sessionCookie = "session_id"

func (s *server) accountRoutes() {
	add(s, public(route("POST /v1/auth/signup", "signUp", "Create an account and sign in")), s.signUp)
	add(s, public(route("POST /v1/auth/login", "logIn", "Sign in")), s.logIn)
	add(s, public(route("POST /v1/auth/refresh", "refresh", "Trade a refresh token for new tokens")), s.refresh)
	add(s, public(route("POST /v1/auth/logout", "logOut", "End the session")), s.logOut)
	add(s, route("GET /v1/auth/me", "me", "Who is signed in"), s.me)
	add(s, route("DELETE /v1/auth/me", "deleteAccount", "Delete the account and everything that is its own"), s.deleteAccount)
}

// User is an account as its owner sees it.
type User struct {
	ID            string `json:"id" format:"uuid"`
	TenantID      string `json:"tenant_id"`
	Email         string `json:"email"`
	Handle        string `json:"handle"`
	Role          string `json:"role" enum:"user,power,admin"`
	Plan          string `json:"plan"`
	Locale        string `json:"locale"`
	Unverified    bool   `json:"unverified" doc:"the address is yet to be confirmed; until then little is allowed, and after a day nothing"`
	MFA           bool   `json:"mfa_enabled"`
	SingleSession bool   `json:"single_session" doc:"a sign-in ends the others"`
}

func userView(u identity.User) User {
	return User{
		ID: u.ID, TenantID: u.TenantID, Email: u.Email, Handle: u.Handle, Role: string(u.Role), Plan: u.Plan, Locale: u.Locale,
		Unverified: u.Unverified, MFA: u.MFA, SingleSession: u.SingleSession,
	}
}

// Credentials are what a sign-in gives (AUTH-02, API-19).
type Credentials struct {
	User         User      `json:"user"`
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token"`
	SessionID    string    `json:"session_id" format:"uuid"`
	ExpiresAt    time.Time `json:"session_expires_at"`
}

// SignedUp is what a sign-up gives: what a sign-in does, or, on a server that
// confirms addresses, that a mail is on its way. It says the same for an
// address that has an account.
type SignedUp struct {
	ConfirmEmail bool       `json:"confirm_email" doc:"a mail has been sent; sign in, and follow its link within a day. The other fields are missing"`
	User         *User      `json:"user,omitempty"`
	AccessToken  string     `json:"access_token,omitempty"`
	RefreshToken string     `json:"refresh_token,omitempty"`
	SessionID    string     `json:"session_id,omitempty" format:"uuid"`
	ExpiresAt    *time.Time `json:"session_expires_at,omitempty"`
}

type signUpInput struct {
	Language string `header:"Accept-Language"`
	Tenant   string `header:"X-Tenant-ID" doc:"the same as tenant_id"`
	Body     struct {
		Email    string `json:"email"`
		Password string `json:"password"`
		Handle   string `json:"handle,omitempty"`
		Locale   string `json:"locale,omitempty" doc:"en or de; Accept-Language decides when it is missing"`
		Tenant   string `json:"tenant_id,omitempty" doc:"one there is; the default one when it is missing"`
		Client   string `json:"client,omitempty" enum:"web,mobile" doc:"decides how long the session lasts; web when it is missing"`
		Setup    string `json:"setup_word,omitempty" doc:"for the first account, which administers the server, when it is not made on the server's own machine: the word that the program printed when it started"`
	}
}

func (s *server) signUp(ctx context.Context, in *signUpInput) (SignedUp, error) {
	req := requestOf(ctx)
	if err := s.Limits.Spend(ctx, quota.SignUp(), req.origin()); err != nil {
		return SignedUp{}, err
	}
	locale := in.Body.Locale
	if locale == "" && strings.HasPrefix(strings.ToLower(in.Language), "de") {
		locale = "de"
	}
	got, err := s.SignIns.SignUp(ctx, identity.NewAccount{
		Email: in.Body.Email, Password: in.Body.Password,
		Handle: in.Body.Handle, Locale: locale, Tenant: cmp.Or(in.Body.Tenant, in.Tenant),
		Stranger: s.stranger(req, in.Body.Setup),
	}, req.deviceOf(in.Body.Client))
	if err != nil || got.Pending {
		return SignedUp{ConfirmEmail: true}, err
	}
	c, err := s.signedInAs(req, got, nil)
	return SignedUp{
		User: &c.User, AccessToken: c.AccessToken, RefreshToken: c.RefreshToken,
		SessionID: c.SessionID, ExpiresAt: &c.ExpiresAt,
	}, err
}

type logInInput struct {
	Tenant string `header:"X-Tenant-ID" doc:"the same as tenant_id"`
	Body   struct {
		Email    string `json:"email"`
		Password string `json:"password"`
		Code     string `json:"mfa_code,omitempty" doc:"of the authenticator, when the account has one"`
		Recovery string `json:"recovery_code,omitempty" doc:"instead of mfa_code; good once"`
		Tenant   string `json:"tenant_id,omitempty" doc:"must be the account's own"`
		Client   string `json:"client,omitempty" enum:"web,mobile" doc:"decides how long the session lasts; web when it is missing"`
	}
}

// logIn spends a try of the address with the account, so that guessing one
// password slows down and nobody can lock another person out from elsewhere;
// and one of the address, so that trying many accounts slows down too.
func (s *server) logIn(ctx context.Context, in *logInInput) (Credentials, error) {
	req := requestOf(ctx)
	who := req.origin() + " " + mailboxOf(in.Body.Email)
	if err := cmp.Or(s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()), s.Limits.Spend(ctx, quota.SignIn(), who)); err != nil {
		return Credentials{}, err
	}
	got, err := s.SignIns.LogIn(ctx, identity.SignInTry{
		Email: in.Body.Email, Password: in.Body.Password, Code: in.Body.Code, Recovery: in.Body.Recovery,
		Tenant: cmp.Or(in.Body.Tenant, in.Tenant),
	}, req.deviceOf(in.Body.Client))
	return s.signedInAs(req, got, err)
}

type refreshInput struct {
	Cookie  string `cookie:"liminal_refresh"`
	Session string `cookie:"session_id"`
	Body    *struct {
		Token string `json:"refresh_token,omitempty" doc:"without it the cookie is used"`
	} `required:"false"`
}

// token is the refresh token of a request. The cookie counts only when our
// own page sent it: it is the one thing a browser adds by itself. It must be
// of the session that the other cookie names.
func (in *refreshInput) token(req *request) (string, error) {
	if in.Body != nil && in.Body.Token != "" {
		return in.Body.Token, nil
	}
	if in.Cookie != "" && !sameOrigin(req.raw) {
		return "", fault.New(fault.Forbidden, "This request did not come from our own page.")
	}
	if in.Cookie != "" && in.Session != "" && !strings.HasPrefix(in.Cookie, in.Session+".") {
		return "", fault.New(fault.Unauthorized, "The cookies of this request are of two sessions. Sign in again.")
	}
	return in.Cookie, nil
}

func (s *server) refresh(ctx context.Context, in *refreshInput) (Credentials, error) {
	req := requestOf(ctx)
	token, err := in.token(req)
	if err != nil {
		return Credentials{}, err
	}
	got, err := s.SignIns.Refresh(ctx, token)
	if fault.CodeOf(err) == fault.Unauthorized {
		s.clearCookies(req)
	}
	return s.signedInAs(req, got, err)
}

// Nothing is the data of an answer that has none.
type Nothing struct{}

// logOut ends the session of whichever tokens the request has. It needs no
// live session: leaving always works.
func (s *server) logOut(ctx context.Context, in *refreshInput) (Nothing, error) {
	req := requestOf(ctx)
	token, err := in.token(req)
	if err != nil {
		return Nothing{}, err
	}
	s.clearCookies(req)
	return Nothing{}, s.SignIns.LogOut(ctx, bearer(req.raw.Header.Get("Authorization")), token)
}

// Me is the data of GET /v1/auth/me.
type Me struct {
	User User `json:"user"`
}

func (s *server) me(ctx context.Context, _ *struct{}) (Me, error) {
	u, err := s.SignIns.Who(ctx, viewerOf(ctx))
	return Me{User: userView(u)}, err
}

type deleteAccountInput struct {
	Body struct {
		Password string `json:"password" doc:"of the account, once more"`
	}
}

func (s *server) deleteAccount(ctx context.Context, in *deleteAccountInput) (Nothing, error) {
	req := requestOf(ctx)
	if err := s.Limits.Spend(ctx, quota.SignIn(), req.viewer.UserID); err != nil {
		return Nothing{}, err
	}
	if err := s.People.DeleteAccount(ctx, req.viewer, in.Body.Password); err != nil {
		return Nothing{}, err
	}
	s.clearCookies(req)
	return Nothing{}, nil
}

func (s *server) signedInAs(req *request, in identity.SignIn, err error) (Credentials, error) {
	if err != nil {
		return Credentials{}, err
	}
	life := int(in.ExpiresAt.Sub(s.Now()).Seconds())
	s.setCookie(req, refreshCookie, in.Refresh, life)
	s.setCookie(req, sessionCookie, in.SessionID, life)
	s.setPageCookie(req, "1", life)
	return Credentials{
		User: userView(in.User), AccessToken: in.Access, RefreshToken: in.Refresh,
		SessionID: in.SessionID, ExpiresAt: in.ExpiresAt.UTC(),
	}, nil
}

func (s *server) clearCookies(req *request) {
	s.setCookie(req, refreshCookie, "", -1)
	s.setCookie(req, sessionCookie, "", -1)
	s.setPageCookie(req, "", -1)
}

// setPageCookie leaves a mark for every page, of which Arrives goes by. It is no
// secret and opens nothing. A link on another site brings it along, which the
// cookies of a session do not come with.
func (s *server) setPageCookie(req *request, value string, maxAge int) {
	c := http.Cookie{
		Name: pageCookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: req.raw.TLS != nil || strings.HasPrefix(s.PublicURL, "https://"),
	}
	req.header.Add("Set-Cookie", c.String())
}

// Arrives reports whether a browser that asks for a page may be signed in. It may
// not be any more: the client finds out, and whoever is told to sign in although
// they are goes on from there (API-20).
func Arrives(r *http.Request) bool {
	_, err := r.Cookie(pageCookie)
	return err == nil
}

func (s *server) setCookie(req *request, name, value string, maxAge int) {
	c := http.Cookie{
		Name: name, Value: value, Path: "/v1/auth", MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: req.raw.TLS != nil || strings.HasPrefix(s.PublicURL, "https://"),
	}
	req.header.Add("Set-Cookie", c.String())
}

// sameOrigin reports whether a browser sent r from a page of this host, or no
// browser sent it.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		origin := r.Header.Get("Origin")
		u, err := url.Parse(origin)
		return origin == "" || err == nil && strings.EqualFold(u.Host, r.Host)
	}
	return false
}
