package artifacts_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/graph"
)

// lot is a text long enough to be audited.
const lot = "Audit this: We give every employee ten days of leave and carry none of it over."

// Requirements: LG-19, INT-22, INT-13, STREAM-21, INT-14
func TestAComparisonAsksUntilItHasTwoDocuments(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		input   object
		answers []any
		asks    int
		want    []any
	}{
		"one is there":       {says("@Leave policy", tags(leaveID)), []any{"@Travel policy"}, 1, []any{leaveID, travelID}},
		"none is there":      {says("Compare these"), []any{leaveID, bankID}, 2, []any{leaveID, bankID}},
		"the same again":     {says("@Leave policy", tags(leaveID)), []any{leaveID, travelID}, 2, []any{leaveID, travelID}},
		"both in one answer": {says("Compare these"), []any{"Leave policy and Travel policy"}, 1, []any{leaveID, travelID}},
		"a slip, then":       {says("@Leave policy", tags(leaveID)), []any{"what?", "Travel polcy"}, 2, []any{leaveID, travelID}},
	} {
		one.input["action"] = "compare"
		p := perform(t, play{input: one.input, refs: meant(), answers: one.answers})
		if p.outcome.Err != nil || len(p.asked) != one.asks || p.calls["compare"] != 1 || !reflect.DeepEqual(p.data()["resolved_doc_ids"], one.want) {
			t.Errorf("%s: asked %d times, %v, %v", name, len(p.asked), p.data(), p.outcome.Err)
		}
		for n, ask := range p.asked {
			want := "Compare requires at least 2 documents. Please tag the additional document."
			if name == "a slip, then" && n == 1 {
				want = "I found no document of that name. Please tag it, or give its title as it stands in your documents."
			}
			if ask.Type != "text_input" || ask.Options != nil || ask.Message != want {
				t.Errorf("%s: asked %+v", name, ask)
			}
		}
		if last := p.streams[len(p.streams)-1]; last != "validate_inputs compare format_response response" {
			t.Errorf("%s: the last stream is %s", name, last)
		}
	}
	p := perform(t, play{input: says("@Leave policy", tags(leaveID), object{"action": "compare"}), answers: []any{travelID}})
	p.check(t, "intent 0 documents 0", "doc_resolver+docs validate_inputs interrupt text_input", "validate_inputs compare format_response response")
}

// Requirements: LG-19, INT-23, INT-24, INT-25
func TestAnAuditAsksForItsTextAndThenForItsDocument(t *testing.T) {
	t.Parallel()
	const text, target = "Please enter the text you'd like to audit (e.g., an email or policy excerpt).", "Please tag the document you'd like to audit against."
	for name, one := range map[string]struct {
		message string
		tagged  []any
		answers []any
		asked   []string
		source  string
	}{
		"all is there": {lot, []any{leaveID}, nil, nil, "We give every employee ten days of leave and carry none of it over."},
		"no text":      {"Audit this against @Leave policy", []any{leaveID}, []any{"We give no leave."}, []string{text}, "We give no leave."},
		"no document":  {lot, nil, []any{"Leave policy"}, []string{target}, "We give every employee ten days of leave and carry none of it over."},
		"neither":      {"Audit", nil, []any{"We give no leave.", leaveID}, []string{text, target}, "We give no leave."},
		"a long text":  {strings.Repeat("we give ten days of leave ", 6), []any{leaveID}, nil, nil, strings.TrimSpace(strings.Repeat("we give ten days of leave ", 6))},
	} {
		p := perform(t, play{input: says(one.message, tags(one.tagged...), object{"action": "audit"}), refs: meant(), answers: one.answers})
		var asked []string
		for _, a := range p.asked {
			asked = append(asked, a.Message)
		}
		if p.outcome.Err != nil || !slices.Equal(asked, one.asked) || p.calls["audit"] != 1 {
			t.Fatalf("%s: asked %v, %v", name, asked, p.outcome.Err)
		}
		if got := p.given["audit"][0]["source_text"]; got != one.source {
			t.Errorf("%s: audited %q", name, got)
		}
		if q := p.given["rag.gather_v1"][0]["text"]; q != one.source {
			t.Errorf("%s: retrieved for %q", name, q)
		}
	}
	p := perform(t, play{input: says("Summarize it", object{"action": "summarize"}), refs: meant(), answers: []any{leaveID}})
	if len(p.asked) != 1 || p.asked[0].Message != "Please tag the document you'd like to summarize." || p.calls["summarize"] != 1 {
		t.Errorf("a summary of nothing asked %+v", p.asked)
	}
}

