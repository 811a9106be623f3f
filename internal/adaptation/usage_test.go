package adaptation_test

import (
	"encoding/json"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/learning"
)

// Requirements: ROUTE-02 (usage_stats)
func TestConditionsReadHowAdaptersWereUsed(t *testing.T) {
	t.Parallel()
	onBoth(t, options{}, usedAndLiked)
}

func usedAndLiked(t *testing.T, o options) {
	h := newHouse(t, o)
	for _, d := range []artifacts.Draft{
		{Type: artifacts.KindAdapter, Name: "mine", Schema: json.RawMessage(`{"kind":"adapter.lora","type":"persona","mode":"prompt","prompt_instructions":"Be brief."}`)},
		{Type: artifacts.KindPolicy, Name: artifacts.DefaultPolicy, Schema: json.RawMessage(`{"kind":"policy.routing","rules":[
			{"id":"new","when":"usage_stats[adapter_id].usage_count == 0 and usage_stats[adapter_id].last_used_hours == nil",
				"action":{"type":"activate_adapter_by_id","adapter_id":"current","weight":0.25}},
			{"id":"liked","when":"usage_stats[adapter_id].usage_count >= 2 and usage_stats[adapter_id].success_score > 0.5 and usage_stats[adapter_id].last_used_hours == 3",
				"action":{"type":"activate_adapter_by_id","adapter_id":"current","weight":0.75}}]}`)},
	} {
		_, err := h.library.Create(t.Context(), h.ann, d)
		h.must(err)
	}
	mine := h.adapter(h.ann, "mine").ID
	gate := func(about turn) float64 {
		t.Helper()
		gates, _ := about.answer.Meta["gates"].(map[string]any)
		weight, _ := gates[mine].(float64)
		return weight
	}
	for _, question := range []string{"What is a lemma?", "And a theorem?"} { // what was read is kept
		about := h.turn(h.ann, question)
		if gate(about) != 0.25 {
			t.Errorf("an adapter nobody had used, %q was answered with %v", question, about.answer.Meta)
		}
		h.says(h.ann, about, learning.Feedback{Signal: "like"})
	}
	h.pass(3*time.Hour + 20*time.Minute)
	h.steps.Forget(t.Context(), h.ann.UserID) // the cache lives by its own clock
	if about := h.turn(h.ann, "And a corollary?"); gate(about) != 0.75 {
		t.Errorf("an adapter that was used twice, liked and left for three hours: %v", about.answer.Meta)
	}
}
