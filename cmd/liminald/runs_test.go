package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// asking is a server with three open questions, which says yes to every answer
// but to one for Linz, and keeps what it was told.
func asking(t *testing.T) (environment []string, answers *[]string) {
	t.Helper()
	answers = &[]string{}
	const form = `{"type":"object","required":["to","nights"],"properties":{"to":{"type":"string","title":"Where to"},"nights":{"type":["integer","null"]},
		"by":{"type":"array","items":{"enum":["rail","bus"]}},"dog":{"type":"boolean"},"when":{"type":"string","format":"date"},
		"class":{"enum":[1,2,"any"]},"who":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/v1/interrupts":
			_, _ = io.WriteString(w, `{"data":{"data":[
				{"interrupt_id":"aa01","interrupt_type":"text_input","message":"Where to?","options":null,"asked":"plan a trip","answer_schema":`+form+`},
				{"interrupt_id":"aa02","interrupt_type":"doc_choice","message":"Which?","options":[{"id":"d1","label":"Lease"}]},
				{"interrupt_id":"bb03","interrupt_type":"text_input","message":"What else?","options":null},
				{"interrupt_id":"cc04","interrupt_type":"action_choice","message":"Approve?","options":[],"patch_id":7}],"next_cursor":null}}`)
		case r.URL.Path == "/v1/runs":
			_, _ = io.WriteString(w, `{"data":{"data":[{"id":"r1","kind":"chat","status":"`+r.URL.Query().Get("status")+`","asked":"plan a trip","waits_for":"Where to?"}],"next_cursor":null}}`)
		case strings.Contains(string(body), "Linz"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"validation_error","message":"The answer does not fit what was asked.","details":[{"path":"/nights","message":"it is missing"}]}}`)
		default:
			var in struct {
				ID    string          `json:"interrupt_id"`
				Value json.RawMessage `json:"resume_value"`
			}
			_ = json.Unmarshal(body, &in)
			*answers = append(*answers, in.ID+" "+string(in.Value))
			_, _ = io.WriteString(w, `{"data":{"run_id":"r1"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return []string{"LIMINAL_URL=" + s.URL, "LIMINAL_TOKEN=x"}, answers
}

// Requirements: INT-06, INT-32
func TestQuestionsAreAnsweredFromTheCommandLine(t *testing.T) {
	t.Parallel()
	environment, answers := asking(t)
	code, out, _ := finish(t, environment, "runs", "questions")
	if code != exitOK || strings.Contains(out, "Approve?") {
		t.Errorf("ended with %d:\n%s", code, out)
	}
	has(t, out, "aa01  Where to?\n", "asked by: plan a trip", "    to=  text, required; Where to\n", "    nights=  integer, required\n", "by=  a list of rail or bus",
		"dog=  true or false", "when=  a date", "class=  1 or 2 or any", "who.name=  text", "    d1  Lease\n")
	_, out, _ = finish(t, environment, "runs", "list", "--status", "waiting")
	has(t, out, "waiting", "plan a trip  → Where to?")

	for _, c := range []struct {
		args []string
		want string
	}{
		{
			[]string{"aa01", "to=Graz = here", "nights=2", "by=rail,bus", "dog=true", "class=1", "who.name=Ada", "when=2026-12-31"},
			`aa01 {"type":"text_input","value":{"by":["rail","bus"],"class":1,"dog":true,"nights":2,"to":"Graz = here","when":"2026-12-31","who":{"name":"Ada"}}}`,
		},
		{[]string{"AA01", "to=Graz", "by=rail", "by=bus", "nights=two", "more=x"}, `aa01 {"type":"text_input","value":{"by":["rail","bus"],"more":"x","nights":"two","to":"Graz"}}`},
		{[]string{"aa01", `{"to":"Graz","nights":null}`}, `aa01 {"type":"text_input","value":{"nights":null,"to":"Graz"}}`},
		{[]string{"aa02", "d1"}, `aa02 {"type":"doc_choice","value":"d1"}`},
		{[]string{"bb", "nothing", "more=0"}, `bb03 {"type":"text_input","value":"nothing more=0"}`},
	} {
		*answers = nil
		code, out, said := finish(t, environment, append([]string{"runs", "answer"}, c.args...)...)
		if code != exitOK || !strings.Contains(out, "run r1 goes on") || !slices.Equal(*answers, []string{c.want}) {
			t.Errorf("%v ended with %d: %s%s\nsent %v\nwant %s", c.args, code, out, said, *answers, c.want)
		}
	}
	*answers = nil
	if code, _, said := finish(t, environment, "runs", "skip", "bb03"); code != exitOK || !slices.Equal(*answers, []string{`bb03 {"type":"cancel","value":null}`}) {
		t.Errorf("skipping ended with %d: %s, sent %v", code, said, *answers)
	}
	code, _, said := finish(t, environment, "runs", "answer", "aa01", "to=Linz")
	if code != exitFailed || !strings.Contains(said, "/nights  it is missing") {
		t.Errorf("a wrong answer ended with %d: %s", code, said)
	}
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, nil, "say what to do"},
		{exitUsage, []string{"dance"}, `no verb "dance"`},
		{exitUsage, []string{"answer"}, "name the ID"},
		{exitUsage, []string{"answer", "aa01"}, "say what the ANSWER is"},
		{exitUsage, []string{"answer", "aa01", "Graz"}, "neither a JSON object nor field=value"},
		{exitFailed, []string{"skip", "zz"}, "no open question of yours"},
		{exitFailed, []string{"skip", "aa"}, "2 open questions begin with aa"},
		{exitFailed, []string{"skip", "cc04"}, "no open question of yours"},
	} {
		if code, _, said := finish(t, environment, append([]string{"runs"}, c.args...)...); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%v ended with %d: %s", c.args, code, said)
		}
	}
}
