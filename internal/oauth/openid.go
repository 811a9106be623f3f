package oauth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"liminal/internal/identity"
)

// pause is how long a provider that could not be reached is left alone, so
// that people who wait for it do not wait one after another.
const pause = 3 * time.Second

// openID is a provider that speaks OpenID Connect.
type openID struct {
	client Client
	http   *http.Client
	now    func() time.Time

	turn   chan struct{} // holds one token: whoever has it reads and writes the rest
	found  *discovered
	failed time.Time
	cause  error
}

// discovered is what a provider says of itself, kept from the first time it
// could be asked.
type discovered struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
}

func newOpenID(c Client, h *http.Client, now func() time.Time) *openID {
	o := &openID{client: c, http: h, now: now, turn: make(chan struct{}, 1)}
	o.turn <- struct{}{}
	return o
}

func (o *openID) issuer() string { return o.client.Issuer }

func (o *openID) with(ctx context.Context) context.Context { return oidc.ClientContext(ctx, o.http) }

// discover asks the provider for its addresses and keys, until it answered
// once: one that is away when this server starts is found later.
func (o *openID) discover(ctx context.Context) (*discovered, error) {
	select {
	case <-o.turn:
		defer func() { o.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if o.found != nil {
		return o.found, nil
	}
	if !o.failed.IsZero() && o.now().Before(o.failed.Add(pause)) {
		return nil, away(o.cause)
	}
	p, err := oidc.NewProvider(o.with(ctx), o.client.Issuer)
	if err != nil {
		if ctx.Err() == nil {
			o.failed, o.cause = o.now(), err
		}
		return nil, away(err)
	}
	o.found = &discovered{provider: p, verifier: p.VerifierContext(o.with(ctx), &oidc.Config{ClientID: o.client.ID, Now: o.now})}
	return o.found, nil
}

func (o *openID) config(ctx context.Context) (*oauth2.Config, error) {
	d, err := o.discover(ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{
		ClientID: o.client.ID, ClientSecret: string(o.client.Secret),
		Endpoint: d.provider.Endpoint(), Scopes: o.client.Scopes,
	}, nil
}

// claims are what we want to know of a person.
type claims struct {
	Subject  string `json:"sub"`
	Email    string `json:"email"`
	Verified truth  `json:"email_verified"`
	Name     string `json:"name"`
	Username string `json:"preferred_username"`
	Locale   string `json:"locale"`
}

// truth is a boolean that some providers write as a string.
type truth bool

// UnmarshalJSON implements json.Unmarshaler; what is not true is false.
func (t *truth) UnmarshalJSON(b []byte) error {
	*t = truth(string(b) == "true" || string(b) == `"true"`)
	return nil
}

func (o *openID) person(ctx context.Context, token *oauth2.Token, nonce string) (identity.External, error) {
	d, err := o.discover(ctx)
	if err != nil {
		return identity.External{}, err
	}
	c, err := o.claims(ctx, d, token, nonce)
	if err != nil {
		return identity.External{}, err
	}
	if c.Email == "" {
		if c, err = o.more(ctx, d, token, c); err != nil {
			return identity.External{}, err
		}
	}
	handle := c.Name
	if handle == "" {
		handle = c.Username
	}
	return identity.External{UID: c.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Handle: handle, Locale: c.Locale}, nil
}

// claims reads the ID token, which proves itself.
func (o *openID) claims(ctx context.Context, d *discovered, token *oauth2.Token, nonce string) (c claims, err error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return c, refused("token_missing", nil, "The provider did not say who you are. Tell whoever runs this server.")
	}
	t, err := d.verifier.Verify(o.with(ctx), raw)
	if err != nil {
		return c, untrue(err)
	}
	if subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(nonce)) != 1 {
		return c, untrue(errNonce)
	}
	if t.AccessTokenHash != "" {
		if err := t.VerifyAccessToken(token.AccessToken); err != nil {
			return c, untrue(err)
		}
	}
	if err := t.Claims(&c); err != nil || c.Subject == "" {
		return c, untrue(err)
	}
	return c, nil
}

// more asks the provider for what the ID token leaves out.
func (o *openID) more(ctx context.Context, d *discovered, token *oauth2.Token, c claims) (claims, error) {
	if d.provider.UserInfoEndpoint() == "" {
		return c, nil
	}
	info, err := d.provider.UserInfo(o.with(ctx), oauth2.StaticTokenSource(token))
	if err != nil {
		return c, away(err)
	}
	var said claims
	if err := info.Claims(&said); err != nil || said.Subject != c.Subject {
		return c, untrue(errSubject)
	}
	return said, nil
}
