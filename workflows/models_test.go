package workflows_test

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

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/observed"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// asked is what a provider was asked.
type asked struct {
	Model       string   `json:"model"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	System      []struct {
		Text string `json:"text"`
	} `json:"system"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

func (a asked) system() string {
	var texts []string
	for _, s := range a.System {
		texts = append(texts, s.Text)
	}
	return strings.Join(texts, "\n")
}

// provider is a server of Anthropic's protocol that answers with the name of
// the model it was asked for.
type provider struct {
	mu       sync.Mutex
	requests []asked
	refuse   func(n int, w http.ResponseWriter) bool // of request n, from 1
	then     func(n int)                             // before answering it
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.requests = append(p.requests, a)
	n := len(p.requests)
	p.mu.Unlock()
	if p.refuse != nil && p.refuse(n, w) {
		return
	}
	if p.then != nil {
		p.then(n)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":100,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + a.Model + `"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10}}`,
		`{"type":"message_stop"}`,
	} {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(data), &e) // it is JSON
		_, _ = io.WriteString(w, "event: "+e.Type+"\ndata: "+data+"\n\n")
	}
}

func (p *provider) all() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]asked(nil), p.requests...)
}

// talking is a world whose chat tool asks the provider.
func talking(t *testing.T, p *provider, graph string) *activitiestest.World {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	m, err := anthropic.New(anthropic.Options{BaseURL: server.URL, APIKey: "k", Model: "configured"})
	if err != nil {
		t.Fatal(err)
	}
	m = observed.New(m, observed.Options{Prices: observed.Prices{"old-small": {Input: 1000, Output: 10_000}}})
	w := activitiestest.New(graph)
	for _, one := range builtin.Tools(builtin.Parts{Model: m}) {
		if one.Name() == "llm.generic_chat_v1" {
			w.Tool("say", models, one.Run)
		}
	}
	return w
}

// policy is a version of a policy of models.
func policy(owner string, version int, doc string) artifacts.Artifact {
	return artifacts.Artifact{
		ID: "policy of " + owner, OwnerID: owner, Type: artifacts.KindModels, Name: "default", Version: version,
		Schema: json.RawMessage(`{"kind":"policy.models",` + doc + `}`),
	}
}

// everybodys names its models after when it was written.
func everybodys(version int, age string) artifacts.Artifact {
	return policy("", version, fmt.Sprintf(`"default":{"tier":"small","temperature":0.5},
		"backends":{"anthropic":{"small":"%[1]s-small","large":"%[1]s-large"}},
		"plans":{"free":{"tiers":{"large":"small"},"max_tokens":700}}`, age))
}

const twoNodes = `{"kind":"workflow.chat","entrypoint":"first","nodes":[
	{"id":"first","type":"tool_call","tool":"say","inputs":{"message":"${input.message}"},"next":"second"},
	{"id":"second","type":"tool_call","tool":"say","inputs":{"message":"${vars.first.answer}"},"next":"end"},
	{"id":"end","type":"end","response":"${vars.first.answer} ${vars.second.answer}"}]}`

// Requirements: LORA-26, PLAT-08
func TestARunKeepsToTheModelsItBeganWith(t *testing.T) {
	t.Parallel()
	p := &provider{}
	w := talking(t, p, twoNodes)
	w.Put(everybodys(1, "old"))
	p.then = func(n int) {
		if n == 1 {
			w.Put(everybodys(2, "new"))
		}
	}
	b := setup(t, w)
	b.set.Backend = "anthropic"
	b.chat("hello")
	b.answered("old-small old-small")
	c := b.closed()
	if !strings.Contains(fmt.Sprint(c.End.Pins), "{policy of  default 1}") {
		t.Errorf("the run's pins are %v", c.End.Pins)
	}
	done := w.Event(stream.MessageDone)
	usage, _ := done["usage"].(map[string]any)
	if done["model"] != "old-small" || c.Message.TokensIn != 200 || c.Message.TokensOut != 20 || usage["cost_usd"] != 0.4 {
		t.Errorf("the message is of %d and %d tokens: %v", c.Message.TokensIn, c.Message.TokensOut, done)
	}
	later := setup(t, w)
	later.set.Backend = "anthropic"
	w.Closed = nil
	later.chat("hello again")
	later.answered("new-small new-small")
}

// Requirements: LORA-22, LORA-26
func TestThePlanAndThePersonHaveASayInTheModel(t *testing.T) {
	t.Parallel()
	anns := policy(activitiestest.Viewer.UserID, 1, `"roles":{"chat":{"tier":"best","temperature":0.1,"max_tokens":5000},"agent":{"tier":"large"}},
		"backends":{"anthropic":{"best":"anns-best"}},"plans":{"free":{"max_tokens":99999}}`)
	for name, c := range map[string]struct {
		stored  []artifacts.Artifact
		backend string
		plan    string
		inputs  string
		want    string // model, temperature, max_tokens
	}{
		"nothing said":        {nil, "anthropic", "free", ``, "configured <nil> 4096"},
		"everybody's":         {[]artifacts.Artifact{everybodys(1, "x")}, "anthropic", "paid", ``, "x-small 0.5 4096"},
		"of another backend":  {[]artifacts.Artifact{everybodys(1, "x")}, "lorax", "paid", ``, "configured 0.5 4096"},
		"the plan's bound":    {[]artifacts.Artifact{everybodys(1, "x")}, "anthropic", "free", ``, "x-small 0.5 700"},
		"a person's own":      {[]artifacts.Artifact{everybodys(1, "x"), anns}, "anthropic", "paid", ``, "anns-best 0.1 5000"},
		"own, on a plan":      {[]artifacts.Artifact{everybodys(1, "x"), anns}, "anthropic", "free", ``, "anns-best 0.1 700"},
		"asked for in inputs": {[]artifacts.Artifact{everybodys(1, "x"), anns}, "anthropic", "free", `,"model":"named","temperature":0.9,"max_tokens":50`, "named 0.9 50"},
		"too much asked for":  {[]artifacts.Artifact{everybodys(1, "x")}, "anthropic", "free", `,"max_tokens":9000`, "x-small 0.5 700"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &provider{}
			w := talking(t, p, `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","inputs":{"message":"hi"`+c.inputs+`}}]}`)
			for _, a := range c.stored {
				w.Put(a)
			}
			b := setup(t, w)
			b.set.Backend = c.backend
			in := w.Chat("hi", chat.TurnInput{})
			in.Viewer.Plan = c.plan
			b.turn(in)
			got := p.all()
			if len(got) != 1 {
				t.Fatalf("%d requests, %s", len(got), b.closed().End.Error)
			}
			temperature := "<nil>"
			if got[0].Temperature != nil {
				temperature = fmt.Sprint(*got[0].Temperature)
			}
			if is := fmt.Sprintf("%s %s %d", got[0].Model, temperature, got[0].MaxTokens); is != c.want {
				t.Errorf("asked %s, want %s", is, c.want)
			}
			if who := got[0].Metadata.UserID; who == "" || strings.Contains(who, in.Viewer.UserID) {
				t.Errorf("the provider is told the person is %q", who)
			}
		})
	}
}

