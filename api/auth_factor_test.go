package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/store"
)

// hands is a clock that tests move.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// securedWorld is a world whose accounts may have second factors and live
// elsewhere.
type securedWorld struct {
	*world
	clock *hands
}

func newSecuredWorld(t *testing.T, change ...func(*Options)) *securedWorld {
	t.Helper()
	return tunedWorld(t, func(*identity.Options) {}, change...)
}

// tunedWorld is newSecuredWorld with other accounts.
func tunedWorld(t *testing.T, tune func(*identity.Options), change ...func(*Options)) *securedWorld {
	t.Helper()
	clock := &hands{at: time.Now().Truncate(30 * time.Second)}
	accounts := func(o *Options) {
		s, _ := o.Conversations.(*store.Store)
		with := identity.Options{
			Key: bytes.Repeat([]byte("k"), 32), Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1}, Now: clock.now,
			Cache: inproc.NewCache(0), Factors: s, FactorKey: bytes.Repeat([]byte("f"), 32), Providers: s, Administration: s, Keys: s, Grants: s,
		}
		tune(&with)
		a, err := identity.NewAccounts(s, with)
		if err != nil {
			t.Fatal(err)
		}
		o.sign(a)
		o.Factors, o.Elsewhere = a, a
	}
	return &securedWorld{world: newWorld(t, append([]func(*Options){accounts}, change...)...), clock: clock}
}

// code is the authenticator's, at the next step: each counts once.
func (w *securedWorld) code(secret string) string {
	w.Helper()
	w.clock.pass(30 * time.Second)
	code, err := totp.GenerateCode(secret, w.clock.now())
	w.must(err)
	return code
}

// wrong is a code that is none of the authenticator's about now.
func (w *securedWorld) wrong(secret string) string {
	w.Helper()
	var right []string
	for step := -2; step <= 2; step++ {
		code, err := totp.GenerateCode(secret, w.clock.now().Add(time.Duration(step)*30*time.Second))
		w.must(err)
		right = append(right, code)
	}
	for n := 0; ; n++ {
		if code := fmt.Sprintf("%06d", n); !slices.Contains(right, code) {
			return code
		}
	}
}

// enrol gives ada a second factor, and returns her new session, the secret and
// her recovery codes.
func (w *securedWorld) enrol(ada *person) (again *person, secret string, recovery []string) {
	w.Helper()
	secret = ada.post("/v1/auth/mfa/enable", nil).ok()["secret"].(string)
	data := ada.post("/v1/auth/mfa/verify", map[string]any{"code": w.code(secret)}).ok()
	for _, c := range data["recovery_codes"].([]any) {
		recovery = append(recovery, c.(string))
	}
	return w.personOf(data), secret, recovery
}

func (w *securedWorld) logIn(more ...string) *response {
	w.Helper()
	body := map[string]any{"email": "ada@example.org", "password": "correct horse"}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	return (&person{world: w.world}).post("/v1/auth/login", body)
}

// ticket is what a sign-in without a code gets, and nothing else.
func (r *response) ticket() string {
	r.t.Helper()
	f := r.fails(http.StatusUnauthorized, "unauthorized")
	details, _ := f.Details.(map[string]any)
	ticket, _ := details["ticket"].(string)
	if details["reason"] != "mfa_required" || ticket == "" || details["expires_in"] != float64(300) || strings.Contains(string(r.body), "access_token") {
		r.t.Fatalf("%s: %s", r.what, r.body)
	}
	return ticket
}

func (r *response) reason() string {
	r.t.Helper()
	f := r.fails(r.status, map[int]string{400: "validation_error", 401: "unauthorized", 409: "conflict", 429: "rate_limited"}[r.status])
	details, _ := f.Details.(map[string]any)
	reason, _ := details["reason"].(string)
	return reason
}

// Requirements: AUTH-12
func TestEnablingTellsASecretOnceAndItCountsWithItsFirstCode(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada := w.signUp("ada@example.org")
	first := ada.post("/v1/auth/mfa/enable", nil).ok()
	data := ada.post("/v1/auth/mfa/enable", nil).ok() // a draft gives way
	secret := data["secret"].(string)
	u, err := url.Parse(data["otpauth_uri"].(string))
	w.must(err)
	if first["secret"] == secret || len(secret) != 32 || u.Scheme != "otpauth" || u.Host != "totp" || u.Query().Get("secret") != secret ||
		u.Query().Get("issuer") != "Liminal" || u.Path != "/Liminal:ada@example.org" {
		t.Errorf("enable = %v", data["otpauth_uri"])
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(data["qr"].(string), "data:image/png;base64,"))
	w.must(err)
	if img, err := png.Decode(bytes.NewReader(raw)); err != nil || img.Bounds().Dx() != 256 {
		t.Errorf("no picture: %v", err)
	}
	w.logIn().ok() // it does not count yet
	if got := ada.get("/v1/auth/mfa").ok(); got["enabled"] != false {
		t.Errorf("mfa = %v", got)
	}
	if got := ada.post("/v1/auth/mfa/verify", map[string]any{"code": w.wrong(secret)}); got.status != 400 || got.reason() != "code_wrong" {
		t.Errorf("a wrong first code: %s", got.body)
	}
	verified := ada.post("/v1/auth/mfa/verify", map[string]any{"code": w.code(secret)})
	again := w.personOf(verified.ok())
	if again.session == ada.session || len(verified.ok()["recovery_codes"].([]any)) != 10 || verified.ok()["recovery_codes_left"] != float64(10) {
		t.Errorf("verify = %s", verified.body)
	}
	if cookieOf(t, verified).Value != again.refresh {
		t.Error("the cookie is not of the new session")
	}
	if got := again.get("/v1/auth/mfa"); got.ok()["enabled"] != true || strings.Contains(string(got.body), secret) {
		t.Errorf("mfa = %s", got.body)
	}
	again.post("/v1/auth/mfa/enable", nil).fails(409, "conflict")
}

