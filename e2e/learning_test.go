package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// wiseacre is a model that learns and answers. The first time it is asked to
// learn, it says nothing until it may.
type wiseacre struct {
	*provider
	asked, may chan struct{}
	first      sync.Once
}

func hireWiseacre(t *testing.T) *wiseacre {
	t.Helper()
	m := &wiseacre{asked: make(chan struct{}), may: make(chan struct{})}
	m.provider = offer(t, m.answer)
	return m
}

func (m *wiseacre) answer(w http.ResponseWriter, call object, _ int) {
	switch said := words(call); {
	case derives(said):
		m.first.Do(func() {
			close(m.asked)
			<-m.may
		})
		says(w, `{"lessons":[]}`)
	case call["response_format"] != nil:
		says(w, `{}`)
	default:
		says(w, "It is so.")
	}
}

// derives reports whether a request asks what is to be learnt.
func derives(said string) bool { return strings.Contains(said, "Say in short sentences") }

// told is all the model was told to answer a question.
func (m *wiseacre) told(question string) (all string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, call := range m.calls {
		if said := words(call); strings.Contains(said, question) && call["response_format"] == nil {
			all += said
		}
	}
	return all
}

// Two notes and a plain word in the talk become a lesson, over two power cuts:
// one when the word has just been said, one while the model is asked what to
// learn. The next answers follow it and say so, until it is undone; again once
// more is said for it, until the notes are taken back.
//
// Requirements: PLAT-02 (clustering; found by id and type), PLAT-11 (the answer and what is said of it; situations and lessons), CHAT-22 (applied adapters and gates), STREAM-04 (adapters and their gates), LORA-10 (instructions on an API backend)
func TestWhatIsSaidOfAnswersIsLearntOverKillMinusNine(t *testing.T) {
	t.Parallel()
	m := hireWiseacre(t)
	p := start(t, m.env()...)
	ada := p.signUp("ada@example.org")
	for _, question := range []string{"What is a lemma?", "Why is the sky blue?"} {
		ada.finds(ada.must("POST", "/v1/chat", object{"message": question}), "too long")
	}
	about := ada.must("POST", "/v1/chat", object{"message": "Who wrote Faust?"})
	if list, _ := about["adapters"].([]any); len(list) != 0 {
		t.Errorf("before anything is learnt an answer is made with %v", list)
	}
	talk := about["conversation_id"].(string)
	words := ada.must("POST", "/v1/chat", object{"message": "Your answer was too long.", "conversation_id": talk, "stream": true})
	if done := last(t, ada.follow(words["run_id"].(string), 0, nil), "message_done").object(); done["heeded"] != true {
		t.Fatalf("nothing is heard in plain words: %v", done)
	}
	p.kill()
	p.again()
	ada.signIn()
	p.until("what was said to stand at the answer", func() bool {
		heard, _ := ada.message(talk, about["message_id"])["feedback"].(object)
		return heard["signal"] == "dislike"
	})

	// The sweep may have begun it already.
	if status, _, _, message := ada.do("POST", "/v1/learning/run", object{}); status != http.StatusAccepted && status != http.StatusConflict {
		t.Fatalf("learning now: %d %s", status, message)
	}
	<-m.asked
	run := ada.learnt()["last_run"].(object)["run_id"].(string)
	p.kill()
	close(m.may)
	p.again()
	ada.signIn()
	last(t, ada.follow(run, 0, nil), "message_done")
	p.listsLearning(idOf(ada.must("GET", "/v1/auth/me", nil)), run)

	adapter, lesson := ada.onlyLesson()
	ada.answersFollow(m, adapter, lesson)
	ada.undoes(adapter["patch"].(object))
	ada.answerFollowsNot(m, lesson, "What is a proof?")
	if now := ada.learnt()["lessons"].([]any); len(now) != 1 || now[0].(object)["followed"] != false || now[0].(object)["state"] != "active" {
		t.Errorf("it is undone, and the lessons are %v", now)
	}

	ada.finds(ada.must("POST", "/v1/chat", object{"message": "Who wrote Emma?"}), "too long")
	ada.learnNow()
	lesson = ada.learnt()["lessons"].([]any)[0].(object)
	if reply := ada.must("POST", "/v1/chat", object{"message": "Who wrote Ulysses?"}); !strings.Contains(m.told("Who wrote Ulysses?"), lesson["text"].(string)) {
		t.Errorf("more is said for it, and %v was answered without it; the lesson is %v", reply, lesson)
	}
	for _, id := range ada.notes(lesson) {
		ada.must("DELETE", fmt.Sprintf("/v1/preferences/%v", id), nil)
	}
	ada.answerFollowsNot(m, lesson, "And a corollary?")
	if left := ada.learnt()["lessons"].([]any); len(left) != 0 {
		t.Errorf("the notes are gone, and these are left: %v", left)
	}
}

