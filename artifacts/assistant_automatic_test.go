package artifacts_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/graph"
)

// auto is a turn the assistant was given by the graph for turns with documents:
// nobody has chosen the assistant.
func auto(message, action string, more ...object) object {
	return says(message, append([]object{{"action": action, "automatic": true}}, more...)...)
}

func cannotTell(names ...any) []object {
	return []object{{"unresolved_names": names, "inference_confidence": "low"}}
}

// Requirements: LG-16, INT-21
func TestAutomaticListsTheClosestNamesInsteadOfAsking(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		locale, title, want string
	}{
		"one alike":         {"en", "Leave polity", "There is no document called “Leave polity of May”. The names that come closest are:\n\n- **Leave policy**"},
		"one alike, German": {"de", "Leave polity", "Es gibt kein Dokument namens “Leave polity of May”. Am nächsten kommen:\n\n- **Leave policy**"},
		"none":              {"en", "Zorblatt", "There is no document called “Zorblatt of May”, and none of a name like it. The latest are:\n\n- **Leave policy**"},
		"none, German":      {"de-AT", "Zorblatt", "Es gibt kein Dokument namens “Zorblatt of May”, und keines, das so ähnlich heißt. Die neuesten sind:\n\n- **Leave policy**"},
	} {
		for _, action := range []string{"summarize", "compare"} {
			p := perform(t, play{user: object{"locale": one.locale}, input: auto("Do it with the "+one.title+" of May", action), refs: cannotTell(one.title + " of May")})
			if p.outcome.Err != nil || len(p.asked) != 0 || p.calls[action] != 0 || p.outcome.Suppressed || !strings.HasPrefix(p.outcome.Response, one.want) {
				t.Errorf("%s, %s: asked %v, %v, %q", name, action, p.asked, p.outcome.Err, p.outcome.Response)
			}
		}
	}
	// What is there is worked on, whatever else was named.
	p := perform(t, play{input: auto("Summarize the leave policy for Zorblatt", "summarize"), refs: []object{
		{"resolved_uuids": []any{leaveID}, "unresolved_names": []any{"Zorblatt"}, "inference_confidence": "low"},
	}})
	if p.outcome.Err != nil || len(p.asked) != 0 || p.calls["summarize"] != 1 {
		t.Errorf("asked %v, %v", p.asked, p.calls)
	}
}

// Requirements: INT-19, INT-20
func TestAutomaticOffersAWayOutOfEachChoice(t *testing.T) {
	t.Parallel()
	none := graph.Option{ID: "none", Label: "Keines davon"}
	several := []object{{"suggested_uuids": []any{leaveID, travelID}, "inference_confidence": "medium"}}
	for answer, calls := range map[any]int{travelID: 1, "all": 1, "none": 0, nil: 0} {
		p := perform(t, play{user: object{"locale": "de"}, input: auto("Fasse die policy zusammen", "summarize"), refs: several, answers: []any{answer}})
		if len(p.asked) != 1 || p.asked[0].Message != "Welches Dokument meinst du?" || len(p.asked[0].Options) != 4 || p.asked[0].Options[3] != none {
			t.Fatalf("asked %+v, %v", p.asked, p.outcome.Err)
		}
		if p.calls["summarize"] != calls || p.outcome.Suppressed != (answer == nil) {
			t.Errorf("%v: %v, %+v", answer, p.calls, p.outcome)
		}
		if answer == "none" && !strings.HasPrefix(p.outcome.Response, "Du hast kein Dokument gewählt, also gibt es noch nichts zu tun. In Frage kamen:\n\n- **Leave policy**\n- **Travel policy**\n\n") {
			t.Errorf("it says %q", p.outcome.Response)
		}
	}
	// Who names nothing at all chooses among the latest.
	for answer, want := range map[any][]any{bankID: {bankID}, "all": {leaveID, travelID, bankID}, "none": {}} {
		p := perform(t, play{input: auto("tl;dr please", "summarize"), refs: meant(), answers: []any{answer}})
		if len(p.asked) != 1 || p.asked[0].Type != "doc_choice" || len(p.asked[0].Options) != 5 {
			t.Fatalf("asked %+v, %v", p.asked, p.outcome.Err)
		}
		if !reflect.DeepEqual(p.data()["resolved_doc_ids"], want) || (p.calls["summarize"] == 1) != (answer != "none") || p.outcome.Suppressed {
			t.Errorf("%v: resolved %v, %v, %q", answer, p.data()["resolved_doc_ids"], p.calls, p.outcome.Response)
		}
		if answer == bankID && !reflect.DeepEqual(p.persist["conversation_docs"], object{"BankNegara2024": bankID}) {
			t.Errorf("the next turn sees %v", p.persist)
		}
	}
}

