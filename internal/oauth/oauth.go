// Package oauth lets people sign in with an account they have elsewhere: at
// any OpenID Connect provider, or at GitHub (AUTH-16).
//
// It asks a provider who somebody is and believes the answer only when the
// state, the browser, PKCE, the nonce, the issuer, the audience and the
// signature are what they should be. Whose account that is here, internal/identity
// decides. It may import fault, cache and identity; go-oidc and oauth2 are
// known to no other package.
package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

const (
	// Patience is how long a person may take at the provider.
	Patience = 10 * time.Minute
	// timeout bounds one request to a provider.
	timeout = 10 * time.Second
)

// Options are what the providers stand on.
type Options struct {
	Cache cache.Cache      // keeps what was begun; required
	HTTP  *http.Client     // to reach providers; nil: one with a timeout of 10 seconds
	Now   func() time.Time // time.Now when nil
}

// Providers are the places people may sign in with. It is safe for concurrent
// use, and reaches no provider before a person wants to go there.
type Providers struct {
	list  []Listed
	kinds map[string]kind
	cache cache.Cache
}

// Listed is a provider as a page offers it.
type Listed struct {
	Name  string // as in addresses: "google", "github", "oidc:acme"
	Label string // as people read it
}

// kind is how a sort of provider is spoken to.
type kind interface {
	// config is how to send people there and to trade what they bring back.
	config(ctx context.Context) (*oauth2.Config, error)
	// person says whose token it is. nonce is the one their sign-in began with.
	person(ctx context.Context, token *oauth2.Token, nonce string) (identity.External, error)
	// issuer is what the provider calls itself in answers; "" when it does not.
	issuer() string
	// with is ctx with the HTTP client to reach the provider by.
	with(ctx context.Context) context.Context
}

// New returns the providers of clients, as Read returns them.
func New(clients []Client, o Options) *Providers {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: timeout}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Providers{kinds: map[string]kind{}, cache: o.Cache}
	for _, c := range clients {
		p.list = append(p.list, Listed{Name: c.Name, Label: c.Label})
		if c.Kind == KindGitHub {
			p.kinds[c.Name] = &gitHub{client: c, http: o.HTTP}
		} else {
			p.kinds[c.Name] = newOpenID(c, o.HTTP, o.Now)
		}
	}
	return p
}

// List returns the providers in the order of their file.
func (p *Providers) List() []Listed { return p.list }

// Begin is what somebody wants who goes to a provider.
type Begin struct {
	Provider string
	Redirect string          // the URL of our callback, as the provider knows it
	Return   string          // the path of our client to come back to
	Tenant   string          // asked for by the person; "" for the default
	Viewer   identity.Viewer // zero: sign in; else: link the provider to this account
	Stranger bool            // has not shown that the first account is theirs to make
}

// Begun is where to send them.
type Begun struct {
	URL     string
	State   string // comes back with them
	Browser string // a secret for a cookie of the browser that began
}

// flow is what is remembered between the two; the state is its key.
type flow struct {
	Begin    Begin
	Nonce    string
	Verifier string // of PKCE
	Browser  string // hash of Begun.Browser
}

// Start begins a sign-in. A provider that does not exist is NotFound; one
// that cannot be reached is a server_error whose sentence says so.
func (p *Providers) Start(ctx context.Context, b Begin) (Begun, error) {
	k, err := p.kind(b.Provider)
	if err != nil {
		return Begun{}, err
	}
	c, err := k.config(ctx)
	if err != nil {
		return Begun{}, err
	}
	begun := Begun{State: rand.Text() + rand.Text(), Browser: rand.Text() + rand.Text()}
	f := flow{Begin: b, Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Browser: digest(begun.Browser)}
	kept, err := json.Marshal(f)
	if err != nil {
		return Begun{}, err
	}
	if err := p.cache.Set(ctx, key(begun.State), kept, Patience); err != nil {
		return Begun{}, err
	}
	c.RedirectURL = b.Redirect
	begun.URL = c.AuthCodeURL(begun.State, oauth2.S256ChallengeOption(f.Verifier), oauth2.SetAuthURLParam("nonce", f.Nonce))
	return begun, nil
}

// Callback is what a provider sends a person back with.
type Callback struct {
	Provider string
	State    string
	Code     string
	Refusal  string // the provider's error code; "" when it let them in
	Issuer   string // who the answer says it is from (RFC 9207); "" when it does not
	Browser  string // the cookie's secret
}

// Finish says who came back, and what they had begun. A state works once,
// within Patience, and only in the browser that began (AUTH-16). Begin is also
// returned with errors, as far as it is known.
func (p *Providers) Finish(ctx context.Context, c Callback) (identity.External, Begin, error) {
	k, err := p.kind(c.Provider)
	if err != nil {
		return identity.External{}, Begin{}, err
	}
	f, err := p.takeFlow(ctx, c)
	if err != nil {
		return identity.External{}, Begin{}, err
	}
	if err := c.answered(k.issuer()); err != nil {
		return identity.External{}, f.Begin, err
	}
	who, err := p.ask(ctx, k, f, c.Code)
	who.Provider = c.Provider
	return who, f.Begin, err
}

// takeFlow returns the flow of a state, once.
func (p *Providers) takeFlow(ctx context.Context, c Callback) (f flow, err error) {
	kept, ok, err := p.cache.Take(ctx, key(c.State))
	if err != nil {
		return f, err
	}
	if !ok || json.Unmarshal(kept, &f) != nil || f.Begin.Provider != c.Provider {
		return flow{}, refused("state_unknown", nil, "This sign-in was used already or took longer than %d minutes. Begin again.", int(Patience.Minutes()))
	}
	if subtle.ConstantTimeCompare([]byte(digest(c.Browser)), []byte(f.Browser)) != 1 {
		return flow{}, refused("other_browser", nil, "This sign-in began in another browser. Begin again in this one.")
	}
	return f, nil
}

// answered reports whether the provider let the person in at all.
func (c Callback) answered(issuer string) error {
	switch {
	case c.Issuer != "" && issuer != "" && c.Issuer != issuer:
		return refused("other_issuer", nil, "The answer is from another provider than the one you went to. Begin again.")
	case c.Refusal == "access_denied":
		return refused("denied", nil, "You did not allow the sign-in there. Begin again if that was by mistake.")
	case c.Refusal != "":
		return refused("provider_refused", nil, "The provider refused the sign-in. Begin again; if it stays, tell whoever runs this server.")
	case c.Code == "":
		return refused("no_code", nil, "The provider sent no code. Begin again.")
	}
	return nil
}

func (p *Providers) ask(ctx context.Context, k kind, f flow, code string) (identity.External, error) {
	c, err := k.config(ctx)
	if err != nil {
		return identity.External{}, err
	}
	c.RedirectURL = f.Begin.Redirect
	token, err := exchange(ctx, k, c, code, f.Verifier)
	if err != nil {
		return identity.External{}, err
	}
	return k.person(ctx, token, f.Nonce)
}

func (p *Providers) kind(name string) (kind, error) {
	if k, ok := p.kinds[name]; ok {
		return k, nil
	}
	return nil, fault.New(fault.NotFound, "Nobody can sign in with %q here.", name)
}

// refused is why somebody is not believed; reason is for programs.
func refused(reason string, cause error, sentence string, args ...any) error {
	return fault.Wrap(fault.Unauthorized, cause, sentence, args...).With(map[string]any{"reason": reason})
}

func key(state string) string { return "auth:oauth:" + digest(state) }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
