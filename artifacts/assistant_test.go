package artifacts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/graph"
	"liminal/internal/model"
)

// says is the input of a turn as /api/chat fills it.
func says(message string, more ...object) object {
	in := object{
		"message": message, "tiptap_json": nil, "tagged_doc_ids": []any{}, "tagged_set_ids": []any{},
		"action": nil, "enable_web_search": false,
	}
	for _, m := range more {
		maps.Copy(in, m)
	}
	return in
}

func tags(ids ...any) object { return object{"tagged_doc_ids": ids} }

func sure(action string) []object { return []object{{"action": action, "confidence": "high"}} }

func meant(ids ...any) []object {
	return []object{{"resolved_uuids": ids, "inference_confidence": "high"}}
}

func (p *played) data() object { return p.outcome.Data }

func (p *played) check(t *testing.T, calls string, streams ...string) {
	t.Helper()
	if p.outcome.Err != nil {
		t.Fatalf("the turn failed: %v", p.outcome.Err)
	}
	if got := fmt.Sprintf("intent %d documents %d", p.calls["intent"], p.calls["documents"]); got != calls {
		t.Errorf("the model was called %s, want %s", got, calls)
	}
	if !slices.Equal(p.streams, streams) {
		t.Errorf("the streams are\n  %s\nwant\n  %s", strings.Join(p.streams, "\n  "), strings.Join(streams, "\n  "))
	}
}

// What ships asks a small model for what is quick and a large one for what is
// weighed, at temperature 0, and each step of the assistant by its own role.
//
// Requirements: LORA-26
func TestEachActionOfTheAssistantAsksTheModelOfItsKind(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("defaults/policy.models/default.json")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := model.ReadPolicy(raw)
	if err != nil {
		t.Fatal(err)
	}
	assistant := string(artifactstest.Shipped(t, artifacts.AssistantWorkflow))
	for role, want := range map[string]string{
		"intent": "gpt-4o-mini", "documents": "gpt-4o-mini", "summarize": "gpt-4o-mini", "inquire": "gpt-4o-mini",
		"compare": "gpt-4o", "audit": "gpt-4o",
	} {
		got := model.Choose([]model.Policy{policy}, "openai", "paid", role)
		if got.Model != want || got.Temperature == nil || *got.Temperature != 0 {
			t.Errorf("%s asks %s with %v", role, got.Model, got.Temperature)
		}
		if !regexp.MustCompile(`"role":\s*"` + role + `"`).MatchString(assistant) {
			t.Errorf("no step of the assistant asks the model of %s", role)
		}
	}
}

// Requirements: LG-01, LG-30, STREAM-17
func TestTheAssistantIsTheGraphOfItsSpecification(t *testing.T) {
	t.Parallel()
	var doc struct {
		Persist []string `json:"persist"`
		Nodes   []struct {
			ID, Type, Stage, Description string
		} `json:"nodes"`
	}
	if err := json.Unmarshal(artifactstest.Shipped(t, artifacts.AssistantWorkflow), &doc); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(doc.Persist, []string{"conversation_docs"}) {
		t.Errorf("it keeps %v", doc.Persist)
	}
	want := map[string]string{
		"intent_resolver": "Clarifying intent...", "doc_resolver": "Finding documents...", "validate_inputs": "Validating request...",
		"summarize": "Summarizing documents...", "inquire": "Researching your question...", "compare": "Comparing documents...",
		"audit": "Auditing against regulations...", "format_response": "Formatting response...",
		"web_search": `Searching online "${vars.web_search_query}"`,
	}
	got := map[string]string{}
	for _, n := range doc.Nodes {
		if n.Description != "" {
			got[n.ID] = n.Description
		}
		if n.Stage != "" && want[n.Stage] == "" {
			t.Errorf("%s is a step of %q", n.ID, n.Stage)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("people see %v", got)
	}
}

// Requirements: LG-01, LG-06, LG-13, LG-30, STREAM-17, STREAM-18, STREAM-20
func TestATaggedActionOnTaggedDocumentsAsksNoModelWhatToDo(t *testing.T) {
	t.Parallel()
	for action, message := range map[string]string{"summarize": "Summarize @Leave policy", "inquire": "@Leave policy", "compare": "Compare @Leave policy and @Travel policy"} {
		p := perform(t, play{input: says(message, tags(leaveID, travelID), object{"action": action})})
		p.check(t, "intent 0 documents 0", "doc_resolver+docs validate_inputs "+action+" format_response response")
		if p.calls[action] != 1 || p.data()["action"] != action || p.data()["inference_confidence"] != "high" {
			t.Errorf("%s: %v, %v", action, p.calls, p.data())
		}
		if p.outcome.Vars["inference_source"] != "explicit" || p.outcome.Response != "Answer [1]." || len(p.outcome.Citations) != 1 {
			t.Errorf("%s: %v", action, p.outcome)
		}
	}
}

// The ways through the graph, so that a change of them is seen.
//
// Requirements: LG-01
func TestTheAssistantsWaysAreThoseThatWereReviewed(t *testing.T) {
	t.Parallel()
	ships, err := assistant()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Parse(ships.doc, artifacts.GraphTools(ships.specs), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range g.Edges() {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s → %s  %s", e.From, e.To, e.Label)))
	}
	artifactstest.Golden(t, "testdata/assistant.ways", b.String(), *update)
}

// Requirements: LG-06, LG-07, LG-11
func TestTheWebIsWantedWhenAnyOfThreeSaysSo(t *testing.T) {
	t.Parallel()
	low := []object{{"confidence": "medium", "average_similarity": 0.6}}
	for name, p := range map[string]play{
		"the button":            {input: says("What holds?", object{"enable_web_search": true}), intents: sure("inquire"), refs: meant()},
		"a word":                {input: says("What holds TODAY?"), intents: sure("inquire"), refs: meant()},
		"a word beside the tag": {input: says("the latest rules", object{"action": "inquire"}), refs: meant()},
		"the model":             {input: says("Is it still enforced?"), intents: []object{{"action": "inquire", "confidence": "high", "enable_web_search": true}}, refs: meant()},
	} {
		p.gathers, p.web = low, "news"
		out := perform(t, p)
		if out.calls["web.search_v1"] != 1 || out.outcome.Vars["enable_web_search"] != true {
			t.Errorf("%s: searched %d times", name, out.calls["web.search_v1"])
		}
	}
	p := play{input: says("What holds?"), intents: sure("inquire"), refs: meant(), gathers: low, web: "news"}
	if out := perform(t, p); out.calls["web.search_v1"] != 0 || out.data()["web_query"] != nil {
		t.Error("nobody wanted the web")
	}
}

// Requirements: LG-08, LG-09, LG-11
func TestTheIntentIsAskedForOnceWhenItIsClearAndTwiceWhenNot(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: says("What is the notice period?"), intents: sure("inquire"), refs: meant()})
	p.check(t, "intent 1 documents 1", "intent_resolver doc_resolver validate_inputs inquire format_response response")
	if p.given["intent"][0]["history"] != 0.0 {
		t.Errorf("the first pass sees %v earlier messages", p.given["intent"][0]["history"])
	}
	for _, first := range []object{
		{"action": "compare", "confidence": "medium"},
		{"action": "inquire", "confidence": "low"},
		{"action": "summarize", "confidence": "high", "multi_action_detected": true, "actions": []any{"summarize", "audit"}},
	} {
		p = perform(t, play{input: says("Tell me about that document"), intents: []object{first, {"action": "inquire", "confidence": "medium"}}, refs: meant()})
		p.check(t, "intent 2 documents 1", "intent_resolver doc_resolver validate_inputs inquire format_response response")
		if p.given["intent"][1]["history"] != 5.0 {
			t.Errorf("the second pass sees %v earlier messages", p.given["intent"][1]["history"])
		}
		if p.outcome.Vars["inference_confidence"] != "high" {
			t.Error("the confidence of the intent was taken for that of the documents")
		}
	}
}

