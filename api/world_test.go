package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/authserver"
	"liminal/internal/backends/backendstest"
	"liminal/internal/embed"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/insights"
	"liminal/internal/knowledge"
	"liminal/internal/learning"
	"liminal/internal/model/extractive"
	"liminal/internal/palace"
	"liminal/internal/quota"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/tool"
)

// world is a whole server over a real store and real hot state; only the engine
// is played.
type world struct {
	*testing.T
	url    string
	server *server
	db     store.DB
	store  *store.Store
	memory *inproc.Memory
	engine *player
	clerk  *clerk

	overhear  func(*response) // nil: nobody listens
	documents documents       // of programs
}

// newWorld starts a server; change may alter its options first.
func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	db := sqlitetest.Open(t, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	return newWorldOver(t, db, sqlite.NewIndex(db, sqlite.IndexOptions{}), change...)
}

// newWorldOver is a world on another database.
func newWorldOver(t *testing.T, db store.DB, index knowledge.Index, change ...func(*Options)) *world {
	t.Helper()
	w := &world{T: t, db: db, store: store.New(db, store.Options{Running: -1}), memory: inproc.New(inproc.Options{Base: inproc.Stride}), documents: documents{}}
	w.engine = &player{store: w.store, log: w.memory}
	t.Cleanup(w.memory.Close)
	t.Cleanup(w.engine.wait)
	o := w.options(index)
	for _, c := range change {
		c(&o)
	}
	w.server = newServer(o)
	// A turn's end is read from the log, where tests look for it, however long a
	// busy machine takes from the store to there.
	w.server.tail.first = time.Minute
	w.serve(w.server)
	return w
}

func (w *world) options(index knowledge.Index) Options {
	w.Helper()
	logger := slog.New(slog.DiscardHandler)
	accounts, err := identity.NewAccounts(w.store, identity.Options{
		Key:  bytes.Repeat([]byte("k"), 32),
		Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1}, Cache: w.memory.Cache(), Administration: w.store, Keys: w.store, Grants: w.store,
	})
	w.must(err)
	roots, err := files.OpenRoots(w.TempDir(), w.store, []byte("links"))
	w.must(err)
	w.Cleanup(func() { _ = roots.Close() })
	library := artifacts.NewLibrary(w.store, []tool.Spec{})
	w.clerk = w.newClerk(library)
	o := Options{
		ChatOptions: ChatOptions{
			Engine: w.engine, Conversations: w.store, Messages: w.store, Runs: w.store, Interrupts: w.store, Continuations: w.store, Items: w.store, Log: w.memory,
			Preferences: learning.NewRecorder(w.store, embed.Hash{}), Insights: insights.NewReader(w.store, insights.Options{}),
		},
		BehaviourOptions: BehaviourOptions{
			Artifacts: library, Shapes: library, Surfaces: desks{}, Webhooks: testDesk(w.T, w.store), Proposals: w.clerk.desk, Decisions: w.clerk.desk, Recordings: w.store, SurfaceTurns: w.store, Palace: palace.NewLibrary(w.store),
		},
		KnowledgeOptions: KnowledgeOptions{
			Files: roots, Contexts: w.store, Sources: w.store, Documents: w.store, Titles: w.store, Sets: w.store, Chunks: index, Shares: w.store, Finder: w.store,
		},
		LearningOptions: LearningOptions{Consents: w.store, Lessons: w.store, Situations: w.store, Uses: w.store, Learner: w.engine, Trainings: w.store},
		QuotaOptions: QuotaOptions{
			Limits: quota.NewLimits(generous{w.memory}), Plans: quota.NewPlanTable(w.store, logger), Once: quota.NewOnce(w.store, logger), Budgets: quota.NewBudgets(w.store, quota.BudgetOptions{}),
		},
		SiteOptions: SiteOptions{
			Version: "test", Model: ModelInfo{Name: "extractive"}, Backends: backendstest.Open(w.T, w.store, extractive.Model{}), Temporal: &TemporalUI{Base: "http://temporal.test", Namespace: "default"},
		},
		TelemetryOptions: TelemetryOptions{Logger: logger},
	}
	o.sign(accounts)
	o.Clients = authserver.New(authserver.Options{Store: w.store, Documents: w.documents, Cache: w.memory.Cache()})
	return o
}

// sign makes accounts who people are, without second factors and accounts
// elsewhere.
func (o *IdentityOptions) sign(a *identity.Accounts) {
	o.SignIns, o.Devices, o.Passwords, o.People, o.Administration, o.Keys, o.Grants, o.WebhookMail = a, a, a, a, a, a, a, a
}

// generous is a ledger that counts sign-ins and requests for nothing; tests
// of limits use one that does count.
type generous struct{ *inproc.Memory }

func (generous) Take(context.Context, string, float64, int) (time.Duration, error) { return 0, nil }

// frozen is a ledger in which nothing refills, however long a test takes.
type frozen struct{ *inproc.Memory }

