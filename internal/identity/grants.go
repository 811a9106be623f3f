package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// A program may sign its person in (OAuth 2.1) instead of being given a key: the
// person consents in a session, the program fetches a key of the audience mcp with
// a code, and renews its text hour by hour with a refresh token. A code and a
// refresh token count once: whoever shows one again, its own program or somebody
// who took it, ends the key.
const (
	codeLife = time.Minute // from the consent to its first text
	textLife = time.Hour
	// secretKept is how long it is known of a code or a refresh token that it was used.
	secretKept = 30 * 24 * time.Hour

	secretCode    = "code"
	secretRefresh = "refresh"
	codePrefix    = "limc_"
	refreshPrefix = "limr_"

	grantLife = KeyLife // of a consent: then the person is asked again
)

// Secret is a code or a refresh token of a key. Its text is told once and not kept.
type Secret struct {
	Hash      string // sha256 of its text, hex
	Kind      string // code or refresh
	KeyID     string
	UserID    string
	Client    string // the client_id it was given to
	Redirect  string // of a code: where it was sent
	Challenge string // of a code: PKCE, S256
	ExpiresAt time.Time
	UsedAt    time.Time // zero: it was not
}

// Grants keeps what programs get that sign their person in. Its methods run before
// there is a viewer; only this package calls them.
type Grants interface {
	// CreateGrant is Keys.CreateKey of a key without a text, with the code that it is
	// fetched with: the key stands until the code does.
	CreateGrant(ctx context.Context, k Key, code Secret, most int, forget time.Time) error
	// GrantSecret returns a secret with its key and that key's account, used or ended or
	// not; NotFound if it is unknown.
	GrantSecret(ctx context.Context, hash string) (Secret, Key, User, error)
	// Trade marks a secret as used and gives its key a new text and life, with the
	// secret for the one after; secrets of the key that were used before forget go.
	// traded is false, and nothing changes, if the secret had been used or its key had
	// been ended.
	Trade(ctx context.Context, used string, k Key, next Secret, forget time.Time) (traded bool, err error)
}

// Consent is what a person lets a program do.
type Consent struct {
	Client     string // its client_id
	Name       string // of the key
	Redirect   string // where the code is sent
	Challenge  string // PKCE, S256
	Scopes     []string
	Assistants []string
	Proof      Proof // of the second factor, for an account that has one
}

// Consent makes a key for a program and returns the code that it is fetched with. It
// takes what CreateKey takes.
func (a *Accounts) Consent(ctx context.Context, v Viewer, c Consent) (code string, err error) {
	switch {
	case a.o.Keys == nil || a.o.Grants == nil:
		return "", errNoKeys()
	case v.Grant != nil:
		return "", errScope()
	case slices.Contains(c.Scopes, ScopeAdmin):
		return "", fault.New(fault.Invalid, "No program gets the scope admin by signing in.").With(map[string]any{"field": "scopes"})
	}
	k, err := draftKey(NewKey{Name: c.Name, Scopes: c.Scopes, Assistants: c.Assistants})
	if err != nil {
		return "", err
	}
	u, err := a.keeper(ctx, v)
	if err != nil {
		return "", err
	}
	if err := a.proveForKey(ctx, u, c.Proof); err != nil {
		return "", err
	}
	now := a.now()
	k.ID, k.UserID, k.CreatedAt, k.ExpiresAt, k.Audience = id.New(), u.ID, now, now.Add(grantLife), AudienceMCP
	k.KeyID = k.ID
	s := Secret{
		Kind: secretCode, KeyID: k.ID, UserID: u.ID, Client: c.Client, Redirect: c.Redirect, Challenge: c.Challenge, ExpiresAt: now.Add(codeLife),
	}
	code, s.Hash = newSecretText(codePrefix)
	if err := a.o.Grants.CreateGrant(ctx, k, s, MaxKeys, now.Add(-keyKept)); err != nil {
		return "", err
	}
	a.tellKey(ctx, u, k)
	return code, nil
}

// Tokens are what a program acts with.
type Tokens struct {
	Access  string // a key's text
	Refresh string // for the next ones
	Life    time.Duration
	Scopes  []string
}

// Redemption is how a program fetches its first tokens.
type Redemption struct{ Code, Client, Redirect, Verifier string }

// Redeem trades a code. All that is wrong with one is told in the same words.
func (a *Accounts) Redeem(ctx context.Context, r Redemption) (Tokens, error) {
	return a.trade(ctx, secretCode, codePrefix, r.Code, func(s Secret) bool {
		// OAuth 2.1 needs no redirect here: the verifier shows who asked. One that is
		// sent has to be right.
		return s.Client == r.Client && (r.Redirect == "" || s.Redirect == r.Redirect) && proves(r.Verifier, s.Challenge)
	})
}

