package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/vault"
	"liminal/internal/webaccess"
	"liminal/internal/webhook"
)

// heard is a request as a receiver got it.
type heard struct {
	header http.Header
	body   []byte
	path   string
}

// receiver is a server that takes webhooks.
type receiver struct {
	*httptest.Server
	heard  chan heard
	answer http.HandlerFunc // nil: 204
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{heard: make(chan heard, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.heard <- heard{q.Header, body, q.URL.Path}
		if r.answer != nil {
			r.answer(w, q)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) next(t *testing.T) heard {
	t.Helper()
	select {
	case h := <-r.heard:
		return h
	case <-time.After(time.Minute):
		t.Fatal("nothing came within a minute")
		return heard{}
	}
}

// post is where letters go.
type post struct{ letters chan identity.Letter }

func (p post) Send(_ context.Context, l identity.Letter) error { p.letters <- l; return nil }

// house is a store with a person, a desk and a courier over it.
type house struct {
	*testing.T
	store *store.Store
	vault *vault.Vault
	desk  *webhook.Desk
	web   *webaccess.Client
	post  post
	ada   identity.Viewer

	mu    sync.Mutex
	ahead time.Duration
}

func (h *house) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

func (h *house) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// newHouse is one that may reach some receivers.
func newHouse(t *testing.T, reached ...*receiver) *house {
	t.Helper()
	h := &house{T: t, post: post{make(chan identity.Letter, 10)}}
	h.store = store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{Running: -1, Now: h.now})
	var err error
	h.vault, err = vault.New([]byte(strings.Repeat("k", vault.MinKey)), "test")
	h.must(err)
	allow := []string{"example.org"}
	for _, r := range reached {
		allow = append(allow, strings.TrimPrefix(r.URL, "http://"))
	}
	h.web, err = webaccess.New(webaccess.Options{Allow: allow})
	h.must(err)
	h.desk = webhook.NewDesk(webhook.DeskOptions{Endpoints: h.store, Deliveries: h.store, Vault: h.vault, Reaches: h.web.Reachable, Now: h.now})
	h.ada = h.person("")
	return h
}

func (h *house) person(locale string) identity.Viewer {
	h.Helper()
	u, err := h.store.CreateUser(h.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Role: identity.RoleUser, Active: true}, identity.Credential{Hash: "h", Algorithm: "argon2id"})
	h.must(err)
	if locale != "" {
		_, err = h.store.ChangeSettings(h.Context(), u.ID, identity.SettingsChange{Locale: &locale})
		h.must(err)
	}
	return u.Viewer(id.New())
}

// courier works until stop is called.
func (h *house) courier() (stop func()) {
	c := webhook.NewCourier(webhook.CourierOptions{
		Queue: h.store, Vault: h.vault, HTTP: h.web.Servers(), Mail: h.post, PublicURL: "https://chat.example.org", Now: h.now, Every: 5 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var all sync.WaitGroup
	all.Go(func() { c.Run(ctx) })
	stop = func() { cancel(); all.Wait() }
	h.Cleanup(stop)
	return stop
}

// endpoint is one of the viewer's that is told of everything.
func (h *house) endpoint(v identity.Viewer, address string) (webhook.Endpoint, string) {
	h.Helper()
	e, secret, err := h.desk.Create(h.Context(), v, webhook.New{URL: address, Events: webhook.Kinds()})
	h.must(err)
	return e, secret
}

// turn is one that has asked; its graph is pinned.
func (h *house) turn(v identity.Viewer, n chat.NewTurn) (runID, conversation, question string) {
	h.Helper()
	a, err := h.store.Accept(h.Context(), v, n)
	h.must(err)
	h.must(h.store.OpenRun(h.Context(), v, a.Run.ID, []run.Pin{{ArtifactID: id.New(), Name: "deploy", Version: 1}}))
	q := run.Interrupt{ID: id.New(), RunID: a.Run.ID, EffectID: "e", Type: "doc_choice", Message: "Which <sesame>?", Options: []run.Option{{ID: "a", Label: "sesame seeds"}}}
	h.must(h.store.Ask(h.Context(), v, true, q))
	return a.Run.ID, a.ConversationID, q.ID
}

func (h *house) end(v identity.Viewer, runID string, e run.End) {
	h.Helper()
	_, err := h.store.CloseTurn(h.Context(), v, chat.Close{RunID: runID, End: e, Message: &chat.Message{Role: "assistant", Content: "sesame"}})
	h.must(err)
}

// settled waits for a delivery that has ended, or waits for its next attempt.
func (h *house) settled(v identity.Viewer, e webhook.Endpoint) webhook.Delivery {
	h.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		list, _, err := h.desk.Deliveries(h.Context(), v, e.ID, "", 1)
		h.must(err)
		if len(list) == 1 && list[0].Lease == "" && (list[0].Attempts > 0 || list[0].Status != webhook.Waiting) {
			return list[0]
		}
	}
	h.Fatal("nothing was settled within a minute")
	return webhook.Delivery{}
}

func (h *house) payload(got heard, secret string) webhook.Payload {
	h.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	h.must(err)
	h.must(w.Verify(got.body, got.header))
	var p webhook.Payload
	h.must(json.Unmarshal(got.body, &p))
	return p
}

func TestAReceiverVerifiesWhatItIsToldOfAQuestionAndItsRun(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	h := newHouse(t, r)
	e, secret := h.endpoint(h.ada, r.URL+"/hooks")
	h.courier()
	runID, conversation, question := h.turn(h.ada, chat.NewTurn{Message: "hi"})
	got := r.next(t)
	p := h.payload(got, secret)
	q := p.Data.Question
	if p.Type != webhook.QuestionWaiting || p.Data.RunID != runID || p.Data.UserID != h.ada.UserID || p.Data.URL != "https://chat.example.org/c/"+conversation || p.Data.Assistant.Name != "deploy" || time.Since(p.Timestamp) > time.Minute {
		t.Errorf("it is told %s", got.body)
	}
	if q == nil || q.ID != question || q.Type != "doc_choice" || q.Message != "Which <sesame>?" || len(q.Options) != 1 || q.Options[0].Label != "sesame seeds" {
		t.Errorf("of the question it is told %s", got.body)
	}
	if got.path != "/hooks" || got.header.Get("Content-Type") != "application/json" || !strings.HasPrefix(got.header.Get("User-Agent"), "Liminal") {
		t.Errorf("at %s, with %v", got.path, got.header)
	}
	h.end(h.ada, runID, run.End{Status: run.Failed, Error: json.RawMessage(`{"code":"server_error","message":"it quotes sesame"}`)})
	got = r.next(t)
	if p := h.payload(got, secret); p.Type != webhook.RunFailed || p.Data.Error.Code != "server_error" || strings.Contains(string(got.body), "sesame") {
		t.Errorf("of the failure it is told %s", got.body)
	}
	if d := h.settled(h.ada, e); d.Status != webhook.Sent || d.Code != 204 || d.Attempts != 1 || d.ID != got.header.Get("webhook-id") {
		t.Errorf("it is %+v", d)
	}
}

func TestARequestThatWasChangedOrIsOldDoesNotVerify(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	h := newHouse(t, r)
	e, secret := h.endpoint(h.ada, r.URL)
	_, err := h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	h.courier()
	got := r.next(t)
	h.payload(got, secret)
	w, err := standardwebhooks.NewWebhook(secret)
	h.must(err)
	for what, change := range map[string]func(http.Header) []byte{
		"another body": func(http.Header) []byte { return append([]byte(" "), got.body...) },
		"another id":   func(hd http.Header) []byte { hd.Set("webhook-id", id.New()); return got.body },
		"another time": func(hd http.Header) []byte {
			hd.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()+1))
			return got.body
		},
		"an old request": func(hd http.Header) []byte {
			hd.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()-3600))
			return got.body
		},
	} {
		header := got.header.Clone()
		if w.Verify(change(header), header) == nil {
			t.Errorf("%s verifies", what)
		}
	}
	h.settled(h.ada, e)
	// An hour later the same bytes are refused for their age alone, as the clock of a
	// receiver says: what is sent again is signed anew, under the same id.
	h.later(time.Hour)
	_, err = h.desk.Redeliver(t.Context(), h.ada, e.ID, got.header.Get("webhook-id"))
	h.must(err)
	again := r.next(t)
	if again.header.Get("webhook-id") != got.header.Get("webhook-id") || again.header.Get("webhook-timestamp") == got.header.Get("webhook-timestamp") || again.header.Get("webhook-signature") == got.header.Get("webhook-signature") {
		t.Errorf("sent again: %v", again.header)
	}
	if w.Verify(again.body, again.header) == nil {
		t.Error("a request from an hour ahead verifies")
	}
}

