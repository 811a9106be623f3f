// Package connect is the accounts that people have elsewhere and let tools act
// with: a person is sent there, comes back with a code, and what it is traded for
// is kept sealed, refreshed when it runs out, and revoked when they say so.
//
// A token is read where a request is made and nowhere else: it is in no history,
// event, log, trace or error (SAFE-08). It goes to the origins its connection.spec
// names, and to no other. It may import fault, check, cache, vault and identity;
// beside internal/oauth, which asks who somebody is, it alone knows oauth2.
package connect

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

const (
	// Patience is how long a person may take elsewhere.
	Patience = 10 * time.Minute
	// early is how long before its end a token is refreshed.
	early = time.Minute
	// timeout bounds one request to a server.
	timeout = 15 * time.Second
)

// Kept is a connection of a person as the store has it.
type Kept struct {
	UserID, Name string
	AccountID    string    // as the server knows the account, with its prefix; empty: nobody asked
	AccountName  string    // as people do
	Sealed       []byte    // tokens
	Scopes       []string  // those that were granted
	Version      int       // rises with each change
	Refused      bool      // the server takes the token no more: the person connects again
	CreatedAt    time.Time // first connected
	UpdatedAt    time.Time
	ExpiresAt    time.Time // of the token; zero: it does not say
}

// Store keeps connections, of each person one under a name.
type Store interface {
	// Connect keeps one in place of what there was. Version is of no matter.
	Connect(ctx context.Context, v identity.Viewer, k Kept) error
	// Connection gives one of the viewer's; NotFound when there is none.
	Connection(ctx context.Context, v identity.Viewer, name string) (Kept, error)
	// Connections lists the viewer's, by name.
	Connections(ctx context.Context, v identity.Viewer) ([]Kept, error)
	// Renew changes the tokens and Refused of one that is at Version still; false
	// when it is not.
	Renew(ctx context.Context, v identity.Viewer, k Kept) (bool, error)
	// Disconnect forgets one and gives what it was; NotFound when there is none.
	Disconnect(ctx context.Context, v identity.Viewer, name string) (Kept, error)
}

// Options are what connections stand on; all but HTTP, Logger and Now are required.
type Options struct {
	Store Store
	Cache cache.Cache // keeps what was begun
	Vault *vault.Vault
	// Spec finds a connection.spec the viewer may use, as it is now; NotFound.
	Spec func(ctx context.Context, v identity.Viewer, name string) (Spec, error)
	// Secret gives a client's secret; NotFound when nobody has set it.
	Secret func(ctx context.Context, name string) (string, error)
	// HTTP reaches servers, past the guard of addresses; nil: nothing is reached.
	HTTP   *http.Client
	Logger *slog.Logger
	Now    func() time.Time
}

// Desk looks after connections. It is safe for concurrent use.
type Desk struct {
	o Options

	mu     sync.Mutex
	renews map[string]*renewal // under way, by person and name
}

type renewal struct {
	done chan struct{}
	err  error
}

// New makes one.
func New(o Options) *Desk {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Desk{o: o, renews: map[string]*renewal{}}
}

// tokens are what is sealed.
type tokens struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
}

func sealedFor(v identity.Viewer, name string) string { return v.UserID + "/" + name }

func (d *Desk) seal(v identity.Viewer, name string, t *oauth2.Token, before tokens) ([]byte, error) {
	kept := tokens{Access: t.AccessToken, Refresh: t.RefreshToken}
	if kept.Refresh == "" {
		kept.Refresh = before.Refresh
	}
	raw, err := json.Marshal(kept)
	return d.o.Vault.Seal(sealedFor(v, name), string(raw)), err
}

func (d *Desk) open(v identity.Viewer, k Kept) (t tokens, err error) {
	raw, err := d.o.Vault.Open(sealedFor(v, k.Name), k.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(raw), &t)
	}
	if err != nil {
		return t, fault.New(fault.Internal, "What is kept of this connection does not open with this installation's key. Connect again.").With(map[string]any{"reason": Again, "connection": k.Name})
	}
	return t, nil
}

// Begin is what a person wants who goes to connect.
type Begin struct {
	Name     string // of the connection.spec
	Redirect string // the URL of our callback, as the server knows it
	Return   string // the path of our client to come back to
	Mark     string // of their session, see identity.Accounts.Mark
	Viewer   identity.Viewer
}

// Begun is where to send them.
type Begun struct {
	URL     string
	State   string // comes back with them
	Browser string // a secret for a cookie of the browser that began
}

type flow struct {
	Begin    Begin
	Verifier string // of PKCE; empty: the server takes none
	Browser  string // hash of Begun.Browser
}

