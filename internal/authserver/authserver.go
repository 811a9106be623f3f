// Package authserver knows the clients of our OAuth 2.1 authorization server: programs
// that sign their person in instead of being given a key. Anybody may be a client, by
// registering (RFC 7591) or by a document at an address of their own (client ID
// metadata documents), so what a client says of itself is a claim, and where it is
// sent back to is the only fact. All are public clients: they have no secret, and
// prove by PKCE that who fetches a key is who asked for it.
//
// What a person consents to, and the keys that come of it, are internal/identity's.
// It may import cache, fault and id.
package authserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/id"
)

const (
	// MaxUnused is how many clients may have registered that nobody has let in.
	MaxUnused = 5000
	// unusedKept is how long such a client is kept.
	unusedKept = 24 * time.Hour
	// usedKept is longer than what a person consents to lasts.
	usedKept = 366 * 24 * time.Hour

	maxName      = 60   // characters
	maxRedirects = 10   // of a client
	maxAddress   = 1000 // bytes of a redirect or a client_id
	maxState     = 4000 // bytes

	maxDocument    = 32 << 10
	documentWait   = 10 * time.Second
	documentKept   = time.Hour
	documentFailed = time.Minute
	documentsAtOne = 4 // fetches at once: strangers cause them
)

// Client is a program that may ask.
type Client struct {
	ID        string    `json:"id"` // as it sends it: an id of ours, or the address of its document
	Name      string    `json:"name"`
	Redirects []string  `json:"redirects"`
	CreatedAt time.Time `json:"created_at"`
}

// Document is the host that vouches for a client; empty for one that registered,
// for which nobody does.
func (c Client) Document() string {
	if u, err := url.Parse(c.ID); err == nil {
		return u.Host
	}
	return ""
}

// Store keeps clients that registered.
type Store interface {
	// PutClient stores a client. Those that nobody let in and that registered before
	// unused go, and those that were let in before old and not since; more than most
	// that nobody let in are RateLimited.
	PutClient(ctx context.Context, c Client, most int, unused, old time.Time) error
	// RegisteredClient is NotFound if there is none.
	RegisteredClient(ctx context.Context, id string) (Client, error)
	// UseClient records that somebody let it in.
	UseClient(ctx context.Context, id string) error
}

// Documents reads addresses that strangers name; *webaccess.Client does.
type Documents interface {
	Document(ctx context.Context, address string, most int64) ([]byte, error)
}

// Options are what Clients stand on.
type Options struct {
	Store     Store
	Documents Documents        // nil: clients have to register
	Cache     cache.Cache      // of documents
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: it is silent
}

// Clients finds and registers clients. It is safe for concurrent use.
type Clients struct {
	o       Options
	reading chan struct{}
}

// New returns the clients of a store.
func New(o Options) *Clients {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Clients{o: o, reading: make(chan struct{}, documentsAtOne)}
}

// ReadsDocuments reports whether a client_id may be the address of a document.
func (c *Clients) ReadsDocuments() bool { return c.o.Documents != nil }

// refused is a fault with the error code of OAuth it is told by.
func refused(code, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).With(map[string]any{"reason": code})
}

// The error codes of OAuth that are told here.
const (
	InvalidClient   = "invalid_client"
	InvalidMetadata = "invalid_client_metadata"
	InvalidRedirect = "invalid_redirect_uri"
	InvalidRequest  = "invalid_request"
	InvalidScope    = "invalid_scope"
	InvalidTarget   = "invalid_target"
	NoResponseType  = "unsupported_response_type"
)

// Registration is what a client says of itself (RFC 7591), as far as it is read: what
// else it says is no matter here.
type Registration struct {
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
}

// check makes a client of what it says of itself.
func (r Registration) check() (Client, error) {
	c := Client{Name: claimed(r.Name), Redirects: r.Redirects}
	switch {
	case len(r.Redirects) == 0 || len(r.Redirects) > maxRedirects:
		return c, refused(InvalidRedirect, "A client names 1 to %d redirect_uris.", maxRedirects)
	case len(r.Grants) > 0 && !slices.Contains(r.Grants, "authorization_code"):
		return c, refused(InvalidMetadata, "The only grant a client can begin with here is authorization_code.")
	case len(r.Responses) > 0 && !slices.Contains(r.Responses, "code"):
		return c, refused(InvalidMetadata, "The only response_type here is code.")
	}
	for _, redirect := range r.Redirects {
		if err := checkRedirect(redirect); err != nil {
			return c, err
		}
	}
	return c, nil
}

// claimed is a name as it can be shown: on one line, without signs that nobody sees
// or that turn the text around.
func claimed(name string) string {
	shown := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, name)
	runes := []rune(strings.Join(strings.Fields(shown), " "))
	return string(runes[:min(len(runes), maxName)])
}

