package artifacts_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"liminal/internal/graph"
)

// Requirements: LG-12, LG-13, LG-15, LG-21
func TestTagsComeFromTheEditorTheListsAndTheSets(t *testing.T) {
	t.Parallel()
	editor := object{"type": "doc", "content": []any{object{"type": "paragraph", "content": []any{
		object{"type": "mention", "attrs": object{"id": leaveID, "label": "Leave policy", "category": "document"}},
		object{"type": "mention", "attrs": object{"id": otherID, "label": "Secret", "category": "document"}},
	}}}}
	for name, one := range map[string]struct {
		input object
		want  []any
	}{
		"the editor":             {says("@Leave policy @Secret", object{"tiptap_json": editor}), []any{leaveID}},
		"both":                   {says("Leave policy Secret BankNegara2024", object{"tiptap_json": editor}, tags(bankID, leaveID)), []any{leaveID, bankID}},
		"a set":                  {says("", object{"tagged_set_ids": []any{setID, otherID}}), []any{travelID, bankID}},
		"a document and its set": {says("", object{"tagged_set_ids": []any{setID}}, tags(bankID)), []any{bankID, travelID}},
	} {
		one.input["action"] = "summarize"
		p := perform(t, play{input: one.input})
		if p.outcome.Err != nil || p.calls["documents"] != 0 || !reflect.DeepEqual(p.data()["resolved_doc_ids"], one.want) {
			t.Errorf("%s: %v, %d calls, %v", name, p.data()["resolved_doc_ids"], p.calls["documents"], p.outcome.Err)
		}
	}
}

// What is mentioned is known: whoever reads the words looks for no documents of
// the names of mentions, whatever they are mentions of.
//
// Requirements: LG-12, LG-13
func TestTheNamesOfMentionsAreNotReadAsWords(t *testing.T) {
	t.Parallel()
	mention := func(category, id, label string) object {
		return object{"type": "mention", "attrs": object{"category": category, "id": id, "label": label}}
	}
	doc := object{"type": "doc", "content": []any{object{"type": "paragraph", "content": []any{
		mention("action", "compare", "Compare"), mention("document", leaveID, "Leave policy"), mention("document", travelID, "Travel policy"),
		object{"type": "text", "text": " on termination"},
	}}}}
	message := "@Compare @Leave policy and @Travel policy on termination"
	p := perform(t, play{input: says(message, object{"action": "compare", "tiptap_json": doc}), refs: meant()})
	p.check(t, "intent 0 documents 1", "doc_resolver+docs validate_inputs compare format_response response")
	if asked := strings.Join(strings.Fields(p.given["documents"][0]["message"].(string)), " "); asked != "and on termination" {
		t.Errorf("documents are looked for in %q", asked)
	}
	if got := p.data()["resolved_doc_ids"]; !reflect.DeepEqual(got, []any{leaveID, travelID}) {
		t.Errorf("resolved %v", got)
	}
	// What is only named stays, though a mention is called alike.
	p = perform(t, play{input: says("@Compare how @Leave policy and the travel policy compare", object{"action": "compare", "tiptap_json": doc}), refs: meant()})
	if asked := strings.Join(strings.Fields(p.given["documents"][0]["message"].(string)), " "); asked != "how and the travel policy compare" {
		t.Errorf("documents are looked for in %q", asked)
	}
}

// Requirements: LG-14, LG-15, LG-18 (titles once a run), LG-29
func TestTheModelSeesTheRegistryAndAsMuchOfTheConversationAsItNeeds(t *testing.T) {
	t.Parallel()
	known := object{"Leave policy": leaveID, "Travel policy": travelID}
	for message, history := range map[string]float64{"What does the leave policy say?": 0, "Compare those two docs": 5} {
		p := perform(t, play{input: says(message, object{"action": "compare"}, tags(bankID)), known: known, refs: meant(leaveID, travelID, otherID)})
		p.check(t, "intent 0 documents 1", "doc_resolver+docs validate_inputs compare format_response response")
		in := p.given["documents"][0]
		data := in["data"].(object)
		if in["history"] != history || !reflect.DeepEqual(data["registry"], known) || data["action"] != "compare" ||
			!reflect.DeepEqual(data["explicit"], []any{bankID}) || len(data["titles"].([]any)) != 3 {
			t.Errorf("%s: the model is told %v", message, in)
		}
		if !reflect.DeepEqual(p.data()["resolved_doc_ids"], []any{bankID, leaveID, travelID}) || p.outcome.Vars["inference_source"] != "inferred" {
			t.Errorf("%s: resolved %v, %v", message, p.data()["resolved_doc_ids"], p.outcome.Vars["inference_source"])
		}
		if p.calls["titles"] != 1 {
			t.Errorf("the titles were listed %d times", p.calls["titles"])
		}
	}
}

