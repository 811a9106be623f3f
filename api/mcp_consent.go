package api

import (
	"context"
	"net/url"
	"slices"

	"liminal/internal/authserver"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// consentInput is a program's request as its page passes it on. It is judged each time
// anew: nothing about it is remembered between the two.
type consentInput struct {
	ClientID     string `query:"client_id" maxLength:"1000"`
	Redirect     string `query:"redirect_uri" maxLength:"1000"`
	ResponseType string `query:"response_type" maxLength:"20"`
	Challenge    string `query:"code_challenge" maxLength:"128"`
	Method       string `query:"code_challenge_method" maxLength:"20"`
	Resource     string `query:"resource" maxLength:"1000"`
	Scope        string `query:"scope" maxLength:"1000"`
	State        string `query:"state" maxLength:"4000"`
}

// Consent is what a program asks for.
type Consent struct {
	Name     string   `json:"client_name" doc:"as the program calls itself, which nobody has checked; empty: it says nothing"`
	Document string   `json:"client_host" doc:"the host whose document describes the program; empty: it registered itself, and nobody vouches for it"`
	Kind     string   `json:"redirect_kind" enum:"site,computer,app" doc:"site: a host of the web; computer: a program on the person's own; app: whichever has claimed a scheme there"`
	Host     string   `json:"redirect_host" doc:"where the answer is sent: a host, or a scheme"`
	Scopes   []string `json:"scopes" doc:"what it asks for, as of an access key"`
}

// askedFor is what a program asks for, if it can be had here.
func (s *server) askedFor(ctx context.Context, r authserver.Request) (authserver.Asked, error) {
	if !s.signsProgramsIn() {
		return authserver.Asked{}, fault.New(fault.NotFound, "No program signs anybody in here.")
	}
	asked, err := s.Clients.Check(ctx, r, s.resource(requestOf(ctx).raw), mcpScopes)
	if err == nil && !slices.Contains(asked.Scopes, scopeMCP) { // nothing could be done with the others
		asked.Scopes = append([]string{scopeMCP}, asked.Scopes...)
	}
	return asked, err
}

func (s *server) readConsent(ctx context.Context, in *consentInput) (Consent, error) {
	asked, err := s.askedFor(ctx, authserver.Request(*in))
	if err != nil {
		return Consent{}, err
	}
	kind, host := asked.Where()
	return Consent{Name: asked.Client.Name, Document: asked.Client.Document(), Kind: kind, Host: host, Scopes: asked.Scopes}, nil
}

type decideConsentInput struct {
	Body struct {
		ClientID     string `json:"client_id" maxLength:"1000"`
		Redirect     string `json:"redirect_uri,omitempty" maxLength:"1000"`
		ResponseType string `json:"response_type" maxLength:"20"`
		Challenge    string `json:"code_challenge" maxLength:"128"`
		Method       string `json:"code_challenge_method" maxLength:"20"`
		Resource     string `json:"resource" maxLength:"1000"`
		Scope        string `json:"scope,omitempty" maxLength:"1000"`
		State        string `json:"state,omitempty" maxLength:"4000"`

		Allow        bool     `json:"allow"`
		Scopes       []string `json:"scopes,omitempty" nullable:"true" maxItems:"10" doc:"of those it asks for; missing: all of them"`
		Code         string   `json:"code,omitempty" doc:"six digits of the authenticator, for an account that has one"`
		RecoveryCode string   `json:"recovery_code,omitempty" doc:"instead of code"`
	}
}

// ConsentDecided is where the person goes on to.
type ConsentDecided struct {
	Redirect string `json:"redirect" doc:"the program's own address, with the answer"`
}

func (s *server) decideConsent(ctx context.Context, in *decideConsentInput) (ConsentDecided, error) {
	b, v := in.Body, viewerOf(ctx)
	asked, err := s.askedFor(ctx, authserver.Request{
		ClientID: b.ClientID, Redirect: b.Redirect, ResponseType: b.ResponseType, Challenge: b.Challenge, Method: b.Method,
		Resource: b.Resource, Scope: b.Scope, State: b.State,
	})
	if err != nil {
		return ConsentDecided{}, err
	}
	issuer := s.base(requestOf(ctx).raw)
	if !b.Allow {
		return ConsentDecided{asked.Back(issuer, url.Values{"error": {"access_denied"}, "error_description": {"The person refused."}})}, nil
	}
	scopes := asked.Scopes
	if len(b.Scopes) > 0 {
		scopes = slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s != scopeMCP && !slices.Contains(b.Scopes, s) })
	}
	if err := s.Limits.Spend(ctx, quota.SignIn(), v.UserID); err != nil { // codes are guessed here as at a sign-in
		return ConsentDecided{}, err
	}
	code, err := s.Grants.Consent(ctx, v, identity.Consent{
		Client: asked.Client.ID, Name: keyNameOf(asked), Redirect: asked.Redirect, Challenge: asked.Challenge, Scopes: scopes,
		Proof: identity.Proof{Code: b.Code, Recovery: b.RecoveryCode},
	})
	if err != nil {
		return ConsentDecided{}, err
	}
	if err := s.Clients.Used(ctx, asked.Client); err != nil {
		s.Logger.WarnContext(ctx, "a client that was let in will be forgotten within a day", "error", err, "client", asked.Client.ID)
	}
	return ConsentDecided{asked.Back(issuer, url.Values{"code": {code}})}, nil
}

// keyNameOf is what a program's key is called among a person's others: as it calls
// itself, and where it is.
func keyNameOf(asked authserver.Asked) string {
	const most = 80
	_, host := asked.Where()
	host = host[:min(len(host), most/2)] // of ASCII
	room := most - len(host) - len(" ()")
	switch name := []rune(asked.Client.Name); {
	case len(name) == 0:
		return host
	case len(name) > room:
		return string(name[:room-1]) + "… (" + host + ")"
	default:
		return asked.Client.Name + " (" + host + ")"
	}
}
