package e2e

import (
	"fmt"
	"testing"
	"time"
)

// A patch is killed at every step of its way: right after it is proposed, while
// it is checked and rehearsed, between an act's commit and its signal, and while
// it is watched. It goes on each time, and every act happens once.
//
// Requirements: CFG-04, CFG-05, CFG-15, CFG-16
func TestAPatchGoesOnWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	s := hire(t, start(t))
	id := s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})["id"].(string)
	for i := range 8 {
		s.says(s.power, id, fmt.Sprintf("question %d", i))
	}
	crash := func(after time.Duration) {
		t.Helper()
		time.Sleep(after) // when the power goes is nobody's event
		s.kill()
		s.again()
		for _, who := range []*person{s.admin, s.second, s.power} {
			who.signIn()
		}
	}
	for round, after := range []time.Duration{0, 30 * time.Millisecond} {
		words := fmt.Sprintf("Short %d.", round)
		made := s.power.must("POST", "/v1/config/patches", object{
			"artifact_id": id, "justification": "to see what happens",
			"patch": []object{{"op": "replace", "path": "/nodes/4/response", "value": words}},
		})
		path := fmt.Sprintf("/v1/config/patches/%v", made["id"])
		crash(after)
		s.settled(s.power, made)
		s.admin.must("POST", path+"/decide", object{"decision": "approve", "reason": "fine"})
		crash(after)
		s.admin.must("POST", path+"/apply", object{"hours": 24})
		crash(after)
		if got := s.says(s.power, id, "hello"); got != words {
			t.Errorf("applied, it answers %q", got)
		}
		s.until("the patch to be watched", func() bool {
			open := s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)
			return len(open) == 1
		})
		crash(after)
		back := s.admin.must("POST", path+"/rollback", object{"reason": "as it was"})
		crash(after)
		s.until("the patch's workflow to end", func() bool {
			run := s.admin.must("GET", "/v1/runs/"+back["run_id"].(string), nil)["run"].(object)
			return run["status"] == "done"
		})
		done := s.admin.must("GET", path, nil)
		told := map[string]int{}
		for _, e := range done["events"].([]any) {
			told[e.(object)["what"].(string)]++
		}
		for _, what := range []string{"proposed", "checked", "rehearsed", "approved", "applied", "rolled_back"} {
			if told[what] != 1 {
				t.Errorf("round %d: it was %s %d times: %v", round, what, told[what], told)
			}
		}
		if done["status"] != "rolled_back" || done["stage"] != "settled" || len(s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)) != 0 {
			t.Errorf("round %d: it ended %v at %v", round, done["status"], done["stage"])
		}
	}
	if versions := s.admin.must("GET", "/v1/artifacts/"+id+"/versions", nil)["data"].([]any); len(versions) != 5 {
		t.Errorf("there are %d versions, want 5", len(versions))
	}
}

// Servers without a worker: what people do is done at once or refused with a
// reason, and goes on when a worker is there.
//
// Requirements: CFG-04, CFG-05, CFG-15, OPS-09
func TestAPatchIsDecidedWhileNoWorkerIsThere(t *testing.T) {
	c := grown(t, 1, 0)
	s := hire(t, c.servers[0])
	id := s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})["id"].(string)
	made := s.power.must("POST", "/v1/config/patches", object{
		"artifact_id": id, "justification": "to see what happens",
		"patch": []object{{"op": "replace", "path": "/nodes/4/response", "value": "Shorter."}},
	})
	path := fmt.Sprintf("/v1/config/patches/%v", made["id"])
	refused := func(what string, body object) {
		t.Helper()
		began := time.Now()
		status, _, code, message := s.admin.do("POST", path+"/"+what, body)
		if status != 409 || code != "conflict" || message == "" || time.Since(began) > patience {
			t.Errorf("%s with no worker there: %d %s %q after %s", what, status, code, message, time.Since(began))
		}
	}
	refused("decide", object{"decision": "approve", "reason": "fine"})
	w := c.worker()
	s.settled(s.power, made)
	s.until("the decision to be asked for", func() bool {
		return len(s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)) == 1
	})
	w.kill()
	if got := s.admin.must("POST", path+"/decide", object{"decision": "approve", "reason": "fine"}); got["status"] != "approved" {
		t.Errorf("decided it is %v", got["status"])
	}
	refused("apply", object{"hours": 24})
	w = c.worker()
	s.until("it to be applied", func() bool {
		status, _, _, _ := s.admin.do("POST", path+"/apply", object{"hours": 24})
		return status == 200
	})
	w.kill()
	back := s.admin.must("POST", path+"/rollback", object{"reason": "as it was"})
	if back["status"] != "rolled_back" {
		t.Errorf("taken back it is %v", back["status"])
	}
	c.worker()
	s.until("its workflow to end", func() bool {
		return s.admin.must("GET", "/v1/runs/"+back["run_id"].(string), nil)["run"].(object)["status"] == "done"
	})
	if versions := s.admin.must("GET", "/v1/artifacts/"+id+"/versions", nil)["data"].([]any); len(versions) != 3 {
		t.Errorf("there are %d versions, want 3", len(versions))
	}
}

// Nobody is asked any more about what went with its account.
//
// Requirements: CFG-05, DATA-01
func TestAProposalGoesWithTheAccountItIsAbout(t *testing.T) {
	t.Parallel()
	s := hire(t, start(t))
	id := s.power.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "mine", "schema": helper()})["id"].(string)
	made := s.proposed(id, object{"op": "replace", "path": "/nodes/4/response", "value": "Short."})
	s.until("the decision to be asked for", func() bool {
		return len(s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)) == 1
	})
	s.power.must("DELETE", "/v1/auth/me", object{"password": "correct horse battery staple"})
	if n := len(s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)); n != 0 {
		t.Errorf("%d questions are open about what is gone", n)
	}
	s.until("its workflow to end", func() bool {
		return s.admin.must("GET", "/v1/runs/"+made["run_id"].(string), nil)["run"].(object)["status"] == "done"
	})
}
