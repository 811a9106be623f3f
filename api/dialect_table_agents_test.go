package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/id"
)

var langgraphCells = column{
	"workflow": func(t *testing.T, p *person) {
		if got := lg[LangGraphAssistant](p, "GET", "/assistants/titled", nil); got.Name != "Titled" || got.GraphID != "titled" {
			t.Errorf("%+v", got)
		}
		if got := lg[LangGraphOutcome](p, "POST", "/runs/wait", lgRun("Hi", "assistant_id", "titled")); said1(got.LangGraphValues) != "human:Hi ai:Hi" {
			t.Errorf("%+v", got)
		}
	},
	"conversation": func(t *testing.T, p *person) {
		thread := p.newThread().ID
		lg[LangGraphOutcome](p, "POST", "/threads/"+thread+"/runs/wait", lgRun("Hi"))
		if got := items(p.get("/v1/conversations/" + thread + "/messages").ok()); len(got) != 2 {
			t.Errorf("%v", got)
		}
	},
	"run": func(t *testing.T, p *person) {
		got := lg[LangGraphRun](p, "POST", "/threads/"+p.newThread().ID+"/runs", lgRun("Hi"))
		if p.engine.ended(t, got.ID); p.one(got.ID)["status"] != "done" {
			t.Errorf("%+v", got)
		}
	},
	"token": func(t *testing.T, p *person) {
		if _, events := p.lgStream("/runs/stream", lgRun("hello there", "stream_mode", "messages-tuple")); lgText(events) != "hello there" || len(events) < 4 {
			t.Errorf("%+v", events)
		}
	},
	"status": func(t *testing.T, p *person) {
		_, events := p.lgStream("/runs/stream", lgRun("Hi", "stream_mode", []string{"updates", "custom"}))
		if !strings.Contains(lgKinds(events), "custom updates") || !strings.Contains(string(events[1].Data), "Answering") {
			t.Errorf("%+v", events)
		}
	},
	"tool": func(t *testing.T, p *person) {
		got, _ := p.lgStream("/runs/stream", lgRun("look", "stream_mode", "messages-tuple"))
		has(t, string(got.body), `"tool_calls":[{"id":"c1","name":"find","args":{"n":1},"type":"tool_call"}]`, `"type":"tool"`, `"tool_call_id":"c1"`, "2 results")
	},
	"citation": func(t *testing.T, p *person) {
		got, _ := p.lgStream("/runs/stream", lgRun("look", "stream_mode", "messages-tuple"))
		has(t, string(got.body), `"additional_kwargs":{"chips":[{"kind":"deadline"`, `"citations":[{"n":1`)
	},
	"question": func(t *testing.T, p *person) {
		_, events := p.lgStream("/threads/"+p.newThread().ID+"/runs/stream", lgRun("ask which", "stream_mode", "values"))
		has(t, string(events[len(events)-2].Data), `"__interrupt__":[{`, `"message":"which"`)
	},
	"answer": func(t *testing.T, p *person) {
		at := "/threads/" + p.newThread().ID + "/runs/wait"
		lg[LangGraphOutcome](p, "POST", at, lgRun("ask which"))
		if got := lg[LangGraphOutcome](p, "POST", at, lgResume("two")); got.Messages[len(got.Messages)-1].Content != `You chose "two"` {
			t.Errorf("%+v", got)
		}
	},
	"skip": func(t *testing.T, p *person) {
		at := "/threads/" + p.newThread().ID + "/runs/wait"
		asked := lg[LangGraphOutcome](p, "POST", at, lgRun("ask which")).Interrupts[0]
		lg[LangGraphOutcome](p, "POST", at, lgResume(nil))
		if got := p.questionOf(asked.Value.RunID); got.Status != "cancelled" {
			t.Errorf("%+v", got)
		}
	},
	"error": func(t *testing.T, p *person) {
		_, events := p.lgStream("/runs/stream", lgRun("fail"))
		if last := events[len(events)-1]; last.Event != "error" || !strings.Contains(string(last.Data), "The model is away.") {
			t.Errorf("%+v", events)
		}
	},
	"stop": func(_ *testing.T, p *person) {
		at := "/threads/" + p.newThread().ID + "/runs"
		begun := lg[LangGraphRun](p, "POST", at, lgRun("slow"))
		p.do("POST", langgraphPath+at+"/"+begun.ID+"/cancel?wait=1", nil)
		p.stopped(begun.ID)
	},
	"reset": func(t *testing.T, p *person) {
		_, events := p.lgStream("/runs/stream", lgRun("differ", "stream_mode", "messages-tuple"))
		ids, removed := map[string]bool{}, false
		for _, e := range events {
			var m []LangGraphMessage
			if e.Event == "messages" && json.Unmarshal(e.Data, &m) == nil {
				ids[m[0].ID] = true
				removed = removed || m[0].Type == "remove"
			}
		}
		if lgText(events) != "other words" || len(ids) != 1 || !removed {
			t.Errorf("%v: %+v", ids, events)
		}
	},
}