func (f frozen) Take(ctx context.Context, key string, _ float64, burst int) (time.Duration, error) {
	return f.Memory.Take(ctx, key, 1e-9, burst)
}

// empty is a ledger that has nothing left under one key for a while.
type empty struct {
	*inproc.Memory
	key   string
	while time.Duration
}

func (e empty) Take(_ context.Context, key string, _ float64, _ int) (time.Duration, error) {
	if key == e.key {
		return e.while, nil
	}
	return 0, nil
}

func (w *world) serve(s *server) {
	http := httptest.NewServer(s.handler())
	w.Cleanup(func() {
		http.Close()
		for session := range s.mcp.sdk.Sessions() { // that a test left behind
			_ = session.Close()
		}
	})
	w.url = http.URL
}

// withinADay lets midnight pass when it is near: a test of what a day used
// begins and ends on one.
func (w *world) withinADay() {
	if left := 24*time.Hour - time.Since(time.Now().UTC().Truncate(24*time.Hour)); left < time.Minute {
		time.Sleep(left)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// person is somebody signed in.
type person struct {
	*world
	token, refresh, id, session string

	method, path string // of the route a wall is tried at
}

func (w *world) signUp(email string) *person {
	w.Helper()
	got := (&person{world: w}).post("/v1/auth/signup", map[string]any{"email": email, "password": "correct horse"}).ok()
	return w.personOf(got)
}

func (w *world) personOf(data map[string]any) *person {
	return &person{
		world: w, token: data["access_token"].(string), refresh: data["refresh_token"].(string),
		session: data["session_id"].(string), id: data["user"].(map[string]any)["id"].(string),
	}
}

func (p *person) viewer() identity.Viewer {
	return identity.Viewer{UserID: p.id, Role: identity.RoleUser, Plan: "free", SessionID: p.session}
}

// response is an answer that has been read.
type response struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
	what   string
	asked  string // the request: its address and its body
}

func (p *person) request(method, path string, body any, headers ...string) *http.Request {
	p.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		p.must(err)
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(p.Context(), method, p.url+path, reader)
	p.must(err)
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (p *person) do(method, path string, body any, headers ...string) *response {
	p.Helper()
	return p.send(p.request(method, path, body, headers...))
}

func (p *person) send(r *http.Request) *response {
	p.Helper()
	asked := r.URL.String()
	if r.GetBody != nil {
		sent, err := r.GetBody()
		p.must(err)
		body, err := io.ReadAll(sent)
		p.must(err)
		asked += " " + string(body)
	}
	resp, err := http.DefaultClient.Do(r)
	p.must(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	p.must(err)
	got := &response{t: p.T, status: resp.StatusCode, header: resp.Header, body: data, what: r.Method + " " + r.URL.Path, asked: asked}
	p.conforms(r, got)
	if p.overhear != nil {
		p.overhear(got)
	}
	return got
}

func (p *person) get(path string, headers ...string) *response {
	p.Helper()
	return p.do("GET", path, nil, headers...)
}

func (p *person) post(path string, body any, headers ...string) *response {
	p.Helper()
	return p.do("POST", path, body, headers...)
}

// ok is the data of an answer that must have succeeded.
func (r *response) ok() map[string]any {
	r.t.Helper()
	var e struct {
		Status    string
		Data      map[string]any
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(r.body, &e); err != nil || r.status != http.StatusOK || e.Status != "ok" || e.RequestID == "" {
		r.t.Fatalf("%s: %d %s (%v)", r.what, r.status, r.body, err)
	}
	return e.Data
}

// fails checks that an answer is the error it should be, in its envelope, and
// returns it.
func (r *response) fails(status int, code string) FailureReason {
	r.t.Helper()
	var f Failure
	method, path, _ := strings.Cut(r.what, " ")
	asked, err := http.NewRequestWithContext(r.t.Context(), method, strings.TrimSpace(path), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if errorShape(asked) != nil { // of another protocol
		var said struct {
			Error                 struct{ Message string }
			Detail, Message, Code string
			Details               any
		}
		err := json.Unmarshal(r.body, &said)
		told := said.Error.Message + said.Detail + said.Message
		if err != nil || r.status != status || told == "" || said.Code != "" && said.Code != code {
			r.t.Fatalf("%s: %d %s, want %d %s", r.what, r.status, r.body, status, code)
		}
		return FailureReason{Code: code, Message: told, Details: said.Details}
	}
	if err := json.Unmarshal(r.body, &f); err != nil || f.Status != "error" || f.RequestID == "" || f.Reason.Message == "" {
		r.t.Fatalf("%s: no error envelope: %d %s", r.what, r.status, r.body)
	}
	if r.status != status || f.Reason.Code != code {
		r.t.Fatalf("%s: %d %s, want %d %s: %s", r.what, r.status, f.Reason.Code, status, code, r.body)
	}
	return f.Reason
}

// items is the data of a page.
func items(data map[string]any) []map[string]any {
	list := []map[string]any{}
	for _, one := range data["data"].([]any) {
		list = append(list, one.(map[string]any))
	}
	return list
}
