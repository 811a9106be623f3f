package artifacts_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// The documents of the person in every play.
const (
	leaveID  = "11111111-1111-7111-8111-111111111111"
	travelID = "22222222-2222-7222-8222-222222222222"
	bankID   = "33333333-3333-7333-8333-333333333333"
	otherID  = "99999999-9999-7999-8999-999999999999" // somebody else's
	setID    = "55555555-5555-7555-8555-555555555555" // travel and bank
)

// object is short for what tools give and take.
type object = map[string]any

// play is one turn of the assistant. The tools that only arrange values are
// the program's own; what models, retrieval and the web say is scripted.
type play struct {
	user    object // what the graph may read of the person
	input   object
	known   object   // conversation_docs of the turn before
	intents []object // what the model says of the intent, call by call
	refs    []object // and of the documents
	gathers []object // what retrieval gives, the last one again and again
	web     string   // "": not set up; "down": it fails; else the one result's text
	answers []any    // to the questions in order; nil cancels
	nothing bool     // the person has no documents
	cites   string   // the document of the answer's one citation
}

// played is what came of it.
type played struct {
	outcome  graph.Outcome
	persist  object
	streams  []string // the statuses of each stream as /api/chat tells them, and its end
	asked    []graph.Ask
	calls    map[string]int      // by tool, and by role of a model's
	given    map[string][]object // inputs by the same names
	messages map[string]string   // of the statuses by node
}

// titles are the person's documents; they count how often they are listed.
type titles struct {
	all    []knowledge.Titled
	listed int
}

func (l *titles) OwnDocuments(context.Context, identity.Viewer, int) ([]knowledge.Titled, error) {
	l.listed++
	return l.all, nil
}

func (l *titles) DocumentsByID(_ context.Context, _ identity.Viewer, ids []string) ([]knowledge.Titled, error) {
	var out []knowledge.Titled
	for _, id := range ids {
		if at := slices.IndexFunc(l.all, func(d knowledge.Titled) bool { return d.ID == id }); at >= 0 {
			out = append(out, l.all[at])
		}
	}
	return out, nil
}

func (*titles) SetsByID(_ context.Context, _ identity.Viewer, ids []string) ([]knowledge.Set, error) {
	if slices.Contains(ids, setID) {
		return []knowledge.Set{{ID: setID, Documents: []string{travelID, bankID}}}, nil
	}
	return nil, nil
}

// stage is a play under way.
type stage struct {
	t     *testing.T
	play  play
	out   *played
	specs map[string]artifacts.Bound
	box   *tool.Box
	shelf *titles
	begun []string // of the present stream
	told  []string
	asks  int
}

// staged is the artifact that ships, and the tools it names.
type staged struct {
	doc   json.RawMessage
	specs map[string]artifacts.Bound
}

// assistant reads it once for all plays: nothing changes it.
var assistant = sync.OnceValues(func() (staged, error) {
	specs, err := builtin.Specs()
	if err != nil {
		return staged{}, err
	}
	library := artifacts.NewLibrary(artifactstest.NewStore(), specs)
	if err := library.Seed(context.Background()); err != nil {
		return staged{}, err
	}
	a, err := library.Workflow(context.Background(), ann, artifacts.AssistantWorkflow)
	if err != nil {
		return staged{}, err
	}
	bound, err := library.ToolsOf(context.Background(), ann, a.Schema)
	return staged{a.Schema, bound}, err
})

// perform plays a turn on the artifact that ships.
func perform(t *testing.T, p play) *played {
	t.Helper()
	ships, err := assistant()
	if err != nil {
		t.Fatal(err)
	}
	doc, specs := ships.doc, maps.Clone(ships.specs)
	if p.web == "" {
		delete(specs, "web.search_v1")
	} else if _, there := specs["web.search_v1"]; !there {
		specs["web.search_v1"] = artifacts.Bound{Spec: tool.Spec{Name: "web.search_v1"}}
	}
	g, err := graph.Parse(doc, artifacts.GraphTools(specs), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, p, specs)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run, queue := g.Start(graph.Input{Input: p.input, User: p.user, Persisted: object{"conversation_docs": p.known}, Now: now})
	if p.known == nil {
		run, queue = g.Start(graph.Input{Input: p.input, User: p.user, Now: now})
	}
	for n := 0; len(queue) > 0 && n < 300; n++ {
		e := queue[0]
		queue = append(queue[1:], s.happen(run, e, now)...)
		run = restored(t, g, run)
	}
	outcome, ended := run.Outcome()
	if !ended {
		t.Fatal("the turn did not end")
	}
	s.endStream(outcomeName(outcome))
	s.out.outcome, s.out.persist = outcome, run.Persist()
	s.out.calls["titles"] = s.shelf.listed
	return s.out
}

