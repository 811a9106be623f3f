package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
)

const (
	// KeyLife is how long an access key lasts when nobody says how long.
	KeyLife = 90 * 24 * time.Hour
	// MaxKeyLife is the longest a key may last.
	MaxKeyLife = 366 * 24 * time.Hour
	// MaxKeys is how many keys a person may have at a time.
	MaxKeys = 50
	// keyTouch is how exactly it is known when a key was used last.
	keyTouch = time.Minute
	// keyKept is how long the row of a key that has ended is kept.
	keyKept = 90 * 24 * time.Hour

	maxKeyName  = 80
	maxKeyLists = 50 // assistants, and patterns of tools
)

// Key is an access key: how a program acts for a person (CLAUDE-09 speaks of
// the service's callers). Its text is shown once and not kept.
type Key struct {
	ID     string
	UserID string
	Name   string // what it is for, in its person's words
	Hash   string // sha256 of its text, hex
	Grant
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // to a minute; zero: never
	RevokedAt time.Time // zero while it stands
	// TextUntil is until when its text opens, of a key whose text is renewed
	// (grants.go); zero: as long as the key lasts.
	TextUntil time.Time
}

// Ended reports whether a key opens nothing any more.
func (k Key) Ended(now time.Time) bool { return !k.RevokedAt.IsZero() || !now.Before(k.ExpiresAt) }

// Keys keeps access keys. Its methods run before there is a viewer or for the
// person themselves; only this package calls them.
type Keys interface {
	// CreateKey stores a key and an entry in the audit log. More than most that
	// have not ended are a Conflict. Rows of keys that ended before forget go.
	CreateKey(ctx context.Context, k Key, most int, forget time.Time) error
	// Key returns a key with its account, ended or not; NotFound if unknown.
	Key(ctx context.Context, id string) (Key, User, error)
	// ListKeys returns a person's keys, the latest first, those that ended too.
	ListKeys(ctx context.Context, userID string) ([]Key, error)
	// RevokeKey ends one of a person's keys, with an entry in the audit log.
	// NotFound if they have none of that id; one that has ended is no error.
	RevokeKey(ctx context.Context, userID, id string) error
	// RevokeKeys ends all of a person's keys and returns their ids. by is who
	// does it.
	RevokeKeys(ctx context.Context, by, userID string) (ended []string, err error)
	// TouchKey records that a key was used.
	TouchKey(ctx context.Context, id string) error
}

// What an entry of the audit log says of keys. The words are stored.
const (
	KeyMade  = "key.created"
	KeyEnded = "key.revoked"

	ConnectionMade  = "connection.made"
	ConnectionEnded = "connection.ended"

	WebhookMade    = "webhook.created"
	WebhookChanged = "webhook.changed"
	WebhookEnded   = "webhook.removed"
)

// NewKey is what a person asks for.
type NewKey struct {
	Name       string
	Scopes     []string // words of Scopes, and "tools:files.*"
	Assistants []string // ids or names of workflows; empty: all they may use
	Life       time.Duration
	Proof      Proof // of the second factor, for an account that has one
}

func errNoKeys() error {
	return fault.New(fault.Conflict, "This server keeps no access keys.")
}

// CreateKey makes a key in a session of a viewer and returns its text, which
// nobody can read again. It outlives the session and the password, so it takes
// what a second factor takes: a recent sign-in, a confirmed address, and a code
// where there is a factor. Its person is told by mail.
func (a *Accounts) CreateKey(ctx context.Context, v Viewer, n NewKey) (k Key, text string, err error) {
	if a.o.Keys == nil {
		return Key{}, "", errNoKeys()
	}
	if v.Grant != nil { // a key makes no keys, whatever the routes say
		return Key{}, "", errScope()
	}
	if k, err = draftKey(n); err != nil {
		return Key{}, "", err
	}
	u, err := a.keeper(ctx, v)
	if err != nil {
		return Key{}, "", err
	}
	if k.Has(ScopeAdmin) && u.Role != RoleAdmin {
		return Key{}, "", fault.New(fault.Forbidden, "Only an administrator's key has the scope admin.").With(map[string]any{"field": "scopes"})
	}
	if err := a.proveForKey(ctx, u, n.Proof); err != nil {
		return Key{}, "", err
	}
	now := a.now()
	k.ID, k.UserID, k.CreatedAt, k.ExpiresAt = id.New(), u.ID, now, now.Add(cmp.Or(n.Life, KeyLife))
	k.KeyID = k.ID
	text, k.Hash = newKeyText(k.ID)
	if err := a.o.Keys.CreateKey(ctx, k, MaxKeys, now.Add(-keyKept)); err != nil {
		return Key{}, "", err
	}
	a.tellKey(ctx, u, k)
	return k, text, nil
}

