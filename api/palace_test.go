package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// spooledThings are ids of what the capture proxy kept of somebody's agents.
type spooledThings struct{ agent, exchange, block, lineage, note string }

const keptBody = `{"model":"m","system":"` + mark + `","messages":[{"role":"user","content":"` + mark + `"}]}`

// keeps takes an exchange of the person's agent in.
func (p *person) keeps() spooledThings { p.Helper(); return p.keepsBody(keptBody) }

// keepsBody takes one of another request in.
func (p *person) keepsBody(body string) spooledThings {
	p.Helper()
	dir, v := p.TempDir(), p.viewer()
	spool, err := capture.Open(capture.Options{Dir: dir, Memory: 1 << 20, Disk: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	p.must(err)
	exchange := id.New()
	r := spool.Begin(capture.Request{ID: exchange, Agent: mark, Project: mark, Started: time.Now(), Method: http.MethodPost, Path: "/v1/messages", Size: int64(len(body)), Header: http.Header{"X-Claude-Code-Session-Id": {id.New()}}}, []byte(body))
	r.Answer(http.StatusOK, http.Header{"Content-Type": {"application/json"}})
	r.Chunk([]byte(`{"type":"message","model":"m","content":[{"type":"text","text":"` + mark + `"}],"usage":{"input_tokens":8,"output_tokens":2}}`))
	r.End(capture.Ending{Ended: time.Now(), Complete: true})
	p.must(spool.Close(p.Context()))
	p.must(palace.NewIntake(palace.IntakeOptions{
		Dir: dir, Spool: dir, Store: p.store, Log: slog.New(slog.DiscardHandler), Owner: func(context.Context) (identity.Viewer, error) { return v, nil },
	}).All(p.Context()))
	agent := p.get("/v1/palace/agents").ok()["data"].([]any)[0].(map[string]any)["id"].(string)
	view := p.get("/v1/palace/agents/1/timeline").ok()
	block := view["blocks"].([]any)[1].(map[string]any)
	k := spooledThings{agent: agent, exchange: exchange, block: block["uuid"].(string), lineage: view["lineage"].(map[string]any)["id"].(string)}
	library := palace.NewLibrary(p.store)
	q, err := library.Question(p.Context(), v, k.lineage)
	p.must(err)
	ids := q.Window.IDs()
	_, _, err = library.Heard(p.Context(), v, q, palace.Reply{Model: mark, Text: fmt.Sprintf("--%d", ids[0])})
	p.must(err)
	_, err = library.Note(p.Context(), v, q, mark, []palace.Draft{{Says: mark, Blocks: ids[len(ids)-1:]}})
	p.must(err)
	k.note = p.get("/v1/palace/notes").ok()["data"].([]any)[0].(map[string]any)["id"].(string)
	return k
}

// Requirements: PAL-13, PAL-25 (each body to the byte)
func TestWhatTheCaptureProxyKeptIsReadAtTheAPI(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	k := p.keeps()
	if got := p.get("/v1/palace/exchanges/" + k.exchange + "/request"); string(got.body) != keptBody {
		t.Errorf("the request is %s", got.body)
	}
	if got := p.get("/v1/palace/exchanges/" + k.exchange).ok(); got["lineage"] == nil || got["usage"].(map[string]any)["output_tokens"] != 2.0 {
		t.Errorf("the exchange is %v", got)
	}
	if got := p.get("/v1/palace/blocks/" + k.block).ok(); got["content"].(map[string]any)["text"] != mark || got["block_type"] != "Assistant" {
		t.Errorf("the block is %v", got)
	}
	if got := p.get("/v1/palace/blocks/" + k.block + "/raw"); string(got.body) != `{"type":"text","text":"`+mark+`"}` {
		t.Errorf("the block is %s", got.body)
	}
	if got := p.do(http.MethodPut, "/v1/palace/blocks/"+k.block+"/tier", map[string]any{"tier": "LONG"}).ok(); got["retention_tier"] != "LONG" || got["tier_by"] != "person" {
		t.Errorf("the tier is %v", got)
	}
	if got := p.do(http.MethodPut, "/v1/palace/blocks/"+k.block+"/tier", map[string]any{"tier": "EVER"}); got.status != http.StatusBadRequest {
		t.Errorf("no tier: %d", got.status)
	}
	if got := p.get("/v1/palace/agents/1/context?scope=global").ok()["blocks"].([]any); len(got) != 1 || got[0].(map[string]any)["block_type"] != "System" {
		t.Errorf("what all agents see is %v", got)
	}
	if got := p.get("/v1/palace/exchanges?kind=main&agent=" + k.agent).ok()["data"].([]any); len(got) != 1 {
		t.Errorf("%d exchanges", len(got))
	}
	if got := p.get("/v1/palace/lineages?agent=" + k.agent).ok()["data"].([]any); len(got) != 1 || got[0].(map[string]any)["blocks"] != 2.0 {
		t.Errorf("lineages %v", got)
	}
	if got := p.get("/v1/palace/stats").ok(); got["blocks"] != 3.0 {
		t.Errorf("stats %v", got)
	}
}

// Requirements: PAL-08 (the latency in /stats), PAL-12 (answers add and remove), PAL-16 (announcements), PAL-19
func TestAPersonSaysWhatAgentsSee(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	k := p.keeps()
	put := func(path string, body map[string]any) *response {
		return p.do(http.MethodPut, "/v1/palace/blocks/"+k.block+path, body)
	}
	if got := put("/star", map[string]any{"starred": true}).ok(); got["starred"] != true || got["retention_tier"] != "LONG" || got["tier_by"] != "rule" {
		t.Errorf("a starred block is %v", got)
	}
	for _, c := range []struct{ keep, want any }{{true, "++"}, {false, "--"}, {nil, ""}} {
		if got := put("/keep", map[string]any{"keep": c.keep}).ok(); got["wish"] != c.want {
			t.Errorf("keep %v: %v", c.keep, got["wish"])
		}
	}
	if got := p.get("/v1/palace/events?block=" + k.block).ok()["data"].([]any); len(got) != 4 || got[3].(map[string]any)["what"] != "starred" {
		t.Errorf("the events are %v", got)
	}
	if got := p.do(http.MethodPost, "/v1/palace/announcements", map[string]any{"text": "The build is broken."}).ok(); got["scope"] != "global" || got["label"] != "The build is broken." {
		t.Errorf("an announcement is %v", got)
	}
	if got := p.get("/v1/palace/announcements").ok()["data"].([]any); len(got) != 1 {
		t.Errorf("%d announcements", len(got))
	}
	if got := p.do(http.MethodPost, "/v1/palace/classify", map[string]any{"blocks": []int{1, 2}, "agent_context": map[string]any{"agent_id": 1, "task": "go on"}}).ok(); len(got["add"].([]any)) != 2 || len(got["remove"].([]any)) != 0 {
		t.Errorf("classified: %v", got)
	}
	if got := p.get("/v1/palace/lineages/" + k.lineage + "/view"); got.status != http.StatusNotFound {
		t.Errorf("a history without a plan: %d", got.status)
	}
	planner := palace.NewPlanner(palace.PlannerOptions{Dir: p.TempDir(), Library: palace.NewLibrary(p.store), Log: slog.New(slog.DiscardHandler)})
	_, err := planner.Plan(p.Context(), p.viewer(), k.lineage)
	p.must(err)
	if got := p.get("/v1/palace/lineages/" + k.lineage + "/view").ok(); got["mode"] != "shadow" || got["exchanges"] != 1.0 || len(got["epochs"].([]any)) != 0 {
		t.Errorf("the view is %v", got)
	}
	if got := p.do(http.MethodPost, "/v1/palace/lineages/"+k.lineage+"/epoch", map[string]any{"open": true}).ok(); got["asked_at"] == nil {
		t.Errorf("an epoch that was asked for: %v", got)
	}
	if got := p.get("/v1/palace/stats").ok()["classifier_latency"].(map[string]any); got["calls"] != 1.0 || got["model"].(map[string]any)["calls"] != 1.0 {
		t.Errorf("the classifier's figures are %v", got)
	}
}

// What a model said is read, and what it proposes is kept by a person or is nothing.
//
// Requirements: PAL-08 (by a model), PAL-19
func TestAPersonKeepsWhatAModelProposes(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	k := p.keeps()
	said := p.get("/v1/palace/classifications?lineage=" + k.lineage).ok()["data"].([]any)
	if one := said[0].(map[string]any); len(said) != 1 || one["by"] != "model" || one["model"] != mark || one["outcome"] != "understood" || one["answer"] != "--1" || len(one["blocks"].([]any)) != 2 {
		t.Errorf("a model said %v", said)
	}
	note := p.get("/v1/palace/notes?state=proposed").ok()["data"].([]any)[0].(map[string]any)
	if note["says"] != mark || note["state"] != "proposed" || note["blocks"].([]any)[0] != k.block || note["agent_id"] != 1.0 {
		t.Errorf("a note is %v", note)
	}
	if source := note["sources"].([]any)[0].(map[string]any); source["uuid"] != k.block || source["label"] != mark || source["retention_tier"] != "MEDIUM" || source["exchange"] != k.exchange {
		t.Errorf("a note is drawn from %v", source)
	}
	if got := p.get("/v1/palace/blocks/" + k.block).ok(); got["retention_tier"] != "MEDIUM" {
		t.Errorf("a note that nobody keeps made its block %v", got["retention_tier"])
	}
	act := func(do string) *response { return p.do(http.MethodPost, "/v1/palace/notes/"+k.note+"/"+do, nil) }
	if got := act("dismiss").ok(); got["state"] != "dismissed" {
		t.Errorf("dismissed: %v", got)
	}
	if got := act("keep").ok(); got["state"] != "kept" || got["decided_at"] == nil {
		t.Errorf("kept: %v", got)
	}
	if got := p.get("/v1/palace/blocks/" + k.block).ok(); got["retention_tier"] != "LONG" || got["tier_by"] != "person" {
		t.Errorf("the block of a kept note is %v by %v", got["retention_tier"], got["tier_by"])
	}
	if got := act("dismiss"); got.status != http.StatusConflict {
		t.Errorf("a kept note is dismissed: %d", got.status)
	}
	if got := p.get("/v1/palace/notes?state=proposed").ok()["data"].([]any); len(got) != 0 {
		t.Errorf("%d notes wait", len(got))
	}
}

// A model without a price costs nothing that is known, which is not nothing.
//
// Requirements: OBS-09
func TestWhatCapturedExchangesCostIsReadAtTheAPI(t *testing.T) {
	t.Parallel()
	p := newWorld(t).signUp("ada@example.org")
	k := p.keeps()
	costs := p.get("/v1/palace/costs?days=2&agent=" + k.agent).ok()
	day := costs["days"].([]any)[0].(map[string]any)
	if costs["exchanges"] != 1.0 || costs["unpriced"] != 1.0 || costs["usd"] != nil || day["output_tokens"] != 2.0 || day["model"] != "m" {
		t.Errorf("the costs are %v", costs)
	}
	if ruler := costs["ruler"].(map[string]any); ruler["told"] != false || ruler["exchanges"] != 0.0 {
		t.Errorf("the ruler is %v", ruler)
	}
	if got := p.get("/v1/palace/misses").ok()["data"].([]any); len(got) != 0 {
		t.Errorf("misses: %v", got)
	}
	e := p.get("/v1/palace/exchanges/" + k.exchange).ok()
	for _, name := range []string{"usd", "predicted_read", "predicted_write"} {
		if value, there := e[name]; !there || value != nil {
			t.Errorf("%s of an exchange is %v", name, value)
		}
	}
	if e["miss"] != nil {
		t.Errorf("a first request missed: %v", e["miss"])
	}
	l := p.get("/v1/palace/lineages?agent=" + k.agent).ok()["data"].([]any)[0].(map[string]any)
	if l["context_tokens"] != 10.0 || l["cache_share"] != 0.0 || l["unpriced"] != 1.0 {
		t.Errorf("a lineage is %v", l)
	}
	for _, path := range []string{"/v1/palace/costs?days=0", "/v1/palace/costs?agent=x", "/v1/palace/misses?cursor=x"} {
		if got := p.get(path); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func exchangeOf(of belongings) string { return of.kept.exchange }

func lineageOf(of belongings) string { return of.kept.lineage }

func blockOf(of belongings) string { return of.kept.block }

func noteOf(of belongings) string { return of.kept.note }

// palaceWalls are those of what the capture proxy kept. Agents have small numbers,
// which are each person's own.
var palaceWalls = map[string]wall{
	"GET /v1/palace/agents":                     ownOnly(http.StatusOK),
	"GET /v1/palace/agents/{agent_id}/context":  noAgent,
	"GET /v1/palace/agents/{agent_id}/timeline": noAgent,
	"GET /v1/palace/lineages":                   ofAgent,
	"GET /v1/palace/exchanges":                  ofAgent,
	"GET /v1/palace/exchanges/{id}":             byID(exchangeOf, nil),
	"GET /v1/palace/exchanges/{id}/request":     byID(exchangeOf, nil),
	"GET /v1/palace/exchanges/{id}/response":    byID(exchangeOf, nil),
	"GET /v1/palace/exchanges/{id}/sent":        byID(exchangeOf, nil),
	"GET /v1/palace/exchanges/{id}/diff":        byID(exchangeOf, nil),
	"GET /v1/palace/epochs":                     ofLineage,
	"GET /v1/palace/blocks/{id}":                byID(blockOf, nil),
	"GET /v1/palace/blocks/{id}/raw":            byID(blockOf, nil),
	"PUT /v1/palace/blocks/{id}/tier":           byID(blockOf, map[string]any{"tier": "LONG"}),
	"POST /v1/palace/blocks/{id}/erase":         byID(blockOf, nil),
	"POST /v1/palace/lineages/{id}/erase":       byID(lineageOf, nil),
	"POST /v1/palace/agents/{agent_id}/erase":   noAgent,
	"PUT /v1/palace/blocks/{id}/star":           byID(blockOf, map[string]any{"starred": true}),
	"PUT /v1/palace/blocks/{id}/keep":           byID(blockOf, map[string]any{"keep": true}),
	"GET /v1/palace/events":                     ofBlock,
	"POST /v1/palace/classify":                  ownOnly(http.StatusNotFound, map[string]any{"blocks": []int{9999}}),
	"GET /v1/palace/lineages/{id}/view":         byID(lineageOf, nil),
	"POST /v1/palace/lineages/{id}/epoch":       byID(lineageOf, map[string]any{"open": true}),
	"GET /v1/palace/classifications":            ofLineage,
	"GET /v1/palace/notes":                      ofLineage,
	"POST /v1/palace/notes/{id}/keep":           byID(noteOf, nil),
	"POST /v1/palace/notes/{id}/dismiss":        byID(noteOf, nil),
	"GET /v1/palace/announcements":              ownOnly(http.StatusOK),
	"POST /v1/palace/announcements":             ownOnly(http.StatusOK, map[string]any{"text": "hello"}),
	"GET /v1/palace/stats":                      ownOnly(http.StatusOK),
	"GET /v1/palace/exchanges/{id}/difference":  byID(exchangeOf, nil),
	"GET /v1/palace/costs":                      ofAgent,
	"GET /v1/palace/misses":                     ofAgent,
}

func noAgent(p *person, _ belongings) []attack {
	return []attack{{request: p.request(p.method, strings.ReplaceAll(p.path, "{id}", "1"), nil), want: http.StatusNotFound}}
}

// ofLineage asks for what belongs to a history: of another's nothing is there.
func ofLineage(p *person, of belongings) []attack {
	return []attack{{request: p.request(p.method, p.path+"?lineage="+of.kept.lineage, nil), want: http.StatusOK}}
}

func ofBlock(p *person, of belongings) []attack {
	return []attack{{request: p.request(p.method, p.path+"?block="+of.kept.block, nil), want: http.StatusOK}}
}

func ofAgent(p *person, of belongings) []attack {
	return []attack{{request: p.request(p.method, p.path+"?agent="+of.kept.agent, nil), want: http.StatusOK}}
}

// Whoever comes by a way that only programs of a person have needs no token; nobody
// makes that claim by a header, and it is that person whose it is.
func TestARequestThatIsKnownToBeSomebodysNeedsNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	k := ada.keeps()
	bob := w.signUp("bob@example.org")
	handler := New(w.server.Options)
	status := func(ctx context.Context) int {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/v1/palace/blocks/"+k.block, nil)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Code
	}
	if got := status(Entered(t.Context(), ada.viewer())); got != http.StatusOK {
		t.Errorf("ada: %d", got)
	}
	if got := status(Entered(t.Context(), bob.viewer())); got != http.StatusNotFound {
		t.Errorf("bob: %d", got)
	}
	if got := status(t.Context()); got != http.StatusUnauthorized {
		t.Errorf("nobody: %d", got)
	}
}