// Requirements: LG-10
func TestASummaryOfOneTopicIsAnInquiry(t *testing.T) {
	t.Parallel()
	p := perform(t, play{
		input: says("Summarize the leave policy about carry-over"), refs: meant(leaveID),
		intents: []object{{"action": "summarize", "confidence": "high", "specific_topic": true}},
	})
	p.check(t, "intent 1 documents 1", "intent_resolver doc_resolver+docs validate_inputs inquire format_response response")
}

// Requirements: INT-17, INT-18, INT-27, STREAM-21, INT-14, INT-05
func TestWhichActionIsAskedWhenItIsNotClear(t *testing.T) {
	t.Parallel()
	multi := object{"action": "summarize", "confidence": "high", "multi_action_detected": true, "actions": []any{"summarize", "audit"}}
	vague := object{"action": "inquire", "confidence": "low", "likely": []any{"compare", "inquire"}}
	for _, one := range []struct {
		answer  object
		message string
		options []graph.Option
	}{
		{multi, "I can only perform one action at a time. Which would you like to do first?", []graph.Option{{ID: "summarize", Label: "Summarize"}, {ID: "audit", Label: "Audit"}}},
		{vague, "I'm not sure what action you'd like. Please choose:", []graph.Option{{ID: "compare", Label: "Compare"}, {ID: "inquire", Label: "Inquire"}}},
	} {
		p := perform(t, play{input: says("Do something with these", tags(leaveID, travelID)), intents: []object{one.answer, one.answer}, refs: meant(), answers: []any{"summarize"}})
		p.check(t, "intent 2 documents 1", "intent_resolver interrupt action_choice",
			"intent_resolver doc_resolver+docs validate_inputs summarize format_response response")
		if len(p.asked) != 1 || p.asked[0].Message != one.message || !reflect.DeepEqual(p.asked[0].Options, one.options) {
			t.Errorf("asked %+v", p.asked)
		}
		if p.data()["action"] != "summarize" {
			t.Errorf("the action is %v", p.data()["action"])
		}
	}
}

// Requirements: INT-28, INT-10, INT-11
func TestACancelledChoiceOfActionInquiresAndIsNotShown(t *testing.T) {
	t.Parallel()
	vague := object{"action": "audit", "confidence": "low", "likely": []any{"audit", "compare"}}
	p := perform(t, play{input: says("Do something"), intents: []object{vague, vague}, known: object{"Leave policy": leaveID}, answers: []any{nil}})
	if p.outcome.Err != nil || !p.outcome.Suppressed || p.data()["action"] != "inquire" {
		t.Errorf("%+v", p.outcome)
	}
	if p.calls["documents"]+p.calls["inquire"] != 0 {
		t.Error("a model works for what nobody sees")
	}
	if !reflect.DeepEqual(p.persist["conversation_docs"], object{"Leave policy": leaveID}) {
		t.Errorf("the registry is %v", p.persist["conversation_docs"])
	}
}