// Renew trades a refresh token.
func (a *Accounts) Renew(ctx context.Context, refresh, client string) (Tokens, error) {
	return a.trade(ctx, secretRefresh, refreshPrefix, refresh, func(s Secret) bool { return s.Client == client })
}

// verifier is what PKCE lets a code verifier be (RFC 7636).
var verifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// proves reports whether a verifier is that of a challenge.
func proves(v, challenge string) bool {
	sum := sha256.Sum256([]byte(v))
	made := base64.RawURLEncoding.EncodeToString(sum[:])
	return verifier.MatchString(v) && subtle.ConstantTimeCompare([]byte(made), []byte(challenge)) == 1
}

func errGrant() error {
	return fault.New(fault.Invalid, "This code or refresh token is not valid here, or has ended. Sign in again.").
		With(map[string]any{"reason": "invalid_grant"})
}

// trade gives a key a new text for a code or a refresh token that fits.
func (a *Accounts) trade(ctx context.Context, kind, prefix, text string, fits func(Secret) bool) (Tokens, error) {
	hash, ok := readSecretText(prefix, text)
	if !ok || a.o.Grants == nil || a.o.Keys == nil {
		return Tokens{}, errGrant()
	}
	s, k, u, err := a.o.Grants.GrantSecret(ctx, hash)
	now := a.now()
	switch {
	case errors.Is(err, fault.NotFound):
		return Tokens{}, errGrant()
	case err != nil:
		return Tokens{}, err
	case !s.UsedAt.IsZero():
		return Tokens{}, a.usedTwice(ctx, s)
	case s.Kind != kind || !now.Before(s.ExpiresAt) || k.Ended(now) || k.Audience != AudienceMCP || a.admits(u) != nil || !fits(s):
		return Tokens{}, errGrant()
	}
	k.ExpiresAt = k.CreatedAt.Add(grantLife)
	k.TextUntil = now.Add(min(textLife, k.ExpiresAt.Sub(now)))
	t := Tokens{Life: k.TextUntil.Sub(now), Scopes: k.ScopesOf()}
	next := Secret{Kind: secretRefresh, KeyID: k.ID, UserID: k.UserID, Client: s.Client, ExpiresAt: k.ExpiresAt}
	t.Access, k.Hash = newKeyText(k.ID)
	t.Refresh, next.Hash = newSecretText(refreshPrefix)
	traded, err := a.o.Grants.Trade(ctx, s.Hash, k, next, now.Add(-secretKept))
	switch {
	case err != nil:
		return Tokens{}, err
	case !traded:
		return Tokens{}, a.usedTwice(ctx, s)
	}
	// The text before it ends now: nobody may go by what the cache has of it.
	if err := a.o.Cache.Set(ctx, keyCacheKey(k.ID), []byte(sessionChanged), bypassTTL); err != nil {
		a.o.Logger.WarnContext(ctx, "what the cache has of an access key is out of date for half a minute", "key", k.ID, "error", err)
	}
	return t, nil
}

// usedTwice ends the key of a code or a refresh token that somebody shows again: one
// of the two who have it took it.
func (a *Accounts) usedTwice(ctx context.Context, s Secret) error {
	a.o.Logger.WarnContext(ctx, "a code or refresh token was used twice; its access key is ended", "key", s.KeyID, "kind", s.Kind)
	if err := a.endKey(ctx, s.UserID, s.KeyID); err != nil {
		return err
	}
	return errGrant()
}

func (a *Accounts) endKey(ctx context.Context, userID, keyID string) error {
	err := a.o.Keys.RevokeKey(ctx, userID, keyID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return a.denyKeys(ctx, []string{keyID})
}

// RevokeToken ends the key of an access token or a refresh token. What is neither is
// no error: there is nothing to end.
func (a *Accounts) RevokeToken(ctx context.Context, text string) error {
	if a.o.Grants == nil || a.o.Keys == nil {
		return nil
	}
	if strings.HasPrefix(text, refreshPrefix) {
		hash, ok := readSecretText(refreshPrefix, text)
		if !ok {
			return nil
		}
		s, _, _, err := a.o.Grants.GrantSecret(ctx, hash)
		if err != nil || s.Kind != secretRefresh {
			return unlessMissing(err)
		}
		return a.endKey(ctx, s.UserID, s.KeyID)
	}
	keyID, ok := readKeyText(text)
	if !ok {
		return nil
	}
	k, _, err := a.o.Keys.Key(ctx, keyID)
	if err != nil || !isKeyOf(text, k.Hash) || k.Audience != AudienceMCP {
		return unlessMissing(err)
	}
	return a.endKey(ctx, k.UserID, k.ID)
}

func unlessMissing(err error) error {
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