// Register stores a client that says so of itself.
func (c *Clients) Register(ctx context.Context, r Registration) (Client, error) {
	made, err := r.check()
	if err != nil {
		return Client{}, err
	}
	now := c.o.Now()
	made.ID, made.CreatedAt = id.New(), now
	return made, c.o.Store.PutClient(ctx, made, MaxUnused, now.Add(-unusedKept), now.Add(-usedKept))
}

// Client is the client of an id.
func (c *Clients) Client(ctx context.Context, clientID string) (Client, error) {
	unknown := refused(InvalidClient, "There is no such client here: it has to register first, or to name the https address of its document.")
	switch {
	case id.Valid(clientID):
		found, err := c.o.Store.RegisteredClient(ctx, id.Canonical(clientID))
		if fault.CodeOf(err) == fault.NotFound {
			return Client{}, unknown
		}
		return found, err
	case strings.HasPrefix(clientID, "https://") && c.o.Documents != nil:
		return c.documented(ctx, clientID)
	}
	return Client{}, unknown
}

// Used records that somebody let a client in.
func (c *Clients) Used(ctx context.Context, client Client) error {
	if !id.Valid(client.ID) {
		return nil
	}
	return c.o.Store.UseClient(ctx, client.ID)
}

// documented is the client that its document at an address describes.
func (c *Clients) documented(ctx context.Context, address string) (Client, error) {
	if err := checkDocumentAddress(address); err != nil {
		return Client{}, err
	}
	sum := sha256.Sum256([]byte(address))
	key := "oauth:client:" + hex.EncodeToString(sum[:])
	if raw, ok, err := c.o.Cache.Get(ctx, key); err == nil && ok {
		return remembered(raw)
	}
	client, err := c.read(ctx, address)
	m, life := memo{Client: client}, documentKept
	if err != nil {
		if ctx.Err() != nil || fault.CodeOf(err) == fault.RateLimited {
			return Client{}, err
		}
		m, life = memo{Problem: fault.From(err).Message}, documentFailed
	}
	raw, encodeErr := json.Marshal(m)
	if encodeErr == nil {
		encodeErr = c.o.Cache.Set(ctx, key, raw, life)
	}
	if encodeErr != nil {
		c.o.Logger.WarnContext(ctx, "a client's document could not be cached", "error", encodeErr)
	}
	return client, err
}

// memo is what the cache has of a document.
type memo struct {
	Client  Client `json:"client"`
	Problem string `json:"problem,omitempty"` // why it is no client's
}

func remembered(raw []byte) (Client, error) {
	var m memo
	if err := json.Unmarshal(raw, &m); err != nil {
		return Client{}, fault.From(err)
	}
	if m.Problem != "" {
		return Client{}, refused(InvalidClient, "%s", m.Problem)
	}
	return m.Client, nil
}

// read fetches a document.
func (c *Clients) read(ctx context.Context, address string) (Client, error) {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	default:
		return Client{}, fault.New(fault.RateLimited, "Too many documents of clients are being read. Try again in a moment.")
	}
	ctx, stop := context.WithTimeout(ctx, documentWait)
	defer stop()
	raw, err := c.o.Documents.Document(ctx, address, maxDocument)
	if err != nil {
		return Client{}, refused(InvalidClient, "The document of the client could not be read. %s", fault.From(err).Message)
	}
	var said struct {
		Registration
		ID     string `json:"client_id"`
		Method string `json:"token_endpoint_auth_method"`
		Secret any    `json:"client_secret"`
	}
	switch err := json.Unmarshal(raw, &said); {
	case err != nil:
		return Client{}, refused(InvalidClient, "The document of the client is no JSON object as it has to be.")
	case said.ID != address:
		return Client{}, refused(InvalidClient, "The document of the client names another client_id than its own address.")
	case said.Secret != nil || said.Method != "" && said.Method != "none":
		return Client{}, refused(InvalidClient, "The document of the client asks for a secret or a key; clients here are public, with token_endpoint_auth_method none.")
	}
	client, err := said.check()
	client.ID = address
	return client, err
}

// checkDocumentAddress is what a client_id that is an address must be: one host's
// path, written in one way only.
func checkDocumentAddress(address string) error {
	u, err := url.Parse(address)
	dots := func(part string) bool { return part == "." || part == ".." }
	if err != nil || len(address) > maxAddress || !plainASCII(address) || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" ||
		strings.ContainsAny(address, "#?") || len(u.Path) < 2 || slices.ContainsFunc(strings.Split(u.Path, "/"), dots) {
		return refused(InvalidClient, "A client_id that is an address is https://HOST/PATH, without a query and a fragment.")
	}
	return nil
}

// plainASCII reports whether an address is written without signs that browsers drop
// or that look like others.
func plainASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' || r == '"' || r == '<' || r == '>' })
}