// finds says what the person thinks of an answer.
func (who *person) finds(about object, notes string) {
	who.p.t.Helper()
	who.must("POST", "/v1/preferences", object{
		"conversation_id": about["conversation_id"], "message_id": about["message_id"], "signal": "dislike", "notes": notes,
	})
}

func (who *person) learnt() object {
	who.p.t.Helper()
	return who.must("GET", "/v1/learning", nil)
}

// message is one of a conversation as it reads now.
func (who *person) message(conversation string, id any) object {
	who.p.t.Helper()
	for _, m := range who.must("GET", "/v1/conversations/"+conversation+"/messages?limit=100", nil)["data"].([]any) {
		if m.(object)["id"] == id {
			return m.(object)
		}
	}
	who.p.t.Fatalf("%s has no message %v", conversation, id)
	return nil
}

// onlyLesson is what was learnt, which is one lesson, once, applied by a rule.
func (who *person) onlyLesson() (adapter, lesson object) {
	t := who.p.t
	t.Helper()
	state := who.learnt()
	adapters, lessons := state["adapters"].([]any), state["lessons"].([]any)
	if len(adapters) != 1 || len(lessons) != 1 {
		t.Fatalf("learnt were %v and %v", adapters, lessons)
	}
	adapter, lesson = adapters[0].(object), lessons[0].(object)
	patch, _ := adapter["patch"].(object)
	if adapter["status"] != "active" || adapter["version"] != 2.0 || patch["status"] != "applied" || patch["by_rule"] != true {
		t.Errorf("the adapter is %v", adapter)
	}
	if lesson["followed"] != true || len(lesson["sources"].([]any)) != 3 {
		t.Errorf("the lesson is %v", lesson)
	}
	return adapter, lesson
}

// notes are the events a lesson was read out of.
func (who *person) notes(lesson object) (ids []any) {
	for _, e := range lesson["sources"].([]any) {
		ids = append(ids, e.(object)["event_id"])
	}
	return ids
}

// answersFollow asks twice, and looks that the model is told the lesson and
// that reader and stream are told the adapter with its gate.
func (who *person) answersFollow(m *wiseacre, adapter, lesson object) {
	t := who.p.t
	t.Helper()
	of := func(what string, answer object) {
		t.Helper()
		gates, _ := answer["gates"].(object)
		gate, _ := gates[adapter["id"].(string)].(float64)
		if fmt.Sprint(answer["adapters"]) != fmt.Sprint([]any{adapter["id"]}) || len(gates) != 1 || gate <= 0 || gate > 1 {
			t.Errorf("%s says it was made with %v at %v, want %v", what, answer["adapters"], gates, adapter["id"])
		}
	}
	reply := who.must("POST", "/v1/chat", object{"message": "What is a theorem?"})
	of("the reply", reply)
	if said := m.told("What is a theorem?"); !strings.Contains(said, lesson["text"].(string)) {
		t.Errorf("the model is told %s, and not %v", said, lesson["text"])
	}
	begun := who.must("POST", "/v1/chat", object{"message": "What is an axiom?", "stream": true})
	of("the stream", last(t, who.follow(begun["run_id"].(string), 0, nil), "message_done").object())
	followed := fmt.Sprint(who.message(reply["conversation_id"].(string), reply["message_id"])["followed"])
	if !strings.Contains(followed, adapter["id"].(string)) || !strings.Contains(followed, lesson["text"].(string)) {
		t.Errorf("below the answer stands %s", followed)
	}
}