// Requirements: LORA-10 (instructions on an API backend), PLAT-08
func TestTheInstructionsOfARunsAdaptersReachTheProvider(t *testing.T) {
	t.Parallel()
	adapter := func(version int, text string) artifacts.Artifact {
		return artifacts.Artifact{ID: "captain", Type: artifacts.KindAdapter, Name: "captain", Version: version, Schema: json.RawMessage(
			`{"kind":"adapter.lora","type":"persona","backend":"hybrid","remote_model_id":"ft:1","prompt_instructions":"` + text + `"}`)}
	}
	p := &provider{}
	w := talking(t, p, twoNodes)
	w.Put(adapter(3, "Speak as a captain."))
	w.Put(artifacts.Artifact{ID: "routes", Type: artifacts.KindPolicy, Name: "default", Version: 1, Schema: json.RawMessage(
		`{"kind":"policy.routing","rules":[{"id":"on","when":"true","action":{"type":"activate_adapter_by_type","adapter_type":"persona","weight":0.5}}]}`)})
	p.then = func(n int) {
		if n == 1 {
			w.Put(adapter(4, "Speak as a pirate."))
		}
	}
	b := setup(t, w)
	policies, _ := b.set.Artifacts.(activities.Policies)
	b.set.Router = activities.NewRouter(policies, routing.Backend{}, nil)
	b.turn(w.Chat("hello", chat.TurnInput{ArtifactIDs: []string{"captain"}}))
	b.answered("configured configured")
	for i, a := range p.all() {
		if !strings.HasSuffix(a.system(), "\nSpeak as a captain.") {
			t.Errorf("request %d has the system text %q", i+1, a.system())
		}
	}
	if pins := b.closed().End.Pins; !strings.Contains(fmt.Sprint(pins), "{captain captain 3}") {
		t.Errorf("the run's pins are %v", pins)
	}
}

// Requirements: LORA-25 (a rate limit is tried again)
func TestARateLimitIsWaitedForAsLongAsTheProviderAsks(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Duration{"7": 7 * time.Second, "": time.Second, "3600": time.Minute} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			p := &provider{refuse: func(n int, w http.ResponseWriter) bool {
				if n > 1 {
					return false
				}
				if after != "" {
					w.Header().Set("Retry-After", after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}}
			b := setup(t, talking(t, p, oneNode))
			began := b.env.Now()
			b.chat("hello")
			b.answered("configured")
			if waited := b.env.Now().Sub(began); waited < want || waited > want+time.Second {
				t.Errorf("the second request came after %s, want %s", waited, want)
			}
		})
	}
}

