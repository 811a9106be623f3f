package identity

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"liminal/internal/fault"
)

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type bundle struct {
	*Accounts
	store *memory
	clock *clock
}

func setup(t *testing.T, change ...func(*Options)) bundle {
	t.Helper()
	b := bundle{store: newMemory(), clock: &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}}
	b.store.now = b.clock.now
	o := Options{Key: bytes.Repeat([]byte("k"), 32), Now: b.clock.now, Cost: Cost{Memory: 64, Passes: 1, Threads: 1}}
	for _, c := range change {
		c(&o)
	}
	a, err := NewAccounts(b.store, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Accounts = a
	return b
}

func (b bundle) signUp(t *testing.T, email string) SignIn {
	t.Helper()
	in, err := b.SignUp(t.Context(), NewAccount{Email: email, Password: "correct horse"}, Device{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Requirements: AUTH-01, AUTH-20 (one form of an email)
func TestSignUpStoresAnArgon2idHashAndNormalisesTheEmail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.signUp(t, "  Ada@Example.ORG ")
	u, c, err := b.store.UserByEmail(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if u.ID != in.User.ID || u.Handle != "ada" || u.Role != RoleAdmin {
		t.Errorf("stored user = %+v", u)
	}
	if c.Algorithm != "argon2id" || !strings.HasPrefix(c.Hash, "$argon2id$v=19$m=64,t=1,p=1$") || strings.Contains(c.Hash, "correct") {
		t.Errorf("credential = %+v", c)
	}
	if second := b.signUp(t, "bob@example.org"); second.User.Role != RoleUser {
		t.Errorf("the second account is %s", second.User.Role)
	}
}

func TestSignUpRefusesWithASentence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, n := range map[string]NewAccount{
		"no at sign":        {Email: "ada", Password: "correct horse"},
		"a display name":    {Email: "Ada <ada@example.org>", Password: "correct horse"},
		"short":             {Email: "ada@example.org", Password: "1234567"},
		"long":              {Email: "ada@example.org", Password: strings.Repeat("ab", 200)},
		"the email":         {Email: "ada@example.org", Password: "ADA@example.org"},
		"one character":     {Email: "ada@example.org", Password: "üüüüüüüüüü"},
		"not text":          {Email: "ada@example.org", Password: "\xff\xfe345678901"},
		"control in handle": {Email: "ada@example.org", Password: "correct horse", Handle: "a\x00b"},
	} {
		_, err := b.SignUp(t.Context(), n, Device{})
		if !errors.Is(err, fault.Invalid) || !strings.HasSuffix(fault.From(err).Message, ".") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Requirements: AUTH-02
func TestLogInOpensASessionAndTellsNobodyWhichPartWasWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.signUp(t, "ada@example.org")
	in, err := b.LogIn(t.Context(), SignInTry{Email: "ADA@example.org", Password: "correct horse"}, Device{UserAgent: "test", Address: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	if s := b.store.sessions[in.SessionID]; s.UserAgent != "test" || s.Address != "127.0.0.1" || s.RefreshHash == in.Refresh {
		t.Errorf("session = %+v", s)
	}
	_, wrong := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: "wrong horse!"}, Device{})
	_, unknown := b.LogIn(t.Context(), SignInTry{Email: "eve@example.org", Password: "correct horse"}, Device{})
	_, nonsense := b.LogIn(t.Context(), SignInTry{Email: "not an email", Password: "correct horse"}, Device{})
	for _, err := range []error{wrong, unknown, nonsense} {
		if !errors.Is(err, fault.Unauthorized) || err.Error() != wrong.Error() {
			t.Errorf("got %v, want %v", err, wrong)
		}
	}
}

func TestLogInDoesTheSameWorkForUnknownAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, _, _, ok := parsePHC(b.hasher.decoy)
	if !ok || c != b.hasher.cost {
		t.Fatalf("the decoy costs %+v, real hashes cost %+v", c, b.hasher.cost)
	}
}

// Requirements: AUTH-03
func TestRefreshRotatesAndReuseEndsTheSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.signUp(t, "ada@example.org")
	b.clock.pass(time.Hour)
	second, err := b.Refresh(t.Context(), first.Refresh)
	if err != nil {
		t.Fatal(err)
	}
	b.clock.pass(tradeTolerance)
	if second.Refresh == first.Refresh || second.SessionID != first.SessionID || !second.ExpiresAt.After(first.ExpiresAt) {
		t.Errorf("refresh did not rotate: %+v", second)
	}
	if _, err := b.Refresh(t.Context(), first.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("a used refresh token: %v", err)
	}
	if _, err := b.Refresh(t.Context(), second.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the stolen family lives on: %v", err)
	}
	if _, err := b.Authenticate(t.Context(), second.Access); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the access token of a revoked session works: %v", err)
	}
}