// proveForKey asks for the second factor of an account that has one.
func (a *Accounts) proveForKey(ctx context.Context, u User, p Proof) error {
	f, err := a.factorOf(ctx, u)
	if err != nil || f.EnabledAt.IsZero() {
		return err
	}
	if p.empty() {
		return fault.New(fault.Invalid, "This account has a second factor: an access key needs a code of the authenticator.").
			With(map[string]any{"field": "code", "reason": "code_needed"})
	}
	if _, err := a.prove(ctx, f, p); err != nil {
		return stays(err)
	}
	return nil
}

var (
	toolPattern = regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?$`)
	assistant   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,119}$`)
)

// draftKey checks what was asked for. A scope that is not known is refused: a
// key must not be thought to open what it does not, nor the other way round.
func draftKey(n NewKey) (k Key, err error) {
	invalid := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With(map[string]any{"field": field})
	}
	k.Name = strings.TrimSpace(n.Name)
	switch {
	case k.Name == "" || utf8.RuneCountInString(k.Name) > maxKeyName || strings.ContainsFunc(k.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Key{}, invalid("name", "Say in 1 to %d characters what the access key is for.", maxKeyName)
	case n.Life < 0 || n.Life > MaxKeyLife || n.Life != 0 && n.Life < time.Hour:
		return Key{}, invalid("expires_in_days", "An access key lasts 1 to %d days.", int(MaxKeyLife.Hours()/24))
	case len(n.Assistants) > maxKeyLists:
		return Key{}, invalid("assistants", "An access key names at most %d assistants.", maxKeyLists)
	}
	all := false
	for _, s := range n.Scopes {
		pattern, narrowed := strings.CutPrefix(s, ScopeTools+":")
		switch {
		case narrowed && !toolPattern.MatchString(pattern):
			return Key{}, invalid("scopes", "%q is no pattern of tools; write tools:files.* or tools:files.write_v1.", s)
		case narrowed:
			s, k.Tools = ScopeTools, append(k.Tools, pattern)
		case !slices.Contains(Scopes(), s):
			return Key{}, invalid("scopes", "There is no scope %q. There are: %s, and tools:PREFIX.* for some tools.", s, strings.Join(Scopes(), ", "))
		case s == ScopeTools:
			all = true
		}
		if !slices.Contains(k.Scopes, s) {
			k.Scopes = append(k.Scopes, s)
		}
	}
	if len(k.Scopes) == 0 {
		return Key{}, invalid("scopes", "An access key needs a scope; without one it opens nothing. There are: %s.", strings.Join(Scopes(), ", "))
	}
	if all {
		k.Tools = nil
	}
	if len(k.Tools) > maxKeyLists {
		return Key{}, invalid("scopes", "An access key has at most %d patterns of tools.", maxKeyLists)
	}
	for _, name := range n.Assistants {
		if !assistant.MatchString(name) {
			return Key{}, invalid("assistants", "%q is no id and no name of an assistant.", name)
		}
		k.Assistants = append(k.Assistants, name)
	}
	return k, nil
}

// ScopesOf are the scopes of a key as they are asked for and shown.
func (g *Grant) ScopesOf() []string {
	var list []string
	for _, s := range g.Scopes {
		if s != ScopeTools || len(g.Tools) == 0 {
			list = append(list, s)
			continue
		}
		for _, pattern := range g.Tools {
			list = append(list, ScopeTools+":"+pattern)
		}
	}
	return list
}

// ListKeys returns a viewer's keys, the latest first.
func (a *Accounts) ListKeys(ctx context.Context, v Viewer) ([]Key, error) {
	if a.o.Keys == nil {
		return nil, nil
	}
	return a.o.Keys.ListKeys(ctx, v.UserID)
}

// RevokeKey ends one of a viewer's keys, at once.
func (a *Accounts) RevokeKey(ctx context.Context, v Viewer, keyID string) error {
	if a.o.Keys == nil {
		return errNoKeys()
	}
	if err := a.o.Keys.RevokeKey(ctx, v.UserID, keyID); err != nil {
		return err
	}
	return a.denyKeys(ctx, []string{keyID})
}

// revokeKeys ends all keys of an account.
func (a *Accounts) revokeKeys(ctx context.Context, by, userID string) error {
	if a.o.Keys == nil {
		return nil
	}
	ended, err := a.o.Keys.RevokeKeys(ctx, by, userID)
	return errors.Join(err, a.denyKeys(ctx, ended))
}

// cachedKey is what the cache holds of a key that stands. As of a session, an
// end lies where it lay, and outlasts whoever read the store before.
type cachedKey struct {
	Hash      string    `json:"hash"`
	Viewer    Viewer    `json:"viewer"`
	Expires   time.Time `json:"expires"`
	ConfirmBy time.Time `json:"confirm_by,omitzero"`
	TextUntil time.Time `json:"text_until,omitzero"`

	read *Key // as the store has it; nil: the cache had it
}