// undoes presses Undo beside a change that a rule applied, on the page Learning.
func (who *person) undoes(patch object) {
	who.p.t.Helper()
	if patch["may_roll_back"] != true {
		who.p.t.Fatalf("there is no Undo beside %v", patch)
	}
	who.must("POST", fmt.Sprintf("/v1/config/patches/%v/rollback", patch["id"]), object{"reason": "Undone on the page Learning."})
}

// answerFollowsNot asks, and looks that neither model nor reader is told the lesson.
func (who *person) answerFollowsNot(m *wiseacre, lesson object, question string) {
	t := who.p.t
	t.Helper()
	reply := who.must("POST", "/v1/chat", object{"message": question})
	if said := m.told(question); said == "" || strings.Contains(said, lesson["text"].(string)) {
		t.Errorf("taken back, and asked %q the model is told %s", question, said)
	}
	answer := who.message(reply["conversation_id"].(string), reply["message_id"])
	if below, _ := json.Marshal(answer); strings.Contains(string(below), lesson["text"].(string)) || strings.Contains(string(below), lesson["id"].(string)) {
		t.Errorf("taken back, and the answer says %s", below)
	}
}

// listsLearning looks for a person's run that learns, and its child, in
// Temporal's UI, as an operator does: by id and type.
func (p *program) listsLearning(user, run string) {
	p.t.Helper()
	var found object
	p.until("Temporal to list the run that learns", func() bool {
		list := p.executions("WorkflowType = 'Cluster' AND ExecutionStatus = 'Completed'")
		if len(list) > 0 {
			found = list[0]["execution"].(object)
		}
		return len(list) == 1
	})
	id := found["workflowId"].(string)
	if !strings.HasPrefix(id, "cluster:"+user+":") {
		p.t.Errorf("the run that learns is listed as %s", id)
	}
	if byID := p.executions(fmt.Sprintf("WorkflowId = '%s'", id)); len(byID) != 1 || byID[0]["type"].(object)["name"] != "Cluster" {
		p.t.Errorf("by its id %s Temporal finds %v", id, byID)
	}
	children := p.executions("WorkflowType = 'Learn'")
	if len(children) != 1 || children[0]["parentExecution"].(object)["workflowId"] != id || !strings.HasPrefix(children[0]["execution"].(object)["workflowId"].(string), "graph:"+run+"/") {
		p.t.Errorf("its children are listed as %v", children)
	}
}

// executions asks Temporal, through its UI.
func (p *program) executions(query string) []object {
	p.t.Helper()
	res, err := http.Get(p.ready.TemporalUI + "/api/v1/namespaces/default/workflows?query=" + url.QueryEscape(query))
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Executions []object }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		p.t.Fatal(err)
	}
	return list.Executions
}

// invoices are questions of one kind, of which a situation is found.
var invoices = []string{
	"Write a polite reminder to Miller about the unpaid invoice.", "Northwind has not paid the invoice, draft a friendly reminder.",
	"Second reminder for Acme Tools: the invoice is overdue.", "Write a polite reminder to Lindqvist about the unpaid invoice.",
	"The bakery has not paid the invoice, draft a friendly reminder.", "Second reminder for Miller: the invoice is overdue.",
	"Write a polite reminder to Northwind about the unpaid invoice.", "Acme Tools has not paid the invoice, draft a friendly reminder.",
}