// Requirements: AUTH-04
func TestTokensLastAsLongAsConfigured(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.signUp(t, "ada@example.org")
	if got := in.ExpiresAt.Sub(b.clock.now()); got != 7*24*time.Hour {
		t.Errorf("a session lasts %v", got)
	}
	b.clock.pass(29 * time.Minute)
	if _, err := b.Authenticate(t.Context(), in.Access); err != nil {
		t.Errorf("after 29 minutes: %v", err)
	}
	b.clock.pass(2 * time.Minute)
	if _, err := b.Authenticate(t.Context(), in.Access); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("after 31 minutes: %v", err)
	}
	b.clock.pass(7 * 24 * time.Hour)
	if _, err := b.Refresh(t.Context(), in.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("after 7 days: %v", err)
	}
}

// Requirements: AUTH-05
func TestLogOutEndsBothTokensAtOnce(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(bundle, SignIn) error{
		"by access token":  func(b bundle, in SignIn) error { return b.LogOut(context.Background(), in.Access, "") },
		"by refresh token": func(b bundle, in SignIn) error { return b.LogOut(context.Background(), "", in.Refresh) },
		"by both":          func(b bundle, in SignIn) error { return b.LogOut(context.Background(), in.Access, in.Refresh) },
	} {
		b := setup(t)
		in := b.signUp(t, "ada@example.org")
		if err := leave(b, in); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := b.Authenticate(t.Context(), in.Access); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("%s: access token: %v", name, err)
		}
		if _, err := b.Refresh(t.Context(), in.Refresh); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("%s: refresh token: %v", name, err)
		}
	}
}

// Requirements: AUTH-21
func TestInactiveAccountsCannotSignInNorUseTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.signUp(t, "ada@example.org")
	b.store.deactivate("ada@example.org")
	_, logIn := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: "correct horse"}, Device{})
	_, use := b.Authenticate(t.Context(), in.Access)
	_, refresh := b.Refresh(t.Context(), in.Refresh)
	for name, err := range map[string]error{"login": logIn, "use": use, "refresh": refresh} {
		if !errors.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.signUp(t, "ada@example.org")
	c := claims{Session: in.SessionID, RegisteredClaims: jwt.RegisteredClaims{
		Issuer: issuer, Subject: in.User.ID,
		ExpiresAt: jwt.NewNumericDate(b.clock.now().Add(time.Hour)),
	}}
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, c).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	foreign, _ := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(bytes.Repeat([]byte("x"), 32))
	eternal := c
	eternal.ExpiresAt = nil
	endless, _ := jwt.NewWithClaims(jwt.SigningMethodHS256, eternal).SignedString(bytes.Repeat([]byte("k"), 32))
	for name, token := range map[string]string{
		"empty": "", "noise": "a.b.c", "alg none": unsigned,
		"another key": foreign, "no expiry": endless, "the refresh token": in.Refresh, "the session id": in.SessionID,
	} {
		if _, err := b.Authenticate(t.Context(), token); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHashesAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range cap(b.hasher.slots) {
		b.hasher.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.hasher.hash(ctx, "correct horse"); !errors.Is(err, context.Canceled) {
		t.Errorf("a hash beyond the bound: %v", err)
	}
}

func FuzzParsePHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5")
	f.Add("$argon2id$v=19$m=4294967295,t=99,p=255$$")
	f.Fuzz(func(t *testing.T, phc string) {
		if c, _, _, ok := parsePHC(phc); ok && c.Memory > 1<<20 {
			t.Errorf("%q asks for %d KiB", phc, c.Memory)
		}
	})
}