// Requirements: AUTH-12
func TestTheSecretIsSealedAtRest(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada := w.signUp("ada@example.org")
	_, secret, recovery := w.enrol(ada)
	f, err := w.store.Factor(t.Context(), ada.id)
	w.must(err)
	kept := string(f.Sealed) + strings.Join(f.Recovery, " ")
	if strings.Contains(kept, secret) || strings.Contains(kept, recovery[0]) || len(f.Recovery) != 10 {
		t.Errorf("kept: %q", kept)
	}
}

// Requirements: AUTH-13
func TestEnablingEndsEverySessionThatHasNotProvedIt(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada := w.signUp("ada@example.org")
	phone := w.personOf(w.logIn().ok())
	again, secret, _ := w.enrol(ada)
	nobody := &person{world: w.world}
	for _, p := range []*person{ada, phone} {
		p.get("/v1/auth/me").fails(401, "unauthorized")
		nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": p.refresh}).fails(401, "unauthorized")
	}
	again.get("/v1/auth/me").ok()
	fresh := w.personOf(nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": again.refresh}).ok())
	proved := w.personOf(fresh.post("/v1/auth/mfa/verify", map[string]any{"code": w.code(secret)}).ok())
	fresh.get("/v1/auth/me").fails(401, "unauthorized")
	proved.get("/v1/auth/me").ok()
}

// Requirements: AUTH-13, AUTH-15
func TestASignInAsksForTheCode(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	nobody := &person{world: w.world}
	_, secret, _ := w.enrol(w.signUp("ada@example.org"))
	if got := w.logIn(); got.header.Get("Set-Cookie") != "" || got.ticket() == "" {
		t.Errorf("login = %s", got.body)
	}
	wrong := nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": "wrong horse", "mfa_code": w.code(secret)})
	if wrong.fails(401, "unauthorized").Details != nil {
		t.Errorf("a wrong password tells of the factor: %s", wrong.body)
	}
	w.personOf(w.logIn("mfa_code", w.code(secret)).ok()).get("/v1/auth/me").ok()

	ticket := w.logIn().ticket()
	wrongCode := w.wrong(secret)
	if got := nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": wrongCode[:3] + " " + wrongCode[3:]}); got.status != 401 || got.reason() != "code_wrong" {
		t.Errorf("a wrong code: %s", got.body)
	}
	code := w.code(secret)
	data := nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": code[:3] + " " + code[3:]}).ok()
	w.personOf(data).get("/v1/auth/me").ok()
	if _, told := data["recovery_codes"]; told {
		t.Error("recovery codes are told again")
	}
	if got := nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": w.code(secret)}); got.status != 401 || got.reason() != "ticket_unknown" {
		t.Errorf("a used ticket: %s", got.body)
	}
	nobody.post("/v1/auth/mfa/verify", map[string]any{"code": w.code(secret)}).fails(401, "unauthorized")
	nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket}).fails(400, "validation_error")
	w.logIn("mfa_code", "12345").fails(400, "validation_error")
}

// Requirements: AUTH-13
func TestACodeCountsOnceAndForAShortTime(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	_, secret, _ := w.enrol(w.signUp("ada@example.org"))
	code := w.code(secret)
	w.logIn("mfa_code", code).ok()
	if got := w.logIn("mfa_code", code); got.reason() != "code_used" {
		t.Errorf("a code again: %s", got.body)
	}
	late := w.code(secret)
	w.clock.pass(30 * time.Second)
	w.logIn("mfa_code", late).ok() // one step late
	old := w.code(secret)
	w.clock.pass(time.Minute)
	if got := w.logIn("mfa_code", old); got.reason() != "code_wrong" {
		t.Errorf("two steps late: %s", got.body)
	}
	early, err := totp.GenerateCode(secret, w.clock.now().Add(30*time.Second))
	w.must(err)
	w.logIn("mfa_code", early).ok() // a clock that is ahead
}