// Requirements: LORA-25 (a clean message)
func TestWhatAProviderRefusesIsAskedOnce(t *testing.T) {
	t.Parallel()
	p := &provider{refuse: func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`)
		return true
	}}
	b := setup(t, talking(t, p, oneNode))
	b.chat("hello")
	last := b.world.Event(stream.Error)
	if message, _ := last["message"].(string); len(p.all()) != 1 || last["code"] != string(fault.Invalid) || !strings.Contains(message, "too long") {
		t.Errorf("%d requests, and the person sees %v", len(p.all()), last)
	}
}

// Requirements: LORA-25 (a timeout is tried again once)
func TestAModelThatIsTooSlowIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	late := fault.New(fault.Internal, "The model did not answer in time.").With(map[string]any{"reason": graph.CodeTimeout})
	b := setup(t, activitiestest.New(oneNode).Tool("say", models, failing(99, late)))
	b.chat("hello")
	if c := b.closed(); c.End.Status != run.Failed {
		t.Errorf("the turn ended %s", c.End.Status)
	}
	if n := b.world.Count("answer"); n != 2 {
		t.Errorf("the tool was called %d times, want 2", n)
	}
	if last := b.world.Event(stream.Error); last["code"] != string(fault.Internal) || last["message"] != late.Message {
		t.Errorf("the error event is %v", last)
	}
}

// Requirements: LORA-26, PLAT-08
func TestAChildKeepsToItsParentsModels(t *testing.T) {
	t.Parallel()
	p := &provider{}
	w := talking(t, p, `{"kind":"workflow.chat","entrypoint":"first","nodes":[
		{"id":"first","type":"tool_call","tool":"say","inputs":{"message":"hi"},"next":"child"},
		{"id":"child","type":"workflow","workflow":"inner","inputs":{"message":"${vars.first.answer}"},"next":"end"},
		{"id":"end","type":"end","response":"${vars.first.answer} ${vars.child.answer}"}]}`)
	w.Workflows["inner"] = oneNode
	w.Put(everybodys(1, "old"))
	p.then = func(int) { w.Put(everybodys(2, "new")) }
	b := setup(t, w)
	b.set.Backend = "anthropic"
	b.chat("hello")
	b.answered("old-small old-small")
}

// Requirements: STREAM-09, CHAT-27
func TestAModelElsewhereSpeaksAsLongAsItsPlanSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec             tool.Spec
		longest, silence time.Duration
	}{
		"elsewhere":       {models, 30*time.Minute + 2*time.Minute, 15 * time.Second},
		"in this process": {tool.Spec{Runs: tool.Inline, Queue: tool.QueueModels}, 0, 0},
		"no model":        {apart, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var longest, silence, left time.Duration
			b := setup(t, activitiestest.New(oneNode).Tool("say", c.spec, func(ctx context.Context, call *tool.Call) (map[string]any, error) {
				longest, silence = call.Longest, call.Silence
				if end, bounded := ctx.Deadline(); bounded {
					left = time.Until(end)
				}
				return map[string]any{"answer": "So it is."}, nil
			}))
			b.set.MaxDecode = func(string) time.Duration { return 30 * time.Minute }
			b.chat("hello")
			b.answered("So it is.")
			if longest != c.longest || silence != c.silence {
				t.Errorf("it may take %s and be silent for %s", longest, silence)
			}
			if c.longest > 0 && left < 20*time.Minute {
				t.Errorf("%s are left of its time", left)
			}
		})
	}
}

// Requirements: ISO-09, CHAT-27
func TestWhatRestsIsToldAtOnce(t *testing.T) {
	t.Parallel()
	rests := fault.New(fault.Internal, "The model does not answer; it is tried again at 14:02:10 UTC.").With(map[string]any{
		"reason": fault.Upstream, "resting": true, "retry_after_ms": int64(30_000), "retry_at": "2026-11-23T14:02:10Z",
	})
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": models} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, failing(99, rests)))
			began := b.env.Now()
			b.chat("hello")
			if n, took := b.world.Count("answer"), b.env.Now().Sub(began); n != 1 || took >= time.Second {
				t.Errorf("%d calls within %s", n, took)
			}
			last := b.world.Event(stream.Error)
			if last["reason"] != fault.Upstream || last["message"] != rests.Message || last["retry_at"] != "2026-11-23T14:02:10Z" {
				t.Errorf("the person is told %v", last)
			}
		})
	}
}