// Requirements: INT-28, INT-10
func TestWhatIsMissingAfterACancelIsSaidAndNotShown(t *testing.T) {
	t.Parallel()
	for action, answers := range map[string][]any{"compare": {leaveID, nil}, "audit": {nil}, "summarize": {nil}} {
		p := perform(t, play{input: says("Do it", object{"action": action}), refs: meant(), answers: answers})
		if p.outcome.Err != nil || !p.outcome.Suppressed || !strings.Contains(p.outcome.Response, "information is missing") || p.calls[action] != 0 {
			t.Errorf("%s: %+v", action, p.outcome)
		}
	}
	for _, action := range []string{"compare", "summarize"} { // who names nothing twice is not asked for ever
		p := perform(t, play{input: says("Do it", object{"action": action}), refs: meant(), answers: []any{"hm", "hm"}})
		if p.outcome.Suppressed || len(p.asked) != 2 || !strings.Contains(p.outcome.Response, "information is missing") {
			t.Errorf("%s: %+v", action, p.outcome)
		}
	}
}

// Requirements: LG-20, LG-22
func TestAComparisonDropsTheWebAndSaysSo(t *testing.T) {
	t.Parallel()
	p := perform(t, play{
		input: says("Compare the latest", tags(leaveID, travelID), object{"action": "compare", "enable_web_search": true}),
		refs:  meant(), web: "news", gathers: []object{{"confidence": "low", "average_similarity": 0.1}},
	})
	if p.calls["web.search_v1"] != 0 || p.outcome.Vars["enable_web_search"] != false || p.data()["notice"] != "Web search not supported for Compare action" {
		t.Errorf("%v, %v", p.calls, p.data())
	}
	if p.outcome.Response != "Answer [1].\n\nWeb search not supported for Compare action" {
		t.Errorf("the response is %q", p.outcome.Response)
	}
}

// Requirements: LG-22, LG-23, STREAM-18, STREAM-19, TOOL-13 (message and titles; industry and location of the person; sets web_search_results)
func TestTheWebIsSearchedOnceAndOnlyWhereItHelps(t *testing.T) {
	t.Parallel()
	web := object{"enable_web_search": true}
	for name, one := range map[string]struct {
		action, confidence string
		searches           int
	}{
		"a summary is widened":             {"summarize", "high", 1},
		"the documents answer already":     {"inquire", "high", 0},
		"the documents answer halfway":     {"inquire", "medium", 1},
		"an audit the documents settle":    {"audit", "high", 0},
		"an audit they settle only partly": {"audit", "medium", 1},
	} {
		message := "@Leave policy"
		if one.action == "audit" {
			message = lot
		}
		p := perform(t, play{
			input: says(message, tags(leaveID), object{"action": one.action}, web), refs: meant(), web: "news",
			gathers: []object{{"confidence": one.confidence, "average_similarity": 0.7}},
			user:    object{"industry": "logistics", "location": "Hamburg"},
		})
		if p.calls["web.search_v1"] != one.searches {
			t.Errorf("%s: searched %d times", name, p.calls["web.search_v1"])
			continue
		}
		if one.searches == 0 {
			continue
		}
		want := "doc_resolver+docs validate_inputs web_search+web " + one.action + "+web format_response response"
		if p.streams[0] != want {
			t.Errorf("%s: %s", name, p.streams[0])
		}
		query, _ := p.data()["web_query"].(string)
		if p.messages["web_search"] != `Searching online "`+query+`"` || !strings.Contains(query, "Leave policy") || !strings.HasSuffix(query, " logistics Hamburg") {
			t.Errorf("%s: %q for %q", name, p.messages["web_search"], query)
		}
		if results := p.given[one.action][0]["web_results"].([]any); len(results) != 1 {
			t.Errorf("%s: the answer was made of %v", name, results)
		}
	}
}