func TestASecretIsReplacedWithoutMissingAnything(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	h := newHouse(t, r)
	e, before := h.endpoint(h.ada, r.URL)
	now, err := h.desk.Rotate(t.Context(), h.ada, e.ID)
	h.must(err)
	stop := h.courier()
	_, err = h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	got := r.next(t)
	h.payload(got, before)
	h.payload(got, now)
	h.settled(h.ada, e)
	stop()
	h.later(webhook.OverlapFor)
	h.courier()
	_, err = h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	if signed := r.next(t).header.Get("webhook-signature"); len(strings.Fields(signed)) != 1 {
		t.Errorf("a day later it is signed %q", signed)
	}
}

func TestOfARunOfWhichNothingIsKeptIDsAreToldAlone(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	h := newHouse(t, r)
	_, secret := h.endpoint(h.ada, r.URL)
	h.must(h.desk.SetLetters(t.Context(), h.ada, []webhook.Kind{webhook.QuestionWaiting}, 0))
	h.courier()
	runID, _, question := h.turn(h.ada, chat.NewTurn{Message: "sesame", Keeps: chat.KeepsNothing})
	got := r.next(t)
	p := h.payload(got, secret)
	if p.Data.RunID != runID || p.Data.Question == nil || p.Data.Question.ID != question {
		t.Errorf("it is told %s", got.body)
	}
	for _, word := range []string{"sesame", "message", "options", "deploy"} {
		if strings.Contains(string(got.body), word) {
			t.Errorf("it is told %q in %s", word, got.body)
		}
	}
	if l := <-h.post.letters; strings.Contains(l.Text+l.Subject, "sesame") {
		t.Errorf("it is written %s", l.Text)
	}
	h.end(h.ada, runID, run.End{Status: run.Done})
	if p := h.payload(r.next(t), secret); p.Type != webhook.RunDone {
		t.Errorf("of its end it is told %+v", p)
	}
}

