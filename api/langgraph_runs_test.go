package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
)

// §7, Agent Protocol: tokens are chunks of one message whose id is the stored one's.
func TestARunIsStreamedInEachMode(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	for mode, want := range map[string]string{
		"values": "metadata values end", "messages-tuple": "metadata messages end", "updates": "metadata updates end", "custom": "metadata custom end",
	} {
		got, events := ada.lgStream(at+"/runs/stream", lgRun("hello there", "stream_mode", mode))
		if lgKinds(events) != want {
			t.Errorf("%s: %s", mode, got.body)
		}
		if mode == "messages-tuple" && lgText(events) != "hello there" {
			t.Errorf("said %q", lgText(events))
		}
		where := got.header.Get("Content-Location")
		if !strings.HasPrefix(where, langgraphPath+at+"/runs/") || !strings.HasPrefix(got.header.Get("Location"), at+"/runs/") {
			t.Errorf("it is at %s, %s", where, got.header.Get("Location"))
		}
		_, events = ada.lgStream(strings.TrimPrefix(where, langgraphPath)+"/stream?stream_mode="+mode, nil)
		if lgKinds(events) != want {
			t.Errorf("%s, joined: %s", mode, lgKinds(events))
		}
	}
	_, events := ada.lgStream("/runs/stream", lgRun("alone", "stream_mode", []string{"values", "messages-tuple"}))
	var last LangGraphValues
	for _, e := range events {
		if e.Event == "values" {
			ada.must(json.Unmarshal(e.Data, &last))
		}
	}
	if lgText(events) != "alone" || said1(last) != "human:alone ai:alone" {
		t.Errorf("%+v", events)
	}
}

// §7, Agent Protocol: a question is an interrupt that Agent Inbox draws, and
// command.resume its answer, of the same run.
func TestAnInterruptIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	ask := func(text string) []LangGraphInterrupt {
		t.Helper()
		_, events := ada.lgStream(at+"/runs/stream", lgRun(text, "stream_mode", []string{"values", "updates"}))
		var v LangGraphValues
		ada.must(json.Unmarshal(events[len(events)-2].Data, &v))
		if lgKinds(events[len(events)-3:]) != "updates values end" || len(v.Interrupts) == 0 {
			t.Fatalf("%+v", events)
		}
		return v.Interrupts
	}
	asked := ask("ask which")[0]
	if c := asked.Value.Config; asked.Value.Message != "which" || !c.Respond || !c.Ignore || c.Edit || asked.Value.Action.Action != "doc_choice" {
		t.Errorf("%+v", asked)
	}
	thread := lg[LangGraphThread](ada, "GET", at, nil)
	if thread.Status != threadInterrupted || thread.Interrupts[asked.Value.RunID][0].ID != asked.ID {
		t.Errorf("%+v", thread)
	}
	state := lg[LangGraphState](ada, "GET", at+"/state", nil)
	if len(state.Next) != 1 || len(state.Tasks) != 1 || state.Tasks[0].Interrupts[0].ID != asked.ID {
		t.Errorf("%+v", state)
	}
	if found := lg[[]LangGraphThread](ada, "POST", "/threads/search", map[string]any{"status": "interrupted"}); len(found) != 1 {
		t.Errorf("%+v", found)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("three")); got.status != http.StatusBadRequest {
		t.Errorf("an answer that is none: %d %s", got.status, got.body)
	}
	_, events := ada.lgStream(at+"/runs/stream", map[string]any{"assistant_id": automatic, "stream_mode": "messages-tuple", "command": map[string]any{"resume": "two"}})
	if lgText(events) != `You chose "two"` || !strings.Contains(string(events[0].Data), asked.Value.RunID) {
		t.Errorf("%+v", events)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("two")); got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "No pending action") {
		t.Errorf("answered twice: %d %s", got.status, got.body)
	}
	for what, c := range map[string]struct {
		text   string
		resume any
		want   string
	}{
		"by its id":           {"ask a", "id", `You chose "one"`},
		"Agent Inbox":         {"ask b", []any{map[string]any{"type": "response", "args": "2"}}, `You chose "two"`},
		"ignored":             {"ask c", []any{map[string]any{"type": "ignore", "args": nil}}, `You chose null`},
		"null":                {"ask d", nil, `You chose null`},
		"a form, edited":      {"form", map[string]any{"type": "edit", "args": map[string]any{"action": "x", "args": map[string]any{"to": "Graz", "nights": 2}}}, `You chose {"nights":2,"to":"Graz"}`},
		"a form as an object": {"form", map[string]any{"to": "Graz", "nights": 3}, `You chose {"nights":3,"to":"Graz"}`},
	} {
		q := ask(c.text)[0]
		if c.resume == "id" {
			c.resume = map[string]any{q.ID: "one"}
		}
		got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(c.resume))
		if last := got.Messages[len(got.Messages)-1].Content; last != c.want {
			t.Errorf("%s: %q", what, last)
		}
	}
	// The SDK for Python leaves a resume of None out.
	ask("ask e")
	got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", map[string]any{"assistant_id": automatic, "command": map[string]any{}})
	if last := got.Messages[len(got.Messages)-1].Content; last != "You chose null" {
		t.Errorf("%q", last)
	}
}