// Requirements: LG-22
func TestATurnGoesOnWhereTheWebIsNotSetUpOrDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for web, notice := range map[string]string{
		"":     "Web search is not set up here, so this rests on your documents alone.",
		"down": "Web search did not work this time, so this rests on your documents alone.",
	} {
		p := perform(t, play{input: says("@Leave policy", tags(leaveID), object{"action": "summarize", "enable_web_search": true}), web: web})
		if p.outcome.Err != nil || p.outcome.Response != "Answer [1].\n\n"+notice || p.data()["notice"] != notice {
			t.Errorf("%q: %+v", web, p.outcome)
		}
	}
}

// Requirements: INT-26, STREAM-21, LG-23
func TestLittleFoundIsAskedAboutAndEachAnswerHasItsEffect(t *testing.T) {
	t.Parallel()
	poor, good := object{"confidence": "low", "average_similarity": 0.49}, object{"confidence": "high", "average_similarity": 0.9}
	options := []graph.Option{{ID: "tag_docs", Label: "📄 Tag specific documents"}, {ID: "web_search", Label: "🌐 Search the web"}, {ID: "continue", Label: "Continue anyway"}}
	for action, message := range map[string]string{"inquire": "What about bees?", "audit": lot} {
		start := play{input: says(message, tags(leaveID), object{"action": action}), refs: meant(), gathers: []object{poor, good}, web: "news"}

		start.answers = []any{"continue"}
		p := perform(t, start)
		p.check(t, "intent 0 documents 1", "doc_resolver+docs validate_inputs "+action+" interrupt retrieval_low", action+" format_response response")
		if len(p.asked) != 1 || !reflect.DeepEqual(p.asked[0].Options, options) || p.calls["rag.gather_v1"] != 1 || p.calls["web.search_v1"] != 0 || p.data()["retrieval_confidence"] != "low" {
			t.Errorf("continue: %+v, %v", p.asked, p.calls)
		}

		start.answers = []any{"web_search"}
		p = perform(t, start)
		if p.calls["rag.gather_v1"] != 1 || p.calls["web.search_v1"] != 1 || p.calls[action] != 1 ||
			p.streams[1] != "web_search+web "+action+"+web format_response response" && p.streams[1] != action+"+web format_response response" {
			t.Errorf("web_search: %v, %v", p.calls, p.streams)
		}

		start.answers = []any{"tag_docs", "BankNegara2024"}
		p = perform(t, start)
		p.check(t, "intent 0 documents 1", "doc_resolver+docs validate_inputs "+action+" interrupt retrieval_low",
			action+" interrupt text_input", action+" format_response response")
		if p.calls["rag.gather_v1"] != 2 || !reflect.DeepEqual(p.given["rag.gather_v1"][1]["documents"], []any{leaveID, bankID}) || p.data()["retrieval_confidence"] != "high" {
			t.Errorf("tag_docs: %v, %v", p.calls, p.data())
		}

		start.answers, start.gathers = []any{"tag_docs", "nothing like it"}, []object{poor}
		if p = perform(t, start); len(p.asked) != 2 || p.calls[action] != 1 {
			t.Errorf("asked again and again: %+v", p.asked)
		}

		start.answers = []any{nil}
		if p = perform(t, start); !p.outcome.Suppressed || p.calls[action] != 0 || p.outcome.Response == "" {
			t.Errorf("a cancel: %+v", p.outcome)
		}
	}
	for _, fine := range []object{{"confidence": "low", "average_similarity": 0.5}, {"confidence": "medium", "average_similarity": 0.5}} {
		if p := perform(t, play{input: says("?", tags(leaveID), object{"action": "inquire"}), gathers: []object{fine}}); len(p.asked) != 0 {
			t.Errorf("%v was asked about", fine)
		}
	}
}

