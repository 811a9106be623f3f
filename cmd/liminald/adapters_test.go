package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// adapted is a server with two adapters, of which one is on trial.
func adapted(t *testing.T) (environment []string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	const trial = `{"id":"a1","name":"learnt.persona","type":"persona","status":"active","version":3,"lessons":["l1"],"weights":2,"use":{"runs":16,"score":0.5},
		"patch":{"id":7,"status":"applied","may_decide":false,"may_roll_back":true,
			"trial":{"share":50,"until":"2026-05-04T12:00:00Z","runs":{"before":7,"after":9},"disliked":{"before":{"value":0.1},"after":{"value":0.25,"low":0.05,"high":0.5}},"rules":["runs.after >= 10"]}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		switch r.URL.Path {
		case "/v1/adapters":
			_, _ = io.WriteString(w, `{"data":{"data":[`+trial+`},{"id":"a2","name":"learnt.skill.x","type":"skill","situation":"Letters\u001b[31m","status":"draft","version":1,"lessons":[],"weights":0,"use":{"runs":0,"score":0},
				"patch":{"id":8,"status":"pending","may_decide":true,"may_roll_back":false,"trial":null}}]}}`)
		case "/v1/adapters/a1":
			_, _ = io.WriteString(w, `{"data":`+trial+`,"versions":[{"version":3,"state":"trial","at":"2026-05-03T12:00:00Z","note":"Trained.","patch_id":7,"lessons":1,"weights":2,"base":"base_lm_v1"},
				{"version":2,"state":"before","at":"2026-05-02T12:00:00Z","note":"","patch_id":null,"lessons":1,"weights":0,"base":""}]}}`)
		case "/v1/adapters/a2":
			_, _ = io.WriteString(w, `{"data":{"id":"a2","type":"skill","patch":{"id":8,"status":"pending","may_decide":true,"may_roll_back":false}}}`)
		case "/v1/training":
			_, _ = io.WriteString(w, `{"data":{"data":[{"id":"t1","kind":"sft","status":"succeeded","stage":"kept","reason":"It is not better.","events":24,"version":2,"created_at":"2026-05-03T11:00:00Z",
				"report":{"outcome":"none","reasons":["wishes_not_kept"],"events":8,"p":0.91,"loss":{"now":1.08,"new":1.07},"alignment":{"now":0.25,"new":0.75},"kept":{"prompts":4,"of":4,"base":0,"now":0,"new":0,"kinds":["begins"]}}}]}}`)
		case "/v1/adapters/a1/train":
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"data":{"id":"t2","status":"queued"}}`)
		default:
			_, _ = io.WriteString(w, `{"data":{"id":7,"status":"rolled_back"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return []string{"LIMINAL_URL=" + s.URL, "LIMINAL_TOKEN=x"}, asked
}

func TestAdaptersAreSeenTrainedAndTakenBackFromTheCommandLine(t *testing.T) {
	t.Parallel()
	environment, asked := adapted(t)
	code, out, said := finish(t, environment, "adapters", "list")
	if code != exitOK {
		t.Errorf("ended with %d: %s", code, said)
	}
	has(t, out, "a1  learnt.persona, of all answers: active, version 3, 1 lesson, weights 2; 16 answers, +0.50 on average\n",
		"change 7 is on trial with 50 % of your conversations until ", "7 answers before, 9 with it; thumbs down 10 % before, 25 % (5 to 50) with it\n",
		"it goes back by itself when runs.after >= 10\n", "taken back with: liminald adapters undo a1 --why",
		"a2  learnt.skill.x, of Letters[31m: draft, version 1, 0 lessons, no weights; 0 answers\n    change 8 waits for you: liminald patch show 8\n")
	_, out, _ = finish(t, environment, "adapters", "show", "a1")
	has(t, out, "version 3, trial, ", "1 lesson, weights 2 of base_lm_v1, by change 7\n    Trained.\n", "version 2, before, ",
		"training t1, sft, ", ": succeeded at kept, 24 events\n    It is not better.\n",
		"gate: none; 8 held out; loss 1.07, before 1.08; alignment 0.75, before 0.25; P 0.91; wishes kept in 0 of 4 checks (begins), before 0, by the base 0; wishes_not_kept\n")
	_, out, _ = finish(t, environment, "adapters", "show", "a1", "--json")
	has(t, out, `"trainings": [`, `"share": 50`)
	if code, out, _ := finish(t, environment, "adapters", "train", "a1"); code != exitOK || !strings.HasPrefix(out, "training t2 is queued; ") {
		t.Errorf("train ended with %d: %s", code, out)
	}
	*asked = nil
	for args, want := range map[string]string{
		"": "say what to do", "dance": `no verb "dance"`, "list a1": "takes nothing more", "show": "needs the id", "undo a1 a2": "needs the id", "undo a1": "say with --why",
	} {
		code, _, said := finish(t, environment, append([]string{"adapters"}, strings.Fields(args)...)...)
		if code != exitUsage {
			t.Errorf("%q ended with %d: %s", args, code, said)
		}
		has(t, said, want)
	}
	if len(*asked) != 0 {
		t.Errorf("the server was asked %v", *asked)
	}
	if code, out, _ := finish(t, environment, "adapters", "undo", "a1", "--why", "too short"); code != exitOK || out != "taken back: change 7; your answers are made as before it\n" {
		t.Errorf("undo ended with %d: %s", code, out)
	}
	if want := []string{"GET /v1/adapters/a1", `POST /v1/config/patches/7/rollback {"reason":"too short"}`}; !slices.Equal(*asked, want) {
		t.Errorf("asked: %q", *asked)
	}
	if code, _, said := finish(t, environment, "adapters", "undo", "a2", "--why", "no"); code != exitFailed || !strings.Contains(said, "can be taken back") {
		t.Errorf("undo of what waits ended with %d: %s", code, said)
	}
}