// Start sends a person off: NotFound without a connection.spec of the name, and
// not configured without its client.
func (d *Desk) Start(ctx context.Context, b Begin) (Begun, error) {
	s, c, err := d.ready(ctx, b.Viewer, b.Name)
	if err != nil {
		return Begun{}, err
	}
	begun := Begun{State: rand.Text() + rand.Text(), Browser: rand.Text() + rand.Text()}
	f := flow{Begin: b, Browser: digest(begun.Browser)}
	var options []oauth2.AuthCodeOption
	if s.proves() {
		f.Verifier = oauth2.GenerateVerifier()
		options = append(options, oauth2.S256ChallengeOption(f.Verifier))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		options = append(options, oauth2.SetAuthURLParam(name, s.Params[name]))
	}
	kept, err := json.Marshal(f)
	if err != nil {
		return Begun{}, err
	}
	if err := d.o.Cache.Set(ctx, key(begun.State), kept, Patience); err != nil {
		return Begun{}, err
	}
	begun.URL = s.config(c, b.Redirect).AuthCodeURL(begun.State, options...)
	return begun, nil
}

// ready is a spec with its client, or what is missing.
func (d *Desk) ready(ctx context.Context, v identity.Viewer, name string) (Spec, client, error) {
	s, err := d.o.Spec(ctx, v, name)
	if errors.Is(err, fault.NotFound) {
		return s, client{}, fault.New(fault.NotFound, "There is no connection %q here.", name)
	}
	if err != nil {
		return s, client{}, err
	}
	kept, err := d.o.Secret(ctx, s.Secret)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return s, client{}, err
	}
	c := s.clientOf(kept)
	switch {
	case c.ID == "" || err != nil && s.Secret != "":
		return s, c, notConfigured("The connection %q is not configured: an administrator sets its client first.", title(s, name))
	case d.o.HTTP == nil:
		return s, c, notConfigured("This server reaches no other: whoever runs it sets LIMINAL_WEB_ALLOW.")
	}
	return s, c, nil
}

func title(s Spec, name string) string {
	if s.Title != "" {
		return s.Title
	}
	return name
}

// Callback is what a server sends a person back with.
type Callback struct {
	Name    string
	State   string
	Code    string
	Refusal string // the server's error code; "" when it let them
	Browser string // the cookie's secret
}

// Finish keeps what a person came back with, for whom they began as. A state works
// once, within Patience, and only in the browser that began. stands says whether
// the session still does that began. Begin is also returned with errors, as far as
// it is known.
func (d *Desk) Finish(ctx context.Context, c Callback, stands func(ctx context.Context, userID, mark string) error) (Begin, error) {
	f, err := d.take(ctx, c)
	if err != nil {
		return Begin{}, err
	}
	b := f.Begin
	if err := stands(ctx, b.Viewer.UserID, b.Mark); err != nil {
		return b, err
	}
	switch {
	case c.Refusal == "access_denied", c.Refusal == "user_cancelled_login", c.Refusal == "user_cancelled_authorize":
		return b, refused("denied", nil, "You did not allow the connection there. Begin again if that was by mistake.")
	case c.Refusal != "":
		return b, refused("server_refused", nil, "The server refused the connection. Begin again; if it stays, tell whoever runs this server.")
	case c.Code == "":
		return b, refused("no_code", nil, "The server sent no code. Begin again.")
	}
	s, client, err := d.ready(ctx, b.Viewer, b.Name)
	if err != nil {
		return b, err
	}
	return b, d.keep(ctx, s, client, f, c.Code)
}

func (d *Desk) take(ctx context.Context, c Callback) (f flow, err error) {
	kept, ok, err := d.o.Cache.Take(ctx, key(c.State))
	if err != nil {
		return f, err
	}
	if !ok || json.Unmarshal(kept, &f) != nil || f.Begin.Name != c.Name {
		return flow{}, refused("state_unknown", nil, "This connection was made already or took longer than %d minutes. Begin again.", int(Patience.Minutes()))
	}
	if subtle.ConstantTimeCompare([]byte(digest(c.Browser)), []byte(f.Browser)) != 1 {
		return flow{}, refused("other_browser", nil, "This connection was begun in another browser. Begin again in this one.")
	}
	return f, nil
}

// keep trades the code and keeps what came of it.
func (d *Desk) keep(ctx context.Context, s Spec, c client, f flow, code string) error {
	var options []oauth2.AuthCodeOption
	if f.Verifier != "" {
		options = append(options, oauth2.VerifierOption(f.Verifier))
	}
	within, cancel := d.reach(ctx)
	defer cancel()
	t, err := s.config(c, f.Begin.Redirect).Exchange(within, code, options...)
	if err != nil {
		return d.untraded(err)
	}
	v, name := f.Begin.Viewer, f.Begin.Name
	k := Kept{UserID: v.UserID, Name: name, ExpiresAt: t.Expiry, Scopes: granted(t, s)}
	if k.AccountID, k.AccountName, err = d.whose(within, s, t.AccessToken); err != nil {
		return err
	}
	if k.Sealed, err = d.seal(v, name, t, tokens{}); err != nil {
		return err
	}
	return d.o.Store.Connect(ctx, v, k)
}

func refused(reason string, cause error, sentence string, args ...any) error {
	return fault.Wrap(fault.Conflict, cause, sentence, args...).With(map[string]any{"reason": reason})
}

func key(state string) string { return "connect:flow:" + digest(state) }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