// Requirements: LG-02, LG-03, LG-05, GRAPH-28 (what persists is kept; all else is reset), INT-11
func TestASecondTurnSeesTheRegistryAndNothingElseOfTheFirst(t *testing.T) {
	t.Parallel()
	first := perform(t, play{
		input:   says("What does @Travel policy say today?", tags(travelID), object{"enable_web_search": true}),
		intents: sure("inquire"), refs: meant(), gathers: []object{{"confidence": "medium"}}, web: "news", known: object{"Old paper": "gone"},
	})
	want := object{"Old paper": "gone", "Travel policy": travelID}
	if !reflect.DeepEqual(first.persist, object{"conversation_docs": want}) {
		t.Fatalf("the first turn keeps %v", first.persist)
	}
	fresh := play{input: says("What is a bee?"), intents: sure("inquire"), refs: meant(), known: want}
	second := perform(t, fresh)
	for _, name := range []string{
		"enable_web_search", "web_search_query", "web_search_results", "resolved_doc_ids", "inferred_doc_ids", "unresolved_names",
		"suggested_doc_ids", "docs", "source_text", "notice",
	} {
		if v := second.outcome.Vars[name]; v != nil && v != false && fmt.Sprint(v) != "[]" {
			t.Errorf("the second turn sees %s = %v", name, v)
		}
	}
	if second.data()["web_query"] != nil || !reflect.DeepEqual(second.persist["conversation_docs"], want) {
		t.Errorf("%v, %v", second.data(), second.persist)
	}
	// The graph's own first step resets every field of the specification.
	reset := resets(t)
	for _, name := range []string{
		"action", "enable_web_search", "web_search_query", "web_search_results", "resolved_doc_ids", "inference_source", "has_implicit_refs",
		"inferred_doc_ids", "unresolved_names", "inference_confidence", "inference_reasoning", "suggested_doc_ids", "passages", "retrieval_confidence",
		"confidence_score", "response", "citations",
	} {
		if _, ok := reset[name]; !ok {
			t.Errorf("%s is not reset", name)
		}
	}
	if _, ok := reset["conversation_docs"]; ok {
		t.Error("the registry is reset")
	}
	if none := perform(t, play{input: says("Hello"), intents: sure("inquire"), refs: meant()}); !reflect.DeepEqual(none.persist["conversation_docs"], object{}) {
		t.Errorf("a first turn begins with %v", none.persist)
	}
}

// An answer over all documents makes those it cites known to the conversation:
// the next message may say "it".
//
// Requirements: LG-05, LG-29
func TestWhatAnAnswerCitesBelongsToTheConversation(t *testing.T) {
	t.Parallel()
	start := play{input: says("What is the notice period?"), intents: sure("inquire"), refs: meant(), cites: travelID}
	if p := perform(t, start); !reflect.DeepEqual(p.persist["conversation_docs"], object{"Travel policy": travelID}) {
		t.Errorf("the registry is %v", p.persist["conversation_docs"])
	}
	start.refs = meant(leaveID) // named documents are those that count
	if p := perform(t, start); !reflect.DeepEqual(p.persist["conversation_docs"], object{"Leave policy": leaveID}) {
		t.Errorf("the registry is %v", p.persist["conversation_docs"])
	}
	start.refs, start.cites = meant(), otherID
	if p := perform(t, start); !reflect.DeepEqual(p.persist["conversation_docs"], object{}) {
		t.Errorf("the registry is %v", p.persist["conversation_docs"])
	}
}