var aguiCells = column{
	"workflow": func(t *testing.T, p *person) {
		body := map[string]any{"threadId": "w", "runId": "r", "messages": []any{map[string]any{"id": "1", "role": "user", "content": "Hi"}}}
		has(t, p.heard(aguiPath+"/titled", body), `"type":"RUN_FINISHED"`)
		if got := p.post(aguiPath+"/untitled", body); got.status != http.StatusNotFound {
			t.Errorf("%d %s", got.status, got.body)
		}
	},
	"conversation": func(t *testing.T, p *person) {
		thread := p.newThread().ID
		p.tellsAgent(thread, "Hi")
		if got := items(p.get("/v1/conversations/" + thread + "/messages").ok()); len(got) != 2 {
			t.Errorf("%v", got)
		}
	},
	"run": func(t *testing.T, p *person) {
		called := id.New()
		p.agent("r", map[string]any{"runId": called, "messages": []any{map[string]any{"id": "1", "role": "user", "content": "Hi"}}})
		if r, err := p.store.RunByRequest(t.Context(), p.viewer(), called); err != nil || r.Status != "done" {
			t.Errorf("%+v, %v", r, err)
		}
	},
	"token": func(t *testing.T, p *person) {
		got := p.tellsAgent("t", "hello there")
		has(t, aguiTypes(got), "TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT")
		if aguiText(got) != "hello there" {
			t.Errorf("%+v", got)
		}
	},
	"status": func(t *testing.T, p *person) {
		has(t, aguiTypes(p.tellsAgent("s", "Hi")), "STEP_STARTED", "STEP_FINISHED")
	},
	"tool": func(t *testing.T, p *person) {
		has(t, aguiTypes(p.tellsAgent("l", "look")), "TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_RESULT")
	},
	"citation": func(t *testing.T, p *person) {
		var names []string
		for _, e := range p.tellsAgent("c", "look") {
			if e.Type == "CUSTOM" {
				names = append(names, e.Name)
			}
		}
		if strings.Join(names, " ") != "liminal chip citations" {
			t.Errorf("%v", names)
		}
	},
	"question": func(t *testing.T, p *person) {
		got := p.tellsAgent("q", "ask which")
		if end := got[len(got)-1]; end.Outcome.Type != "interrupt" || end.Outcome.Interrupts[0].Message != "which" {
			t.Errorf("%+v", end)
		}
	},
	"answer": func(t *testing.T, p *person) {
		got := p.tellsAgent("a", "ask which")
		got = p.agent("a", map[string]any{"resume": []any{resume(got[len(got)-1].Outcome.Interrupts[0].ID, "resolved", "two")}})
		if aguiText(got) != `You chose "two"` {
			t.Errorf("%+v", got)
		}
	},
	"skip": func(t *testing.T, p *person) {
		got := p.tellsAgent("k", "ask which")
		asked := got[len(got)-1].Outcome.Interrupts[0].ID
		p.agent("k", map[string]any{"resume": []any{resume(asked, "cancelled", nil)}})
		if q, err := p.store.Interrupt(t.Context(), p.viewer(), asked); err != nil || q.Status != "cancelled" {
			t.Errorf("%+v, %v", q, err)
		}
	},
	"error": func(t *testing.T, p *person) {
		got := p.tellsAgent("e", "fail")
		if end := got[len(got)-1]; end.Type != "RUN_ERROR" || end.Message != "The model is away." {
			t.Errorf("%+v", end)
		}
	},
	"stop": func(_ *testing.T, p *person) {
		body := map[string]any{"threadId": "x", "runId": id.New(), "messages": []any{map[string]any{"id": "1", "role": "user", "content": "slow"}}}
		p.closes(p.request("POST", aguiPath+"/"+automatic, body))
	},
	"reset": func(t *testing.T, p *person) {
		got := p.tellsAgent("d", "differ")
		has(t, aguiTypes(got), "MESSAGES_SNAPSHOT")
		if aguiText(got) != "other words" {
			t.Errorf("%+v", got)
		}
	},
}