func TestAnAdministratorIsToldOfEverybodysRunsAndNoWordOfThem(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	h := newHouse(t, r) // ada, the first one, is an administrator
	bob := h.person("")
	root := h.ada
	root.Role = identity.RoleAdmin
	_, secret, err := h.desk.Create(t.Context(), root, webhook.New{URL: r.URL, Events: webhook.Kinds(), Tenant: true})
	h.must(err)
	h.courier()
	runID, _, _ := h.turn(bob, chat.NewTurn{Message: "hi"})
	got := r.next(t)
	if p := h.payload(got, secret); p.Data.RunID != runID || p.Data.UserID != bob.UserID || p.Data.Question.Type != "doc_choice" || p.Data.URL != "" || strings.Contains(string(got.body), "sesame") {
		t.Errorf("it is told %s", got.body)
	}
}

// Requirements: SAFE-05
func TestWhatTheOperatorDidNotAllowIsNotReached(t *testing.T) {
	t.Parallel()
	open, closed := newReceiver(t), newReceiver(t)
	open.answer = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, closed.URL, http.StatusTemporaryRedirect)
	}
	h := newHouse(t, open)
	for _, address := range []string{closed.URL, "https://127.0.0.1/", "https://localhost/", "http://169.254.169.254/latest", "https://[::1]/", "https://10.0.0.1/", "https://elsewhere.example/"} {
		if _, _, err := h.desk.Create(t.Context(), h.ada, webhook.New{URL: address, Events: webhook.Kinds()}); err == nil {
			t.Errorf("%s was taken", address)
		}
	}
	// The list was longer when it was made.
	wide := webhook.NewDesk(webhook.DeskOptions{Endpoints: h.store, Deliveries: h.store, Vault: h.vault, Reaches: newHouse(t, closed).web.Reachable, Now: h.now})
	refused, _, err := wide.Create(t.Context(), h.ada, webhook.New{URL: closed.URL, Events: webhook.Kinds()})
	h.must(err)
	redirected, _ := h.endpoint(h.ada, open.URL)
	h.courier()
	for e, want := range map[string]string{refused.ID: "closed 0", redirected.ID: "status 307"} {
		_, err := h.desk.Test(t.Context(), h.ada, e)
		h.must(err)
		if d := h.settled(h.ada, webhook.Endpoint{ID: e}); d.Status != webhook.Waiting || fmt.Sprint(d.Error, " ", d.Code) != want {
			t.Errorf("it is %+v, want %s", d, want)
		}
	}
	if len(closed.heard) != 0 {
		t.Error("the closed one was reached")
	}
}