// Requirements: LG-16, LG-17, LG-18 (titles once a run)
func TestNamesTheModelCannotPlaceAreMatchedToTitles(t *testing.T) {
	t.Parallel()
	p := perform(t, play{
		input: says("What does the travel polcy say?"), intents: sure("inquire"),
		refs: []object{{"unresolved_names": []any{"travel polcy"}, "inference_confidence": "low", "reasoning": "secret thoughts"}},
	})
	p.check(t, "intent 1 documents 1", "intent_resolver doc_resolver+docs validate_inputs inquire format_response response")
	if !reflect.DeepEqual(p.data()["resolved_doc_ids"], []any{travelID}) || p.outcome.Vars["inference_source"] != "fuzzy_match" || p.calls["titles"] != 1 {
		t.Errorf("%v, %v", p.data(), p.outcome.Vars["inference_source"])
	}
	shown, err := json.Marshal([]any{p.outcome.Response, p.outcome.Data})
	if err != nil || strings.Contains(string(shown), "secret thoughts") {
		t.Errorf("people see the reasoning: %s, %v", shown, err)
	}
}

// Requirements: INT-19, INT-20, INT-28, STREAM-21, INT-14
func TestWhichDocumentIsAskedWhenSeveralFit(t *testing.T) {
	t.Parallel()
	refs := []object{{"resolved_uuids": []any{bankID}, "suggested_uuids": []any{leaveID, travelID, otherID}, "inference_confidence": "medium"}}
	for answer, want := range map[any][]any{
		travelID: {bankID, travelID}, "all": {bankID, leaveID, travelID}, nil: {bankID},
	} {
		p := perform(t, play{input: says("Audit against the policy: we give no leave at all to anyone"), intents: sure("audit"), refs: refs, answers: []any{answer}})
		if len(p.asked) != 1 || p.asked[0].Type != "doc_choice" || p.asked[0].Message != "Which document would you like to audit against?" {
			t.Fatalf("asked %+v", p.asked)
		}
		if want := []graph.Option{{ID: leaveID, Label: "Leave policy"}, {ID: travelID, Label: "Travel policy"}, {ID: "all", Label: "All of these"}}; !reflect.DeepEqual(p.asked[0].Options, want) {
			t.Errorf("the options are %v", p.asked[0].Options)
		}
		if !reflect.DeepEqual(p.data()["resolved_doc_ids"], want) {
			t.Errorf("%v: resolved %v", answer, p.data()["resolved_doc_ids"])
		}
		confidence := "high"
		if answer == nil {
			confidence = "low"
		} else {
			p.check(t, "intent 1 documents 1", "intent_resolver doc_resolver interrupt doc_choice",
				"doc_resolver+docs validate_inputs audit format_response response")
		}
		if p.data()["inference_confidence"] != confidence {
			t.Errorf("%v: the confidence is %v", answer, p.data()["inference_confidence"])
		}
	}
}

// Requirements: INT-21, INT-28
func TestADocumentThatCannotBeToldIsAskedFor(t *testing.T) {
	t.Parallel()
	refs := []object{{"unresolved_names": []any{"XYZ guidelines"}, "inference_confidence": "low"}}
	for name, one := range map[string]struct {
		answers []any
		want    []any
		asks    int
	}{
		"an id":                 {[]any{bankID}, []any{bankID}, 1},
		"a title":               {[]any{"the @BankNegara2024, please"}, []any{bankID}, 1},
		"somebody else's, then": {[]any{otherID, "Leave policy"}, []any{leaveID}, 2},
		"nothing twice":         {[]any{"no idea", "really not"}, []any{}, 2},
		"a cancel":              {[]any{nil}, []any{}, 1},
	} {
		p := perform(t, play{input: says("What do the XYZ guidelines say?"), intents: sure("inquire"), refs: refs, answers: one.answers})
		if p.outcome.Err != nil || len(p.asked) != one.asks || p.asked[0].Type != "text_input" || p.asked[0].Options != nil ||
			p.asked[0].Message != "Please tag the document you'd like to reference." {
			t.Fatalf("%s: asked %+v, %v", name, p.asked, p.outcome.Err)
		}
		if !reflect.DeepEqual(p.data()["resolved_doc_ids"], one.want) {
			t.Errorf("%s: resolved %v", name, p.data()["resolved_doc_ids"])
		}
		if low := p.data()["inference_confidence"] == "low"; low != (len(one.want) == 0) {
			t.Errorf("%s: the confidence is %v", name, p.data()["inference_confidence"])
		}
		if p.calls["documents"] != 1 {
			t.Errorf("%s: the model was asked %d times", name, p.calls["documents"])
		}
	}
}

// Who has no documents is asked for none that could not be told, and no model
// is asked either.
func TestWithoutDocumentsThereIsNothingToResolve(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: says("What is a notice period?"), intents: sure("inquire"), nothing: true})
	p.check(t, "intent 1 documents 0", "intent_resolver doc_resolver validate_inputs inquire format_response response")
}