// Whoever wants the web anyway is not asked whether to search it; only where
// that does not work are they.
//
// Requirements: INT-26, LG-22, LG-23
func TestLittleFoundIsNotAskedAboutWhileTheWebMayHelp(t *testing.T) {
	t.Parallel()
	start := play{
		input: says("What are the latest rules?"), intents: sure("inquire"), refs: meant(), web: "news",
		gathers: []object{{"confidence": "low", "average_similarity": 0.1}},
	}
	p := perform(t, start)
	if len(p.asked) != 0 || p.calls["web.search_v1"] != 1 || p.calls["inquire"] != 1 {
		t.Errorf("asked %v, %v", p.asked, p.calls)
	}
	for _, web := range []string{"", "down"} {
		start.web, start.answers = web, []any{"web_search"}
		p = perform(t, start)
		if len(p.asked) != 1 || p.asked[0].Type != "retrieval_low" || p.calls["inquire"] != 1 || p.calls["web.search_v1"] > 2 || p.data()["notice"] == nil {
			t.Errorf("%q: asked %v, %v", web, p.asked, p.calls)
		}
	}
	start.nothing, start.web, start.answers, start.input = true, "", nil, says("What rules are there?")
	if p = perform(t, start); len(p.asked) != 0 {
		t.Errorf("who has no documents is asked to tag one: %v", p.asked)
	}
}

// resets are the values the graph's first node gives.
func resets(t *testing.T) object {
	t.Helper()
	var doc struct {
		Nodes []struct{ Values object }
	}
	if err := json.Unmarshal(artifactstest.Shipped(t, artifacts.AssistantWorkflow), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Nodes[0].Values
}

// Requirements: LG-24, LG-28, STREAM-14
func TestTheEndSaysWhatTheResponseEventNeeds(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: says("What about fees?", tags(bankID)), intents: sure("inquire"), refs: meant(leaveID), gathers: []object{{"confidence": "medium", "average_similarity": 0.6}}})
	want := object{
		"action": "inquire", "inference_confidence": "high", "retrieval_confidence": "medium", "confidence_score": 0.6, "web_query": nil, "notice": nil,
		"resolved_doc_ids": []any{bankID, leaveID}, "docs": []any{object{"id": bankID, "title": "BankNegara2024"}, object{"id": leaveID, "title": "Leave policy"}},
	}
	if !reflect.DeepEqual(p.data(), want) {
		t.Errorf("the data is %v", p.data())
	}
}

// Requirements: INT-05
func TestAQuestionCostsNoCallOfAModel(t *testing.T) {
	t.Parallel()
	vague := object{"action": "compare", "confidence": "low", "likely": []any{"compare", "inquire"}}
	asked := perform(t, play{
		input: says("Those"), intents: []object{vague, vague}, answers: []any{"compare", "all", travelID},
		refs: []object{{"suggested_uuids": []any{leaveID, bankID}, "inference_confidence": "medium"}},
	})
	plain := perform(t, play{input: says("Those"), intents: []object{vague, {"action": "compare", "confidence": "medium"}}, refs: meant(leaveID, bankID)})
	for _, name := range []string{"intent", "documents", "compare", "rag.gather_v1"} {
		if asked.calls[name] != plain.calls[name] {
			t.Errorf("%s is called %d times with questions and %d without", name, asked.calls[name], plain.calls[name])
		}
	}
	if len(asked.streams) != 3 || len(plain.streams) != 1 {
		t.Errorf("%v\n%v", asked.streams, plain.streams)
	}
}

// A greeting is answered like one: nothing is looked for, and nobody is asked.
func TestAGreetingNeedsNoDocument(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: says("Thank you!"), intents: []object{{"action": "inquire", "confidence": "high", "smalltalk": true}}})
	p.check(t, "intent 1 documents 0", "intent_resolver doc_resolver validate_inputs inquire format_response response")
	if p.calls["rag.gather_v1"] != 0 || p.calls["llm.generic_chat_v1"] != 1 || p.outcome.Response != "You are welcome." {
		t.Errorf("%v, %q", p.calls, p.outcome.Response)
	}
}

// Turns of /v1/chat name the workflow and nothing more.
//
// Requirements: LG-01
func TestATurnThatSaysOnlyItsMessageWorksToo(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: object{"message": "What is the notice period?"}, intents: sure("inquire"), refs: meant(leaveID)})
	p.check(t, "intent 1 documents 1", "intent_resolver doc_resolver+docs validate_inputs inquire format_response response")
}
