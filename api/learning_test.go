package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// say gives feedback on an answer to a question of its own, and is its event.
func (p *person) say(question, notes string) int64 {
	p.Helper()
	said := p.post("/v1/chat", map[string]any{"message": question}).ok()
	made := p.post("/v1/preferences", map[string]any{
		"conversation_id": said["conversation_id"], "message_id": said["message_id"], "signal": "dislike", "notes": notes,
	}).ok()["preference"].(map[string]any)
	return int64(made["id"].(float64))
}

// lesson is one of the person's, made by a rule.
func (p *person) lesson(text, adapter string, sources ...int64) string {
	p.Helper()
	l := learning.Lesson{
		ID: id.New(), AdapterID: adapter, Text: text, MadeBy: learning.ByRule, Strength: 0.5, Sources: sources,
		Directive: &learning.Directive{Kind: "length", Value: "short"},
	}
	_, err := p.store.PutLessons(p.Context(), p.viewer(), []learning.Lesson{l})
	p.must(err)
	return l.ID
}

// adapter is one of the person's own; fields follow its kind and scope.
func (p *person) adapter(name, fields string, lessons ...string) string {
	p.Helper()
	list, err := json.Marshal(append([]string{}, lessons...))
	p.must(err)
	a, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		Type: artifacts.KindAdapter, Name: name, CreatedBy: "llm",
		Schema: fmt.Appendf(nil, `{"kind":"adapter.lora","mode":"hybrid",%s,"lessons":%s}`, fields, list),
	}, "")
	p.must(err)
	return a.ID
}

// own is the scope of what is made of its person's feedback.
const own = `"scope":"per-user"`

func (p *person) cluster(label string, events ...int64) string {
	p.Helper()
	c := learning.Cluster{ID: id.New(), Label: label, LabelBy: learning.ByRule, Size: len(events), Strength: 0.75, Status: learning.ClusterActive}
	of := map[int64]string{}
	for _, e := range events {
		of[e] = c.ID
	}
	p.must(p.store.PutClustering(p.Context(), p.viewer(), learning.Clustering{Clusters: []learning.Cluster{c}, Of: of}))
	return c.ID
}

func listed(data map[string]any, name string) (out []map[string]any) {
	for _, one := range data[name].([]any) {
		out = append(out, one.(map[string]any))
	}
	return out
}

func TestAPersonSeesWhatIsLearntFromThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	empty := ada.get("/v1/learning").ok()
	if got := fmt.Sprint(empty); got != "map[adapters:[] generative:false last_run:<nil> lessons:[] mode:text settings:map[by_rule:true personal:true shared:false] waiting:0]" {
		t.Errorf("at first: %s", got)
	}
	first, second := ada.say("What is a lemma?", "too long"), ada.say("And a corollary?", "")
	text := ada.lesson("Be brief.", "", second, first)
	ada.lesson("Be briefer.", "", first)
	persona := ada.adapter("persona", own+`,"type":"persona"`, text)
	ada.adapter("resting", own+`,"type":"skill","status":"disabled","cluster_id":"`+id.New()+`"`)
	ada.adapter("written", `"scope":"shared"`)
	got := ada.get("/v1/learning").ok()
	if got["waiting"] != 2.0 {
		t.Errorf("waiting: %v", got["waiting"])
	}
	adapters := listed(got, "adapters")
	if len(adapters) != 2 || adapters[0]["status"] != "disabled" || adapters[1]["id"] != persona || adapters[1]["status"] != "active" ||
		adapters[1]["type"] != "persona" || fmt.Sprint(adapters[1]["lessons"]) != fmt.Sprint([]string{text}) || adapters[1]["patch"] != nil {
		t.Errorf("adapters: %v", adapters)
	}
	lessons := listed(got, "lessons")
	if len(lessons) != 2 || lessons[0]["text"] != "Be brief." || lessons[0]["followed"] != true || lessons[1]["followed"] != false {
		t.Errorf("lessons: %v", lessons)
	}
	if d := lessons[0]["directive"].(map[string]any); d["kind"] != "length" || d["value"] != "short" {
		t.Errorf("directive: %v", d)
	}
	sources := listed(lessons[0], "sources")
	if len(sources) != 2 || sources[0]["event_id"] != float64(second) || sources[1]["notes"] != "too long" || sources[1]["question"] != "What is a lemma?" {
		t.Errorf("sources: %v", sources)
	}
	changed := ada.do("PATCH", "/v1/learning", map[string]any{"personal": false, "shared": true}).ok()
	if got := fmt.Sprint(changed["settings"]); got != "map[by_rule:true personal:false shared:true]" || listed(changed, "lessons")[0]["followed"] != false {
		t.Errorf("changed: %v", changed)
	}
	ada.post("/v1/learning/run", nil).fails(403, "forbidden")
}

