package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/store"
	"liminal/internal/store/storetest"
)

// journal is a log at debug level, kept.
type journal struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes.Write(p)
}

func (j *journal) text() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Clone(j.bytes.Bytes())
}

// letterbox passes letters on.
type letterbox chan identity.Letter

func (b letterbox) Send(_ context.Context, l identity.Letter) error { b <- l; return nil }

// guarded is a world that keeps its secrets, logs everything there is to log,
// and searches every answer for the secrets of the answers before it.
type guarded struct {
	*world
	secrets storetest.Secrets
	journal journal
	letters letterbox
	clock   *hands
}

func newGuardedWorld(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{letters: make(letterbox, 16), clock: &hands{at: time.Now().Truncate(30 * time.Second)}}
	logger := slog.New(slog.NewJSONHandler(&g.journal, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var accounts *identity.Accounts
	g.world = newWorld(t, func(o *Options) {
		s, _ := o.Conversations.(*store.Store)
		var err error
		accounts, err = identity.NewAccounts(s, identity.Options{
			Key: bytes.Repeat([]byte("signing-key "), 4), Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1}, Now: g.clock.now,
			Cache: inproc.NewCache(0), Factors: s, FactorKey: bytes.Repeat([]byte("sealing-key "), 4), Providers: s, Administration: s, Keys: s, Grants: s,
			Mail: g.letters, Confirm: true, PublicURL: "https://chat.example.org", Logger: logger,
		})
		if err != nil {
			t.Fatal(err)
		}
		o.sign(accounts)
		o.Factors, o.Elsewhere, o.Logger, o.Payloads = accounts, accounts, logger, 1
	})
	g.secrets.Keep("the key of access tokens", strings.Repeat("signing-key ", 4))
	g.secrets.Keep("the key of factors", strings.Repeat("sealing-key ", 4))
	g.overhear = func(r *response) {
		var all bytes.Buffer
		_ = r.header.Write(&all)
		g.secrets.Search(t, r.what, append(all.Bytes(), r.body...))
	}
	return g
}

// keepTokens keeps what a sign-in handed out.
func (g *guarded) keepTokens(data map[string]any) *person {
	g.Helper()
	p := g.personOf(data)
	g.secrets.Keep("an access token", p.token)
	g.secrets.Keep("a refresh token", p.refresh)
	return p
}

// keepHash keeps the stored hash of a password.
func (g *guarded) keepHash(email string) {
	g.Helper()
	_, c, err := g.store.UserByEmail(g.Context(), email)
	g.must(err)
	g.secrets.Keep("a password's hash", c.Hash)
}

var token = regexp.MustCompile(`#(\S+)`)

// mailed is the token of the next letter.
func (g *guarded) mailed() string {
	g.Helper()
	l := <-g.letters
	found := token.FindStringSubmatch(l.Text)
	if found == nil {
		g.Fatalf("no token in %q", l.Text)
	}
	g.secrets.Search(g.T, "the subject of a letter", []byte(l.Subject))
	g.secrets.Keep("the token of a letter", found[1])
	return found[1]
}

const (
	firstPassword  = "correct horse battery"
	secondPassword = "staple in the stable"
	wrongPassword  = "a guess that is wrong"
)

// Requirements: SAFE-08
func TestSecretsStandNowhereButWhereTheyAreHandedOut(t *testing.T) {
	t.Parallel()
	g := newGuardedWorld(t)
	for name, password := range map[string]string{"a password": firstPassword, "a new password": secondPassword, "a wrong password": wrongPassword} {
		g.secrets.Keep(name, password)
	}
	g.signUpAndIn()
	ada := g.resetAndSecondFactor()
	g.filesAndTalk(ada)
	g.mistakes(ada)
	ada.post("/v1/auth/logout", nil).ok()
	if log := g.journal.text(); len(log) < 5000 || !bytes.Contains(log, []byte(`"payload"`)) {
		t.Errorf("the log has only %d bytes, or no payloads", len(log))
	}
	g.secrets.Search(t, "the log", g.journal.text())
}

// signUpAndIn makes the first account, signs in and refreshes.
func (g *guarded) signUpAndIn() {
	g.Helper()
	nobody := &person{world: g.world}
	g.keepTokens(nobody.post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": firstPassword}).ok())
	g.keepHash("ada@example.org")
	ada := g.keepTokens(nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": firstPassword}).ok())
	g.clock.pass(time.Minute) // another second, another token
	ada = g.keepTokens(nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh}).ok())
	for _, path := range []string{"/v1/auth/me", "/v1/auth/sessions", "/v1/settings", "/v1/users", "/v1/config/ui"} {
		ada.get(path).ok()
	}
}

// resetAndSecondFactor forgets the password, sets another and enrols a second
// factor. What comes back is the session with it.
func (g *guarded) resetAndSecondFactor() *person {
	g.Helper()
	nobody := &person{world: g.world}
	nobody.post("/v1/auth/request_reset", map[string]any{"email": "ada@example.org"}).ok()
	reset := g.mailed()
	nobody.post("/v1/auth/complete_reset", map[string]any{"token": reset, "new_password": secondPassword}).ok()
	nobody.post("/v1/auth/complete_reset", map[string]any{"token": reset, "new_password": secondPassword})
	g.keepHash("ada@example.org")
	ada := g.keepTokens(nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": secondPassword}).ok())
	secret := ada.post("/v1/auth/mfa/enable", nil).ok()["secret"].(string)
	g.secrets.Keep("the secret of an authenticator", secret)
	proved := ada.post("/v1/auth/mfa/verify", map[string]any{"code": g.code(secret)}).ok()
	for _, c := range proved["recovery_codes"].([]any) {
		g.secrets.Keep("a recovery code", c.(string))
	}
	ada = g.keepTokens(proved)
	ada.get("/v1/auth/mfa").ok()
	half := nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": secondPassword}).fails(401, "unauthorized")
	ticket := half.Details.(map[string]any)["ticket"].(string)
	g.secrets.Keep("the ticket of half a sign-in", ticket)
	return g.keepTokens(nobody.post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": g.code(secret)}).ok())
}

// code is the authenticator's, at the next step.
func (g *guarded) code(secret string) string {
	g.Helper()
	g.clock.pass(30 * time.Second)
	code, err := totp.GenerateCode(secret, g.clock.now())
	g.must(err)
	return code
}

// filesAndTalk uploads, downloads, talks over every kind of connection and
// looks at what is kept of it.
func (g *guarded) filesAndTalk(ada *person) {
	g.Helper()
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	ada.upload("notes.md", "# Notes", "context_id", c).ok()
	link := ada.post("/v1/files/link", map[string]any{"path": "files/notes.md"}).ok()["url"].(string)
	u, err := url.Parse(link)
	g.must(err)
	g.secrets.Keep("the signature of a link", u.Query().Get("signature"))
	ada.get(link)
	q := u.Query()
	q.Set("path", "files/other.md")
	ada.get("/v1/files/download?"+q.Encode()).fails(403, "forbidden")
	said := ada.post("/v1/chat", map[string]any{"message": "hello there"}, "Idempotency-Key", "once").ok()
	heard := ada.post("/v1/chat", map[string]any{"message": "and streamed", "stream": true}, "Accept", "text/event-stream")
	if !strings.Contains(string(heard.body), "message_done") {
		g.Errorf("streamed %s", heard.body)
	}
	k := ada.talk()
	k.say(map[string]any{"type": "chat_start", "message": "over a socket"})
	for got := k.hear(); got.Event != "message_done"; got = k.hear() {
		g.secrets.Search(g.T, "a frame", []byte(fmt.Sprintf("%+v %s", got, got.Data)))
	}
	for _, path := range []string{
		"/v1/runs", "/v1/runs/" + said["run_id"].(string), "/v1/conversations", "/v1/conversations/" + said["conversation_id"].(string) + "/messages",
		"/v1/files", "/v1/contexts", "/v1/contexts/" + c + "/documents", "/v1/artifacts", "/v1/interrupts", "/v1/config/patches", "/v1/runs?all=true",
	} {
		ada.get(path).ok()
	}
}

// mistakes are requests with secrets where they do not belong.
func (g *guarded) mistakes(ada *person) {
	g.Helper()
	nobody := &person{world: g.world}
	nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": wrongPassword}).fails(401, "unauthorized")
	nobody.post("/v1/auth/login", `{"email":"ada@example.org","password":["`+wrongPassword+`"]}`).fails(400, "validation_error")
	nobody.post("/v1/auth/signup", `{"email":"x","password":"`+wrongPassword).fails(400, "validation_error")
	nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.token}).fails(401, "unauthorized")
	nobody.get("/v1/auth/me", "Authorization", "Bearer "+ada.refresh).fails(401, "unauthorized")
	nobody.get("/v1/auth/me", "Authorization", "Basic "+ada.token).fails(401, "unauthorized")
	nobody.get("/v1/nothing?access_token="+ada.token).fails(404, "not_found")
	nobody.post("/v1/auth/verify_email", map[string]any{"token": ada.refresh})
	ada.post("/v1/auth/password", map[string]any{"old_password": wrongPassword, "new_password": secondPassword})
	g.server.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("broken") })
	ada.get("/panic", "Cookie", refreshCookie+"="+ada.refresh).fails(500, "server_error")
}