// What two things, or a topic, turn out to be no documents is not the
// assistant's: nothing is asked and nothing is said.
//
// Requirements: GRAPH-22
func TestAutomaticLeavesWhatIsAboutNoDocuments(t *testing.T) {
	t.Parallel()
	for message, one := range map[string]struct {
		action string
		refs   []object
	}{
		"What is the difference between gross and net?":                  {"compare", meant()},
		"What is the difference between gross and net in the @policy?":   {"compare", meant(leaveID)},
		"Summarize the rules on parking in the underground garage":       {"summarize", meant()},
		"What are the main points on which gross and net wages part way": {"summarize", meant()},
	} {
		p := perform(t, play{input: auto(message, one.action), refs: one.refs})
		if p.outcome.Err != nil || len(p.asked) != 0 || p.outcome.Response != "" || !reflect.DeepEqual(p.data(), object{"elsewhere": true}) || p.calls["rag.gather_v1"] != 0 {
			t.Errorf("%s: asked %v, %+v", message, p.asked, p.outcome)
		}
	}
}

// Requirements: LG-19
func TestAutomaticAuditsAgainstAllWhereNoDocumentIsNamed(t *testing.T) {
	t.Parallel()
	p := perform(t, play{input: auto("Check these claims: we give ten days of leave and no more than that", "audit"), refs: meant()})
	if len(p.asked) != 0 || p.calls["audit"] != 1 || !reflect.DeepEqual(p.given["rag.gather_v1"][0]["documents"], []any{leaveID, travelID, bankID}) {
		t.Errorf("asked %v, %v", p.asked, p.calls)
	}
	if kept, _ := p.persist["conversation_docs"].(object); len(kept) != 0 {
		t.Errorf("the next turn sees %v", kept)
	}
	// Of two documents the one is no text: what each says stands side by side.
	p = perform(t, play{input: auto("Audit the leave policy against the travel policy", "audit"), refs: meant(leaveID, travelID)})
	if len(p.asked) != 0 || p.calls["compare"] != 1 {
		t.Errorf("asked %v, %v", p.asked, p.calls)
	}
}

// Requirements: LG-11, LG-29, LG-02
func TestAutomaticKeepsToTheWebAndTheDocumentsItWasGiven(t *testing.T) {
	t.Parallel()
	given := object{"Leave policy": leaveID}
	p := perform(t, play{input: auto("Summarize the latest of it", "summarize", object{"conversation_docs": given}), refs: meant(leaveID), web: "news"})
	if p.calls["web.search_v1"] != 0 || !reflect.DeepEqual(p.given["documents"][0]["data"].(object)["registry"], given) {
		t.Errorf("%v, %v", p.calls, p.given["documents"])
	}
	p = perform(t, play{input: auto("Summarize it", "summarize", object{"enable_web_search": true}), refs: meant(leaveID), web: "news"})
	if p.calls["web.search_v1"] != 1 {
		t.Error("whoever wants the web does not get it")
	}
}

// A document that is meant for certain is not asked for again, whoever asks.
//
// Requirements: INT-19, LG-15
func TestACertainDocumentIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	for _, input := range []object{says("Summarize the leave policy"), auto("Summarize the leave policy", "summarize")} {
		p := perform(t, play{input: input, intents: sure("summarize"), refs: []object{
			{"resolved_uuids": []any{leaveID}, "suggested_uuids": []any{leaveID, travelID}, "inference_confidence": "medium"},
		}})
		if len(p.asked) != 0 || p.calls["summarize"] != 1 || !slices.Equal(p.data()["resolved_doc_ids"].([]any), []any{leaveID}) {
			t.Errorf("asked %+v, resolved %v", p.asked, p.data()["resolved_doc_ids"])
		}
	}
}