// restored is a run as another worker goes on with it.
func restored(t *testing.T, g *graph.Graph, run *graph.Run) *graph.Run {
	t.Helper()
	b, err := run.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.Restore(b)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func outcomeName(o graph.Outcome) string {
	switch {
	case o.Err != nil:
		return "error"
	case o.Suppressed:
		return "suppressed"
	}
	return "response"
}

func newStage(t *testing.T, p play, specs map[string]artifacts.Bound) *stage {
	t.Helper()
	shelf := &titles{}
	if !p.nothing {
		shelf.all = []knowledge.Titled{
			{ID: leaveID, Title: "Leave policy"}, {ID: travelID, Title: "Travel policy"}, {ID: bankID, Title: "BankNegara2024"},
		}
	}
	box, err := tool.NewBox(builtin.Tools(builtin.Parts{Titles: shelf, Sets: shelf}), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &played{calls: map[string]int{}, given: map[string][]object{}, messages: map[string]string{}}
	return &stage{t: t, play: p, out: out, specs: specs, box: box, shelf: shelf}
}

// happen does what an effect asks for.
func (s *stage) happen(run *graph.Run, e graph.Effect, now time.Time) []graph.Effect {
	s.status(e, false)
	switch e.Kind {
	case graph.KindAsk:
		s.out.asked = append(s.out.asked, *e.Ask)
		s.endStream("interrupt " + e.Ask.Type)
		answer := s.answer()
		return run.Done(e.ID, object{"answer": answer, "cancelled": answer == nil}, now)
	case graph.KindWait:
		return run.Done(e.ID, nil, e.Wait.Until)
	default:
	}
	out, failure := s.call(e)
	if failure != nil {
		return run.Fail(e.ID, *failure, now)
	}
	s.status(e, true)
	if list, _ := out["documents"].([]any); len(list) > 0 && !e.Quiet && e.Stage == "" {
		s.told[len(s.told)-1] += "+docs"
	}
	if query, _ := out["web_query"].(string); query != "" && !e.Quiet && e.Stage == "" {
		s.told[len(s.told)-1] += "+web"
	}
	return run.Done(e.ID, out, now)
}

// status tells of a step as the API does: each node once in a stream, when it
// is done or the run pauses in it (C-17).
func (s *stage) status(e graph.Effect, done bool) {
	if e.Quiet {
		return
	}
	name := e.Node
	if e.Stage != "" {
		name = e.Stage
	}
	s.out.messages[name] = e.Description
	if done && e.Stage != "" {
		return
	}
	if !done && e.Kind != graph.KindAsk {
		s.begun = append(s.begun, name)
		return
	}
	s.tell(name)
}

func (s *stage) tell(name string) {
	if !slices.ContainsFunc(s.told, func(t string) bool { return t == name || strings.HasPrefix(t, name+"+") }) {
		s.told = append(s.told, name)
	}
}

func (s *stage) endStream(end string) {
	for _, name := range s.begun {
		s.tell(name)
	}
	s.out.streams = append(s.out.streams, strings.Join(append(s.told, end), " "))
	s.begun, s.told = nil, nil
}

func (s *stage) answer() any {
	if s.asks >= len(s.play.answers) {
		s.t.Fatalf("the play has no answer to %q", s.out.asked[s.asks].Message)
	}
	s.asks++
	return s.play.answers[s.asks-1]
}

// call is a tool's own work, or what the play says.
func (s *stage) call(e graph.Effect) (object, *graph.Failure) {
	name := e.Call.Tool
	if role, ok := e.Call.Inputs["role"].(string); ok {
		name = role
	}
	s.out.calls[name]++
	n := s.out.calls[name]
	s.out.given[name] = append(s.out.given[name], e.Call.Inputs)
	switch e.Call.Tool {
	case "llm.structured_v1":
		return s.decided(name, n, e.Call.Inputs), nil
	case "rag.gather_v1":
		return s.gathered(n), nil
	case "llm.compose_v1":
		return object{"answer": "Answer [1].", "citations": []any{object{"n": 1.0, "document_id": s.play.cites}}, "confidence": "high", "found": true}, nil
	case "llm.generic_chat_v1":
		return object{"answer": "You are welcome."}, nil
	case "web.search_v1":
		return s.searched(e.Call.Inputs)
	}
	out, err := s.box.Call(s.t.Context(), s.specs[e.Call.Tool].Spec, &tool.Call{Viewer: ann, Inputs: e.Call.Inputs})
	if err != nil {
		s.t.Fatalf("%s: %v", e.ID, err)
	}
	return out, nil
}

func (s *stage) decided(role string, n int, inputs object) object {
	script := s.play.intents
	if role == "documents" {
		script = s.play.refs
	}
	if n > len(script) {
		s.t.Fatalf("the model was asked for %s %d times", role, n)
	}
	value := object{}
	maps.Copy(value, inputs["defaults"].(object))
	maps.Copy(value, script[n-1])
	return object{"value": value, "valid": true}
}

func (s *stage) gathered(n int) object {
	out := object{"passages": []any{object{"text": "p"}}, "documents": []any{}, "confidence": "high", "average_similarity": 0.9, "summary": ""}
	if len(s.play.gathers) > 0 {
		maps.Copy(out, s.play.gathers[min(n, len(s.play.gathers))-1])
	}
	return out
}

func (s *stage) searched(inputs object) (object, *graph.Failure) {
	if s.play.web == "down" {
		return nil, &graph.Failure{Code: "server_error", Message: "down", Retryable: true}
	}
	return object{"results": []any{object{"title": "T", "url": "https://example.org", "text": s.play.web}}, "query": inputs["query"], "web_query": inputs["query"]}, nil
}