func keyCacheKey(keyID string) string { return "auth:key:" + keyID }

// denyKeys makes everybody refuse keys that ended.
func (a *Accounts) denyKeys(ctx context.Context, ids []string) error {
	var errs []error
	for _, k := range ids {
		errs = append(errs, a.o.Cache.Set(ctx, keyCacheKey(k), []byte(sessionEnded), 2*sessionCacheTTL))
	}
	return errors.Join(errs...)
}

// refreshKeys makes a change of an account count at once with its keys.
func (a *Accounts) refreshKeys(ctx context.Context, userID string) error {
	if a.o.Keys == nil {
		return nil
	}
	list, err := a.o.Keys.ListKeys(ctx, userID)
	errs := []error{err}
	for _, k := range list {
		if !k.Ended(a.now()) {
			errs = append(errs, a.o.Cache.Set(ctx, keyCacheKey(k.ID), []byte(sessionChanged), bypassTTL))
		}
	}
	return errors.Join(errs...)
}

// errKey tells a key that is unknown, wrong, ended or its account's from none
// of the others: who tries keys learns nothing.
func errKey() error {
	return fault.New(fault.Unauthorized, "This access key is not valid, or has ended. Make another in the settings.").
		With(map[string]any{"reason": "key_invalid"})
}

// authenticateKey says who holds a key, where keys of an audience are taken too. As
// with a session, an end counts at once, and what others change in the store within
// half a minute.
func (a *Accounts) authenticateKey(ctx context.Context, text, audience string) (Viewer, error) {
	keyID, ok := readKeyText(text)
	if !ok || a.o.Keys == nil {
		return Viewer{}, errKey()
	}
	m, err := a.readKey(ctx, keyID)
	switch {
	case err != nil:
		return Viewer{}, err
	case !isKeyOf(text, m.Hash) || !a.now().Before(m.Expires) || m.Viewer.Grant == nil:
		return Viewer{}, errKey()
	case !m.TextUntil.IsZero() && !a.now().Before(m.TextUntil):
		return Viewer{}, errKey()
	case m.Viewer.Grant.Audience != "" && m.Viewer.Grant.Audience != audience:
		return Viewer{}, errKey()
	case !m.ConfirmBy.IsZero() && !a.now().Before(m.ConfirmBy):
		return Viewer{}, errUnconfirmed()
	}
	if m.read != nil {
		a.usedKey(ctx, *m.read)
	}
	return m.Viewer, nil
}

// readKey returns a key as the cache has it, or else as the store does.
func (a *Accounts) readKey(ctx context.Context, keyID string) (m cachedKey, err error) {
	raw, ok, err := a.o.Cache.Get(ctx, keyCacheKey(keyID))
	switch {
	case err != nil:
		a.o.Logger.WarnContext(ctx, "the cached access key cannot be read; the store is asked", "error", err)
	case ok && string(raw) == sessionEnded:
		return m, errKey()
	case ok && string(raw) != sessionChanged && json.Unmarshal(raw, &m) == nil:
		return m, nil
	}
	k, u, err := a.liveKey(ctx, keyID)
	if err != nil {
		return cachedKey{}, err
	}
	m = cachedKey{Hash: k.Hash, Viewer: u.Viewer("").With(&k.Grant), Expires: k.ExpiresAt, TextUntil: k.TextUntil, read: &k}
	if a.unconfirmed(u) {
		m.Viewer.Plan, m.ConfirmBy = PlanUnverified, u.CreatedAt.Add(confirmWithin)
	}
	if !ok {
		a.keepKey(ctx, keyID, m)
	}
	return m, nil
}

func (a *Accounts) keepKey(ctx context.Context, keyID string, m cachedKey) {
	raw, err := json.Marshal(m)
	if err == nil {
		_, err = a.o.Cache.Add(ctx, keyCacheKey(keyID), raw, sessionCacheTTL)
	}
	if err != nil {
		a.o.Logger.WarnContext(ctx, "an access key could not be cached", "error", err)
	}
}

// usedKey notes that a key opened something.
func (a *Accounts) usedKey(ctx context.Context, k Key) {
	if a.now().Sub(k.UsedAt) < keyTouch {
		return
	}
	if err := a.o.Keys.TouchKey(ctx, k.ID); err != nil {
		a.o.Logger.WarnContext(ctx, "when an access key was used is not kept", "key", k.ID, "error", err)
	}
}

// liveKey returns a key that stands and whose user may use it.
func (a *Accounts) liveKey(ctx context.Context, keyID string) (Key, User, error) {
	k, u, err := a.o.Keys.Key(ctx, keyID)
	switch {
	case errors.Is(err, fault.NotFound):
		return Key{}, User{}, errKey()
	case err != nil:
		return Key{}, User{}, err
	case k.Ended(a.now()) || !u.Active:
		return Key{}, User{}, errKey()
	}
	return k, u, a.admits(u)
}