func TestAPersonChangesAndForgetsWhatIsLearntFromThem(t *testing.T) {
	t.Parallel()
	var told []string
	w := newWorld(t, func(o *Options) {
		o.LearningChanged = func(_ context.Context, userID string) { told = append(told, userID) }
	})
	ada := w.signUp("ada@example.org")
	first, second := ada.say("One?", ""), ada.say("Two?", "")
	lesson, other := ada.lesson("Be brief.", "", first, second), ada.lesson("Be kind.", "", first)
	path := "/v1/learning/lessons/" + lesson
	if got := ada.do("PATCH", path, map[string]any{"text": "Be kind to me.", "state": "off"}).ok(); got["text"] != "Be kind to me." || got["made_by"] != "person" || got["state"] != "off" || len(listed(got, "sources")) != 2 || got["directive"] != nil {
		t.Errorf("changed: %v", got)
	}
	if got := ada.do("PATCH", path, map[string]any{"text": "Please keep it short."}).ok(); fmt.Sprint(got["directive"]) != "map[kind:length value:short]" {
		t.Errorf("what a program does of it: %v", got["directive"])
	}
	ada.do("PATCH", path, map[string]any{"text": "two\nlines"}).fails(400, "validation_error")
	ada.do("PATCH", path, map[string]any{"state": "rejected"}).fails(400, "validation_error")
	ada.do("PATCH", fmt.Sprint("/v1/learning/events/", first), map[string]any{"excluded": true}).ok()
	if got := listed(ada.get("/v1/learning").ok(), "lessons"); len(got) != 1 || got[0]["id"] != lesson || len(listed(got[0], "sources")) != 1 {
		t.Errorf("after one was excluded: %v", got)
	}
	ada.do("DELETE", "/v1/learning/lessons/"+other, nil).fails(404, "not_found")
	ada.do("DELETE", path, nil).ok()
	ada.do("PATCH", fmt.Sprint("/v1/learning/events/", first), map[string]any{"excluded": false}).ok()
	if got := ada.post("/v1/learning/forget", nil).ok(); got["events"] != 2.0 {
		t.Errorf("forgotten: %v", got)
	}
	if got := ada.get("/v1/learning").ok(); got["waiting"] != 0.0 {
		t.Errorf("waiting: %v", got["waiting"])
	}
	if len(told) < 4 || slices.ContainsFunc(told, func(id string) bool { return id != ada.id }) {
		t.Errorf("told %v", told)
	}
}

func TestAPersonLetsLearnNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	got := ada.post("/v1/learning/run", nil)
	var e Envelope[LearningStarted]
	if err := json.Unmarshal(got.body, &e); err != nil || got.status != 202 || e.Data.RunID == "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if last := ada.get("/v1/learning").ok()["last_run"].(map[string]any); last["run_id"] != e.Data.RunID || last["status"] != "running" {
		t.Errorf("the last run: %v", last)
	}
	if f := ada.post("/v1/learning/run", nil).fails(409, "conflict"); f.Details.(map[string]any)["run_id"] != e.Data.RunID {
		t.Errorf("details: %v", f.Details)
	}
	w.must(w.store.EndRun(t.Context(), ada.viewer(), e.Data.RunID, run.End{Status: run.Done}))
	for range 4 {
		ada.post("/v1/learning/run", nil)
	}
	ada.post("/v1/learning/run", nil).fails(429, "rate_limited")
}

func TestNothingIsLearntWhereItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Learner = nil })
	ada := w.signUp("ada@example.org")
	lesson := ada.lesson("Be brief.", "", ada.say("One?", ""))
	ada.adapter("persona", own+`,"type":"persona"`, lesson)
	if got := ada.get("/v1/learning").ok(); got["mode"] != "off" || listed(got, "lessons")[0]["followed"] != false {
		t.Errorf("%v", got)
	}
	ada.post("/v1/learning/run", nil).fails(403, "forbidden")
}

func TestAnAnswerTellsWhatItFollowedAsItReadsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	event := ada.say("One?", "")
	persona := ada.adapter("persona", own+`,"type":"persona"`)
	kept, off := ada.lesson("Be brief.", persona, event), ada.lesson("Be kind.", persona, event)
	thread := "/v1/conversations/" + ada.thread(&chat.Message{
		Role: "assistant", Content: "So it is.", Meta: map[string]any{"adapters": []string{persona, id.New()}, "lessons": []string{kept, off, id.New()}},
	}) + "/messages"
	followed := func() []any {
		t.Helper()
		said := items(ada.get(thread).ok())
		list, _ := said[len(said)-1]["followed"].([]any)
		return list
	}
	want := func(what, text string) {
		t.Helper()
		if got := fmt.Sprint(followed()); got != text {
			t.Errorf("%s: %s, want %s", what, got, text)
		}
	}
	adapter := func(lessons string) string {
		return "[map[adapter_id:" + persona + " lessons:[" + lessons + "] name:persona]]"
	}
	lesson := func(id, text string) string { return "map[id:" + id + " text:" + text + "]" }
	want("both", adapter(lesson(kept, "Be brief.")+" "+lesson(off, "Be kind.")))
	ada.do("PATCH", "/v1/learning/lessons/"+off, map[string]any{"state": "off"}).ok()
	ada.do("PATCH", "/v1/learning/lessons/"+kept, map[string]any{"text": "Be very brief."}).ok()
	want("one is off", adapter(lesson(kept, "Be very brief.")))
	ada.do("DELETE", fmt.Sprint("/v1/preferences/", event), nil).ok()
	want("its source is gone", adapter(""))
	ada.post("/v1/learning/forget", nil).ok()
	want("all is forgotten", "[]")
}