// What a run that learns does stands in an artifact: an administrator edits it,
// and the next run does otherwise, in the same process.
//
// Requirements: PLAT-03 (clustering), GRAPH-24 (clustering)
func TestAnEditedGraphChangesHowTheProgramLearns(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org") // the administrator
	graph := ada.artifact("learn.cluster")
	ada.must("PATCH", "/v1/artifacts/"+graph["id"].(string), []object{
		{"op": "add", "path": "/nodes/1/branches/0", "value": object{"when": "events < 8", "next": "few"}},
		{"op": "add", "path": "/nodes/-", "value": object{"id": "few", "type": "end", "response": "", "data": object{"waits": "${vars.events}"}}},
	})
	for _, question := range invoices[:4] {
		ada.finds(ada.must("POST", "/v1/chat", object{"message": question}), "too long")
	}
	if way := ada.learnNow(); way != "look whether few" {
		t.Errorf("with four notes the edited graph goes %s", way)
	}
	if state := ada.learnt(); len(state["lessons"].([]any)) != 0 || state["waiting"] != 4.0 {
		t.Errorf("it has learnt %v, and %v notes wait", state["lessons"], state["waiting"])
	}
	for _, question := range invoices[4:] {
		ada.finds(ada.must("POST", "/v1/chat", object{"message": question}), "too long")
	}
	if way := ada.learnNow(); way != "look whether update names name skills lessons learn prune plan record done" {
		t.Errorf("with eight it goes %s", way)
	}
	found := ada.must("GET", "/v1/clusters?scope=mine", nil)["data"].([]any)
	if len(found) != 1 || found[0].(object)["label_by"] != "rule" || found[0].(object)["label"] == "" || found[0].(object)["size"] != 8.0 {
		t.Errorf("the situations are %v", found)
	}
	if state := ada.learnt(); len(state["lessons"].([]any)) == 0 || state["waiting"] != 0.0 {
		t.Errorf("it has learnt %v, and %v notes wait", state["lessons"], state["waiting"])
	}
	derives := ada.artifact("learn.text")["id"].(string)
	begins := func(at string) {
		t.Helper()
		ada.must("PATCH", "/v1/artifacts/"+derives, []object{{"op": "replace", "path": "/entrypoint", "value": at}})
	}
	begins("same")
	for _, question := range invoices[:3] {
		ada.finds(ada.must("POST", "/v1/chat", object{"message": question}), "Please answer in German.")
	}
	before := len(ada.learnt()["lessons"].([]any))
	ada.learnNow()
	if after := len(ada.learnt()["lessons"].([]any)); after != before {
		t.Errorf("a graph that derives nothing makes %d lessons of %d", after, before)
	}
	begins("derive")
	ada.learnNow()
	if after := len(ada.learnt()["lessons"].([]any)); after <= before {
		t.Errorf("the graph derives again, and there are %d lessons of %d", after, before)
	}
}

// learnNow is a run that learns from now on, to its end: the nodes it passed.
func (who *person) learnNow() string {
	t := who.p.t
	t.Helper()
	var begun object
	who.p.until("no other run to learn", func() bool { // the sweep may have begun one
		if now, _ := who.learnt()["last_run"].(object); now != nil && now["status"] == "running" {
			return false
		}
		status, data, _, message := who.do("POST", "/v1/learning/run", object{})
		if status != http.StatusAccepted && status != http.StatusConflict {
			t.Fatalf("learning now: %d %s", status, message)
		}
		begun = data
		return status == http.StatusAccepted
	})
	id := begun["run_id"].(string)
	last(t, who.follow(id, 0, nil), "message_done")
	run := who.must("GET", "/v1/runs/"+id, nil)["run"].(object)
	var way []string
	for _, s := range run["trace"].(object)["steps"].([]any) {
		if node := s.(object)["node"].(string); !slices.Contains(way, node) {
			way = append(way, node)
		}
	}
	return strings.Join(way, " ")
}
