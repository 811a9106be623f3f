package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
)

// postbox keeps letters.
type postbox struct {
	mu      sync.Mutex
	letters []Letter
	hold    chan struct{} // not nil: a letter waits for it
}

func (p *postbox) Send(ctx context.Context, l Letter) error {
	if p.hold != nil {
		select {
		case <-p.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letters = append(p.letters, l)
	return nil
}

// withMail is setup with a cache and a postbox.
func withMail(t *testing.T, change ...func(*Options)) (bundle, *memCache, *postbox) {
	t.Helper()
	p := &postbox{}
	b, s := withCache(t, append([]func(*Options){func(o *Options) { o.Mail, o.PublicURL = p, "https://chat.example.org" }}, change...)...)
	return b, s, p
}

func confirming(o *Options) { o.Confirm = true }

// took waits for the mails under way and returns those since the last time.
func (b bundle) took(t *testing.T, p *postbox) []Letter {
	t.Helper()
	b.mailing.Wait() // Close gives up after seconds
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.letters
	p.letters = nil
	return got
}

var linkIn = regexp.MustCompile(`(?m)^https://chat\.example\.org(/[a-z]*)#([A-Z0-9]+)$`)

// token is the token of the one letter that came, to whom and with which link.
func (b bundle) token(t *testing.T, p *postbox, to, path string) string {
	t.Helper()
	got := b.took(t, p)
	if len(got) != 1 || got[0].To != to {
		t.Fatalf("letters = %+v", got)
	}
	m := linkIn.FindStringSubmatch(got[0].Text)
	if m == nil || m[1] != path || strings.Contains(got[0].Subject, m[2]) || strings.Count(got[0].Text, m[2]) != 1 {
		t.Fatalf("letter = %+v", got[0])
	}
	return m[2]
}

// Requirements: AUTH-08, AUTH-09
func TestAResetWorksOnceAndEndsEverySession(t *testing.T) {
	t.Parallel()
	b, s, p := withMail(t)
	in := b.signUp(t, "ada@example.org")
	other := b.logIn(t, "ada@example.org", Device{})
	b.works(t, "before", other, true)
	b.RequestReset(t.Context(), " ADA@example.org")
	token := b.token(t, p, "ada@example.org", "/reset")
	b.RequestReset(t.Context(), "ada@example.org")
	second := b.token(t, p, "ada@example.org", "/reset")
	if strings.Contains(s.all(), token) {
		t.Error("the cache holds the token itself")
	}
	if err := b.CompleteReset(t.Context(), token, "short"); !errors.Is(err, fault.Invalid) {
		t.Errorf("a short password: %v", err)
	}
	if err := b.CompleteReset(t.Context(), token, "another horse"); err != nil {
		t.Fatal(err)
	}
	for what, old := range map[string]SignIn{"one": in, "two": other} {
		b.works(t, what, old, false)
		if _, err := b.Refresh(t.Context(), old.Refresh); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("%s refreshes: %v", what, err)
		}
	}
	for what, token := range map[string]string{"used": token, "of the password before": second, "unknown": "X", "empty": ""} {
		if err := b.CompleteReset(t.Context(), token, "a third horse"); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: "correct horse"}, Device{}); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: "another horse"}, Device{}); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

// Requirements: AUTH-08
func TestAResetRunsOutAfterFifteenMinutes(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t)
	b.signUp(t, "ada@example.org")
	b.RequestReset(t.Context(), "ada@example.org")
	token := b.token(t, p, "ada@example.org", "/reset")
	b.clock.pass(15 * time.Minute)
	if err := b.CompleteReset(t.Context(), token, "another horse"); !errors.Is(err, fault.Invalid) {
		t.Errorf("after 15 minutes: %v", err)
	}
}

// Requirements: AUTH-08
func TestARequestForAResetTellsNothingAndWaitsForNothing(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t)
	b.signUp(t, "ada@example.org")
	p.hold = make(chan struct{})
	b.RequestReset(t.Context(), "ada@example.org") // returns although the mail server does not answer
	b.RequestReset(t.Context(), "nobody@example.org")
	b.RequestReset(t.Context(), "not an address")
	close(p.hold)
	if got := b.took(t, p); len(got) != 1 {
		t.Errorf("letters = %+v", got)
	}
}

func TestMailsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t)
	b.signUp(t, "ada@example.org")
	p.hold = make(chan struct{})
	for range 2 * maxLetters {
		b.RequestReset(t.Context(), "ada@example.org")
	}
	close(p.hold)
	if got := b.took(t, p); len(got) > maxLetters {
		t.Errorf("%d letters", len(got))
	}
}

// Requirements: AUTH-10, AUTH-11
func TestAnAddressIsConfirmedByItsMail(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t, confirming)
	if root := b.signUp(t, "root@example.org"); root.Pending || root.User.Unverified {
		t.Fatalf("the first account waits for a mail: %+v", root)
	}
	if got := b.took(t, p); len(got) != 0 {
		t.Errorf("letters = %+v", got)
	}
	if in := b.signUp(t, "ada@example.org"); !in.Pending || in.Access != "" {
		t.Fatalf("sign-up = %+v", in)
	}
	token := b.token(t, p, "ada@example.org", "/verify")
	in := b.logIn(t, "ada@example.org", Device{})
	if v, err := b.Authenticate(t.Context(), in.Access); err != nil || v.Plan != PlanUnverified {
		t.Errorf("before: %+v, %v", v, err)
	}
	if err := b.ConfirmEmail(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Authenticate(t.Context(), in.Access); err != nil || v.Plan != "free" {
		t.Errorf("after: %+v, %v", v, err)
	}
	if err := b.ConfirmEmail(t.Context(), token); !errors.Is(err, fault.Invalid) {
		t.Errorf("the second time: %v", err)
	}
	b.RequestConfirmation(t.Context(), "ada@example.org")
	if got := b.took(t, p); len(got) != 0 {
		t.Errorf("a confirmed address got %+v", got)
	}
}

// Requirements: AUTH-11
func TestAnUnconfirmedAccountStopsAfterADay(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t, confirming)
	b.signUp(t, "root@example.org")
	b.signUp(t, "ada@example.org")
	b.took(t, p)
	b.clock.pass(24*time.Hour - time.Minute)
	in := b.logIn(t, "ada@example.org", Device{})
	b.works(t, "within the day", in, true)
	b.clock.pass(time.Minute)
	b.works(t, "after the day", in, false)
	_, use := b.Authenticate(t.Context(), in.Access)
	_, refresh := b.Refresh(t.Context(), in.Refresh)
	_, logIn := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: "correct horse"}, Device{})
	for what, err := range map[string]error{"use": use, "refresh": refresh, "login": logIn} {
		if !errors.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "confirmed") {
			t.Errorf("%s: %v", what, err)
		}
	}
	b.RequestConfirmation(t.Context(), "ada@example.org")
	if err := b.ConfirmEmail(t.Context(), b.token(t, p, "ada@example.org", "/verify")); err != nil {
		t.Fatal(err)
	}
	b.logIn(t, "ada@example.org", Device{})
}

// Requirements: AUTH-11
func TestWithoutAMailServerNothingWaitsForAMail(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t)
	b.signUp(t, "root@example.org")
	in := b.signUp(t, "ada@example.org")
	b.clock.pass(25 * time.Hour)
	b.works(t, "a day later", b.refresh(t, in.Refresh), true)
	if got := b.took(t, p); len(got) != 0 {
		t.Errorf("letters = %+v", got)
	}
	if _, err := b.SignUp(t.Context(), NewAccount{Email: "ada@example.org", Password: "another horse"}, Device{}); !errors.Is(err, fault.Conflict) {
		t.Errorf("a known address: %v", err)
	}
}

func TestASignUpTellsNobodyThatAnAddressHasAnAccount(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t, confirming)
	b.signUp(t, "root@example.org")
	fresh := b.signUp(t, "ada@example.org")
	b.took(t, p)
	known := b.signUp(t, "ada@example.org")
	if fresh != known {
		t.Errorf("%+v and %+v", fresh, known)
	}
	got := b.took(t, p)
	if len(got) != 1 || got[0].To != "ada@example.org" || !strings.Contains(got[0].Subject, "already") || strings.Contains(got[0].Text, "#") {
		t.Errorf("letters = %+v", got)
	}
}

func TestLettersAreInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t, confirming)
	b.signUp(t, "root@example.org")
	if _, err := b.SignUp(t.Context(), NewAccount{Email: "ada@example.org", Password: "correct horse", Locale: "de"}, Device{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.RequestReset(t.Context(), "ada@example.org")
	}
	for _, l := range b.took(t, p) {
		if !strings.Contains(l.Text, "Sie") || strings.Contains(l.Text, "you ") {
			t.Errorf("letter = %+v", l)
		}
	}
}

func TestAChangedPasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	in := b.signUp(t, "ada@example.org")
	other := b.logIn(t, "ada@example.org", Device{})
	v := in.User.Viewer(in.SessionID)
	if err := b.ChangePassword(t.Context(), v, "wrong horse", "another horse"); !errors.Is(err, fault.Invalid) {
		t.Errorf("a wrong old password: %v", err)
	}
	b.works(t, "other, before", other, true)
	if err := b.ChangePassword(t.Context(), v, "correct horse", "another horse"); err != nil {
		t.Fatal(err)
	}
	b.works(t, "its own", in, true)
	b.works(t, "other", other, false)
}

// Requirements: AUTH-19
func TestFailedSignInsSlowDownAndLockNobodyOut(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	b.signUp(t, "ada@example.org")
	try := func(password, address string) error {
		_, err := b.LogIn(t.Context(), SignInTry{Email: "ada@example.org", Password: password}, Device{Address: address})
		return err
	}
	for i := range failuresOfAccount { // from many places, as a botnet does
		if err := try("wrong horse", fmt.Sprintf("203.0.113.%d", i)); !errors.Is(err, fault.Unauthorized) {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if err := try("correct horse", "198.51.100.1"); err != nil {
		t.Errorf("the owner is locked out: %v", err)
	}
	if err := try("wrong horse", "203.0.113.1"); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the first of a minute: %v", err)
	}
	err := try("wrong horse", "203.0.113.1")
	if s, ok := fault.From(err).Details.(Slowed); !errors.Is(err, fault.RateLimited) || !ok || s.RetryAfter != 60 {
		t.Errorf("the second of a minute: %v", err)
	}
	b.clock.pass(pace)
	if err := try("correct horse", "198.51.100.1"); err != nil {
		t.Errorf("the owner a minute later: %v", err)
	}
	b.clock.pass(failuresLife)
	for range 3 {
		if err := try("wrong horse", "203.0.113.1"); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("an hour later: %v", err)
		}
	}
}

// Requirements: AUTH-19
func TestASuccessDoesNotForgiveAnAddress(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	b.signUp(t, "eve@example.org")
	from := Device{Address: "2001:db8::1"}
	for i := range failuresOfAddress {
		from.Address = fmt.Sprintf("2001:db8::%x", i+1) // one network
		_, err := b.LogIn(t.Context(), SignInTry{Email: fmt.Sprintf("p%d@example.org", i), Password: "wrong horse"}, from)
		if !errors.Is(err, fault.Unauthorized) {
			t.Fatalf("try %d: %v", i, err)
		}
		if i%50 == 0 {
			b.logIn(t, "eve@example.org", from) // her own account, in between
		}
	}
	b.logIn(t, "eve@example.org", from)
	if _, err := b.LogIn(t.Context(), SignInTry{Email: "p@example.org", Password: "wrong horse"}, from); !errors.Is(err, fault.RateLimited) {
		t.Errorf("the next account: %v", err)
	}
	if _, err := b.LogIn(t.Context(), SignInTry{Email: "p@example.org", Password: "wrong horse"}, Device{Address: "2001:db9::1"}); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("from elsewhere: %v", err)
	}
}