// Of several interrupts each is answered by its id, at once or one after the other.
func TestSeveralInterruptsAreAnsweredById(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	open := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("ask this that")).Interrupts
	if len(open) != 2 {
		t.Fatalf("%+v", open)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("one")); got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "ambiguous_resume") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume(map[string]any{open[0].ID: "one", id.New(): "two"})); got.status != http.StatusConflict {
		t.Errorf("%d %s", got.status, got.body)
	}
	left := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(map[string]any{open[0].ID: "one"})).Interrupts
	if len(left) != 1 || left[0].ID != open[1].ID {
		t.Errorf("%+v", left)
	}
	got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(map[string]any{open[1].ID: "two"}))
	if len(got.Interrupts) != 0 || got.Messages[len(got.Messages)-1].Content != `You chose "two"` {
		t.Errorf("%+v", got)
	}
}

// A question that one protocol asked is answered from another, once.
func TestAnInterruptIsAnsweredFromAnotherProtocol(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	asked := ada.asks("ask which")
	got := lg[LangGraphOutcome](ada, "POST", "/threads/"+asked.About.ConversationID+"/runs/wait", lgResume("one"))
	if got.Messages[len(got.Messages)-1].Content != `You chose "one"` {
		t.Errorf("%+v", got)
	}
}

