package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// taught is a server that has learnt, and keeps what it was asked.
func taught(t *testing.T) (environment []string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.Path)
		switch r.URL.Path {
		case "/v1/learning":
			_, _ = io.WriteString(w, `{"data":{"mode":"text","generative":false,"settings":{"personal":true,"shared":false,"by_rule":true},"waiting":2,
				"last_run":{"run_id":"r1","status":"done","at":"2026-05-04T12:00:00Z"},
				"adapters":[{"id":"a1","name":"persona","type":"persona","status":"active","version":3,"lessons":["l1"],
						"patch":{"id":7,"status":"applied","justification":"9 better, 1 worse","by_rule":true,"may_decide":false,"may_roll_back":true}},
					{"id":"a2","name":"emails","type":"skill","status":"draft","version":1,"lessons":[],"patch":{"id":8,"status":"pending","justification":"new","by_rule":false,"may_decide":true}}],
				"lessons":[{"id":"l1","text":"Be brief.","state":"active","made_by":"rule","followed":true,
						"sources":[{"event_id":1,"signal":"dislike","notes":"too long"},{"event_id":2,"signal":"dislike","notes":"too long"},{"event_id":3,"signal":"like","notes":""}]},
					{"id":"l2","text":"Be kind.\u001b[31m","state":"off","made_by":"person","followed":false,"sources":[]}]}}`)
		case "/v1/learning/run":
			if len(*asked) > 1 && slices.Contains((*asked)[:len(*asked)-1], "POST /v1/learning/run") {
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"error":{"code":"conflict","message":"It is being read just now.","details":{"run_id":"r2"}}}`)
				return
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"data":{"run_id":"r2"}}`)
		default:
			_, _ = io.WriteString(w, `{"data":{"events":5}}`)
		}
	}))
	t.Cleanup(s.Close)
	return []string{"LIMINAL_URL=" + s.URL, "LIMINAL_TOKEN=x"}, asked
}

func TestWhatIsLearntIsSeenStartedAndForgottenFromTheCommandLine(t *testing.T) {
	t.Parallel()
	environment, asked := taught(t)
	code, out, said := finish(t, environment, "learn", "status")
	if code != exitOK {
		t.Errorf("ended with %d: %s", code, said)
	}
	has(t, out, "your answers follow what is learnt from you; what passes its trial is applied; no language model is set up, so only rules learn\n",
		"2 unread; the latest run, r1, done at ", "l1  Be brief. (followed)\n    from 3 answers you judged: too long\n", "l2  Be kind.[31m (off)\n",
		"adapter persona, persona, version 3: active, 1 lesson\n    change 7, applied by rule: 9 better, 1 worse\n",
		"adapter emails, skill, version 1: draft, 0 lessons\n    change 8, waits for you: liminald patch show 8: new\n")
	_, out, _ = finish(t, environment, "learn", "status", "--json")
	has(t, out, `"waiting": 2`, `"notes": "too long"`)
	if code, out, _ := finish(t, environment, "learn", "run"); code != exitOK || out != "run r2 reads what you said of answers\n" {
		t.Errorf("run ended with %d: %s", code, out)
	}
	if code, _, said := finish(t, environment, "learn", "run"); code != exitFailed {
		t.Errorf("the second run ended with %d: %s", code, said)
	}
	*asked = nil
	for args, want := range map[string]string{
		"": "say what to do", "dance": `no verb "dance"`, "run now": "takes nothing more", "forget": "say --yes",
	} {
		list := []string{"learn"}
		if args != "" {
			list = append(list, strings.Fields(args)...)
		}
		code, _, said := finish(t, environment, list...)
		if code != exitUsage {
			t.Errorf("%q ended with %d: %s", args, code, said)
		}
		has(t, said, want)
	}
	if len(*asked) != 0 {
		t.Errorf("the server was asked %v", *asked)
	}
	if code, out, _ := finish(t, environment, "learn", "forget", "--yes"); code != exitOK || out != "forgotten: what you said of answers (5 times), and all that was learnt from it\n" {
		t.Errorf("forget ended with %d: %s", code, out)
	}
	if !slices.Equal(*asked, []string{"POST /v1/learning/forget"}) {
		t.Errorf("asked: %v", *asked)
	}
}