// Requirements: ISO-12
func TestAccountsBelongToATenant(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t, func(o *Options) { o.Tenants = []string{"acme", "globex"} })
	if in := b.signUp(t, "ada@example.org"); in.User.TenantID != "acme" {
		t.Errorf("the default tenant is %q", in.User.TenantID)
	}
	in, err := b.SignUp(t.Context(), NewAccount{Email: "bob@example.org", Password: "correct horse", Tenant: "globex"}, Device{})
	if err != nil || in.User.Viewer("").TenantID != "globex" {
		t.Errorf("bob = %+v, %v", in.User, err)
	}
	if _, err := b.SignUp(t.Context(), NewAccount{Email: "eve@example.org", Password: "correct horse", Tenant: "initech"}, Device{}); !errors.Is(err, fault.Invalid) {
		t.Errorf("an unknown tenant: %v", err)
	}
	for tenant, want := range map[string]fault.Code{"globex": "", "": "", "acme": fault.Unauthorized} {
		_, err := b.LogIn(t.Context(), SignInTry{Email: "bob@example.org", Password: "correct horse", Tenant: tenant}, Device{})
		if fault.CodeOf(err) != want {
			t.Errorf("bob at %q: %v", tenant, err)
		}
	}
}

func TestAClosedServerTakesTheFirstAccountOnly(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t, func(o *Options) { o.SignUpClosed = true })
	b.signUp(t, "ada@example.org")
	if door, err := b.Door(t.Context()); err != nil || door.SignUp {
		t.Errorf("a stranger finds %+v, %v", door, err)
	}
	if _, err := b.SignUp(t.Context(), NewAccount{Email: "bob@example.org", Password: "correct horse"}, Device{}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("the second account: %v", err)
	}
}

func TestAnAccountIsDeletedByItsPassword(t *testing.T) {
	t.Parallel()
	var forgotten string
	b, _ := withCache(t, func(o *Options) {
		o.Forget = func(_ context.Context, userID string) error { forgotten = userID; return nil }
	})
	in := b.signUp(t, "ada@example.org")
	b.works(t, "before", in, true)
	v := in.User.Viewer(in.SessionID)
	if err := b.DeleteAccount(t.Context(), v, "wrong horse"); !errors.Is(err, fault.Invalid) || forgotten != "" {
		t.Errorf("a wrong password: %v", err)
	}
	if err := b.DeleteAccount(t.Context(), v, "correct horse"); err != nil || forgotten != in.User.ID {
		t.Errorf("%v, forgotten %q", err, forgotten)
	}
	b.works(t, "after", in, false)
}

// Requirements: SAFE-08
func TestNoSecretReachesALogAnErrorOrTheCache(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	b, s, p := withMail(t, confirming, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	in := b.signUp(t, "root@example.org")
	b.signUp(t, "ada@example.org")
	confirm := b.token(t, p, "ada@example.org", "/verify")
	b.RequestReset(t.Context(), "root@example.org")
	reset := b.token(t, p, "root@example.org", "/reset")
	_, c, _ := b.store.UserByEmail(t.Context(), "root@example.org")
	secrets := []string{"correct horse", "wrong horse", "another horse", in.Access, in.Refresh, hashRefresh(in.Refresh), confirm, reset, c.Hash, strings.Split(c.Hash, "$")[5]}

	_, authenticated := b.Authenticate(t.Context(), in.Access+"x")
	_, refreshed := b.Refresh(t.Context(), in.Refresh+"x")
	_, logIn := b.LogIn(t.Context(), SignInTry{Email: "root@example.org", Password: "wrong horse"}, Device{})
	_, signUp := b.SignUp(t.Context(), NewAccount{Email: "wrong horse", Password: "wrong horse"}, Device{})
	s.fail(true)
	errs := []error{
		authenticated, refreshed, logIn, signUp,
		b.CompleteReset(t.Context(), reset, "another horse"), b.ConfirmEmail(t.Context(), confirm),
	}
	s.fail(false)
	errs = append(errs, b.CompleteReset(t.Context(), reset+"x", "another horse"), b.ConfirmEmail(t.Context(), reset))
	b.RequestReset(t.Context(), "root@example.org")
	b.took(t, p)
	text := logged.String() + s.all()
	for _, err := range errs {
		if err == nil {
			t.Error("an error was expected")
			continue
		}
		text += err.Error() + fmt.Sprintf(" %+v\n", fault.From(err).Details)
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
}