func TestAnAnswerWithoutAnEndIsNotRead(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.answer = func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
	h := newHouse(t, r)
	e, _ := h.endpoint(h.ada, r.URL)
	h.courier()
	_, err := h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	if d := h.settled(h.ada, e); d.Status != webhook.Sent || d.Code != 200 {
		t.Errorf("it is %+v", d)
	}
}

// A process that dies between sending and writing so leaves a lease.
func TestWhatWasSentWithoutAWordOfItIsSentAgainUnderItsID(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	hangs := make(chan struct{})
	r.answer = func(http.ResponseWriter, *http.Request) { <-hangs }
	h := newHouse(t, r)
	e, secret := h.endpoint(h.ada, r.URL)
	_, err := h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	kill := h.courier()
	first := r.next(t)
	kill()
	close(hangs)
	if due, err := h.store.Due(t.Context(), identity.System()); due || err != nil {
		t.Errorf("due within its lease: %v, %v", due, err)
	}
	h.later(time.Minute)
	h.courier()
	second := r.next(t)
	if second.header.Get("webhook-id") != first.header.Get("webhook-id") || string(second.body) != string(first.body) {
		t.Errorf("sent again: %v %s", second.header, second.body)
	}
	h.payload(second, secret)
	if d := h.settled(h.ada, e); d.Status != webhook.Sent || d.Attempts != 2 {
		t.Errorf("it is %+v", d)
	}
}

func TestAnEndpointThatIsGoneIsTurnedOffAndItsPersonTold(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	h := newHouse(t, r)
	e, _ := h.endpoint(h.ada, r.URL+"/hooks?token=secret")
	h.courier()
	_, err := h.desk.Test(t.Context(), h.ada, e.ID)
	h.must(err)
	l := <-h.post.letters
	if !strings.Contains(l.Text, r.URL+"/hooks\n") || strings.Contains(l.Text, "secret") || !strings.Contains(l.Text, "https://chat.example.org/settings/webhooks") {
		t.Errorf("it is written %s", l.Text)
	}
	is, err := h.desk.Get(t.Context(), h.ada, e.ID)
	if err != nil || is.On || is.Reason != webhook.Gone {
		t.Errorf("it is %+v, %v", is, err)
	}
}

func TestALetterIsWrittenAboutAQuestionThatWaitsAndNoneAboutAnAnsweredOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greta := h.person("de")
	kinds := []webhook.Kind{webhook.QuestionWaiting, webhook.RunFailed}
	h.must(h.desk.SetLetters(t.Context(), greta, kinds, 10*time.Minute))
	h.courier()
	_, _, answered := h.turn(greta, chat.NewTurn{Message: "hi"})
	_, err := h.store.Answer(t.Context(), greta, answered, run.Answered, json.RawMessage(`"a"`))
	h.must(err)
	runID, conversation, _ := h.turn(greta, chat.NewTurn{Message: "hi"})
	h.later(10 * time.Minute)
	l := <-h.post.letters
	if l.Subject != "Ein Assistent wartet auf Ihre Antwort" || !strings.Contains(l.Text, "Which <sesame>?") || !strings.Contains(l.Text, "https://chat.example.org/c/"+conversation) || !strings.Contains(l.Text, "/settings/webhooks") {
		t.Errorf("it is written %s: %s", l.Subject, l.Text)
	}
	h.end(greta, runID, run.End{Status: run.Failed, Error: json.RawMessage(`{"code":"server_error"}`)})
	if l := <-h.post.letters; l.Subject != "Ein Lauf ist fehlgeschlagen" {
		t.Errorf("of the failure it is written %s", l.Subject)
	}
	h.must(h.desk.SetLetters(t.Context(), greta, nil, 0))
	h.turn(greta, chat.NewTurn{Message: "hi"})
	if due, err := h.store.Due(t.Context(), identity.System()); due || err != nil || len(h.post.letters) != 0 {
		t.Errorf("once it is ended: due %v, %v, %d letters", due, err, len(h.post.letters))
	}
}