// §7, Agent Protocol: errors and cancels.
func TestARunFailsAndIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	_, events := ada.lgStream(at+"/runs/stream", lgRun("fail"))
	var failed LangGraphError
	ada.must(json.Unmarshal(events[len(events)-1].Data, &failed))
	if events[len(events)-1].Event != "error" || failed.Message != "The model is away." || failed.Error != "server_error" {
		t.Errorf("%+v", events)
	}
	if got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("fail")); got.Error == nil || got.Error.Message != "The model is away." {
		t.Errorf("%+v", got)
	}
	run := lg[LangGraphRun](ada, "POST", at+"/runs", lgRun("slow turn"))
	if run.Status != "running" || lg[LangGraphThread](ada, "GET", at, nil).Status != threadBusy {
		t.Errorf("%+v", run)
	}
	if got := ada.do("POST", langgraphPath+at+"/runs/"+run.ID+"/cancel?action=rollback", nil); got.status != http.StatusNotImplemented {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.do("POST", langgraphPath+at+"/runs/"+run.ID+"/cancel?wait=1", nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := lg[LangGraphRun](ada, "GET", at+"/runs/"+run.ID, nil); got.Status != "interrupted" {
		t.Errorf("%+v", got)
	}
	joined := lg[LangGraphOutcome](ada, "GET", at+"/runs/"+run.ID+"/join", nil)
	if joined.Messages[len(joined.Messages)-1].Content != "slow " && joined.Messages[len(joined.Messages)-1].Content != "slow" {
		t.Errorf("%s", said1(joined.LangGraphValues))
	}
	stranger := &person{world: w}
	if got := stranger.post("/langgraph/threads", map[string]any{}); got.status != http.StatusUnauthorized || !strings.Contains(string(got.body), `"detail"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// §7, Agent Protocol: the four ways of a second run while one goes on.
func TestASecondRunOfAThread(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]struct {
		status    int
		multitask string
	}{
		"reject": {http.StatusConflict, chat.MultitaskReject}, "enqueue": {http.StatusOK, chat.MultitaskEnqueue},
		"interrupt": {http.StatusOK, chat.MultitaskInterrupt}, "rollback": {http.StatusOK, ""},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.signUp("ada@example.org")
			at := "/threads/" + ada.newThread().ID
			first := lg[LangGraphRun](ada, "POST", at+"/runs", lgRun("slow turn"))
			got := ada.post(langgraphPath+at+"/runs", lgRun("next", "multitask_strategy", strategy))
			if got.status != want.status {
				t.Fatalf("%d %s", got.status, got.body)
			}
			turn := w.engine.turns[len(w.engine.turns)-1]
			if turn.Multitask != want.multitask || strategy == "rollback" && turn.Replaces != chat.AskedID(first.ID) {
				t.Errorf("%+v", turn)
			}
			if strategy == "rollback" {
				lg[LangGraphOutcome](ada, "GET", at+"/runs/"+lg[[]LangGraphRun](ada, "GET", at+"/runs", nil)[0].ID+"/join", nil)
				if state := lg[LangGraphState](ada, "GET", at+"/state", nil); said1(state.Values) != "human:next ai:next" {
					t.Errorf("%s", said1(state.Values))
				}
			}
		})
	}
}

// What is not done is refused, and what the SDK may ask beside it is let be.
func TestARunSaysWhatIsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	for what, c := range map[string]struct {
		body   map[string]any
		status int
	}{
		"a webhook":           {lgRun("x", "webhook", "https://example.org"), 400},
		"later":               {lgRun("x", "after_seconds", 5), 400},
		"a breakpoint":        {lgRun("x", "interrupt_before", []string{"a"}), 400},
		"a mode of our own":   {lgRun("x", "stream_mode", "messages"), 400},
		"no such assistant":   {lgRun("x", "assistant_id", "gpt-9"), 404},
		"a state by command":  {lgRun("x", "command", map[string]any{"update": map[string]any{"a": 1}}), 501},
		"no input":            {map[string]any{"assistant_id": automatic}, 400},
		"several messages":    {lgRun("x", "input", map[string]any{"messages": []any{[]string{"human", "a"}, []string{"ai", "b"}, []string{"human", "c"}}}), 400},
		"a picture":           {lgRun("x", "input", map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url"}}}}}), 400},
		"a message of ours":   {lgRun("x", "input", map[string]any{"messages": []any{[]string{"ai", "a"}}}), 400},
		"words of the system": {lgRun("x", "input", map[string]any{"messages": []any{[]string{"system", "a"}}}), 400},
	} {
		if got := ada.post(langgraphPath+at+"/runs/stream", c.body); got.status != c.status || !strings.Contains(string(got.body), `"detail"`) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := ada.post(langgraphPath+at+"/state", map[string]any{"values": map[string]any{}}); got.status != http.StatusNotImplemented {
		t.Errorf("a state was written: %d %s", got.status, got.body)
	}
	if got := ada.get(langgraphPath + "/crons"); got.status != http.StatusNotFound || !strings.Contains(string(got.body), `"detail"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := id.New()
	if got := ada.post(langgraphPath+"/threads/"+other+"/runs/wait", lgRun("x")); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
	body := lgRun("x", "if_not_exists", "create", "stream_mode", []string{"values", "tasks", "events"}, "config", map[string]any{"tags": []string{}}, "metadata", nil)
	body["input"] = map[string]any{"messages": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Hi"}}}, "topic": "x"}
	if _, events := ada.lgStream("/threads/"+other+"/runs/stream", body); lgKinds(events) != "metadata values end" {
		t.Errorf("%+v", events)
	}
	if turn := w.engine.turns[len(w.engine.turns)-1]; turn.Message != "Hi" || turn.Fields["topic"] != "x" || turn.ConversationID != other {
		t.Errorf("%+v", turn)
	}
	history := []any{[]string{"human", "a"}, []string{"ai", "b"}, []string{"human", "c"}}
	lg[LangGraphOutcome](ada, "POST", "/runs/wait", lgRun("x", "input", map[string]any{"messages": history}))
	if turn := w.engine.turns[len(w.engine.turns)-1]; len(turn.History) != 2 || turn.Message != "c" {
		t.Errorf("%+v", turn)
	}
}