// Requirements: AUTH-14
func TestFiveWrongCodesLockTheFactorForFiveMinutes(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada, secret, recovery := w.enrol(w.signUp("ada@example.org"))
	for range 4 {
		if got := w.logIn("mfa_code", w.wrong(secret)); got.status != 401 {
			t.Fatalf("got %s", got.body)
		}
	}
	w.logIn("mfa_code", w.code(secret)).ok() // forgets them
	for i := range 5 {
		if got := w.logIn("mfa_code", w.wrong(secret)); got.status != map[bool]int{true: 429, false: 401}[i == 4] {
			t.Fatalf("wrong code %d: %s", i+1, got.body)
		}
	}
	locked := w.logIn("mfa_code", w.code(secret)) // a right one, too
	if seconds, _ := strconv.Atoi(locked.header.Get("Retry-After")); locked.reason() != "mfa_locked" || seconds < 200 || seconds > 300 {
		t.Errorf("Retry-After %d: %s", seconds, locked.body)
	}
	if got := ada.post("/v1/auth/mfa/verify", map[string]any{"code": w.code(secret)}); got.reason() != "mfa_locked" {
		t.Errorf("in a session: %s", got.body)
	}
	w.logIn("recovery_code", recovery[0]).ok()
	w.clock.pass(5 * time.Minute)
	w.logIn("mfa_code", w.code(secret)).ok()
}

// Requirements: AUTH-14
func TestManyCodesAtOnceAreNoMoreThanFive(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	_, secret, _ := w.enrol(w.signUp("ada@example.org"))
	ticket, nobody, wrong := w.logIn().ticket(), &person{world: w.world}, w.wrong(secret)
	var all sync.WaitGroup
	answers := make([]int, 30)
	for i := range answers {
		all.Go(func() {
			answers[i] = nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": wrong}).status
		})
	}
	all.Wait()
	checked := 1 // the one that locks is told so
	for _, status := range answers {
		if status == http.StatusUnauthorized {
			checked++
		}
	}
	if checked != 5 {
		t.Errorf("%d codes were checked: %v", checked, answers)
	}
	if got := nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": w.code(secret)}); got.status != 429 {
		t.Errorf("afterwards: %s", got.body)
	}
}

// Requirements: AUTH-13
func TestARecoveryCodeOpensASessionOnce(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	nobody := &person{world: w.world}
	_, secret, recovery := w.enrol(w.signUp("ada@example.org"))
	typed := strings.ToUpper(strings.ReplaceAll(recovery[3], "-", " "))
	data := nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": w.logIn().ticket(), "recovery_code": typed}).ok()
	if data["recovery_codes_left"] != float64(9) {
		t.Errorf("left = %v", data["recovery_codes_left"])
	}
	ada := w.personOf(data)
	if got := w.logIn("recovery_code", recovery[3]); got.reason() != "recovery_wrong" {
		t.Errorf("again: %s", got.body)
	}
	fresh := ada.post("/v1/auth/mfa/recovery", map[string]any{"code": w.code(secret)}).ok()["recovery_codes"].([]any)
	if len(fresh) != 10 || w.logIn("recovery_code", recovery[4]).status != 401 {
		t.Errorf("%d new codes, and the old ones still count", len(fresh))
	}
	w.logIn("recovery_code", fresh[0].(string)).ok()
	for range 5 {
		_ = w.logIn("recovery_code", "aaaa-aaaa-aaaa-aaaa")
	}
	if got := w.logIn("recovery_code", fresh[1].(string)); got.reason() != "recovery_locked" {
		t.Errorf("guessing: %s", got.body)
	}
	w.logIn("mfa_code", w.code(secret)).ok()
}

func TestGivingTheFactorUpTakesBothFactors(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada, secret, recovery := w.enrol(w.signUp("ada@example.org"))
	for name, body := range map[string]map[string]any{
		"no code":        {"password": "correct horse"},
		"no password":    {"code": w.code(secret)},
		"wrong password": {"password": "wrong horse", "recovery_code": recovery[0]},
		"wrong code":     {"password": "correct horse", "code": w.wrong(secret)},
	} {
		if got := ada.post("/v1/auth/mfa/disable", body); got.status != 400 {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	ada.post("/v1/auth/mfa/disable", map[string]any{"password": "correct horse", "recovery_code": recovery[0]}).ok()
	ada.post("/v1/auth/mfa/disable", map[string]any{"password": "correct horse", "code": w.code(secret)}).fails(409, "conflict")
	w.logIn().ok()
}

func TestATicketOpensNothingForAnAccountThatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	w.signUp("admin@example.org")
	_, secret, _ := w.enrol(w.signUp("ada@example.org"))
	ticket, off := w.logIn().ticket(), false
	u, _, err := w.store.UserByEmail(t.Context(), "ada@example.org")
	w.must(err)
	_, err = w.store.ChangeUser(t.Context(), u.ID, identity.UserChange{Active: &off})
	w.must(err)
	(&person{world: w.world}).post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": w.code(secret)}).fails(401, "unauthorized")
}
