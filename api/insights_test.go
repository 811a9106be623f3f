package api

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/insights"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
)

// turn is a turn of a person's that is over.
func (p *person) turn(words string, status run.Status) {
	p.Helper()
	a, err := p.store.Accept(p.Context(), p.viewer(), chat.NewTurn{Message: words})
	p.must(err)
	_, err = p.store.CloseTurn(p.Context(), p.viewer(), chat.Close{RunID: a.Run.ID, End: run.End{Status: status, Recording: &run.Recording{ToolCalls: 2, MS: 1500}}})
	p.must(err)
	p.must(p.store.AddUsage(p.Context(), p.viewer(), quota.Entry{RunID: a.Run.ID, Effect: "e", Attempt: 1, Model: "m", Use: quota.Use{Calls: 1, Input: 10, CostUSD: 0.5}}))
}

// Requirements: GRND-38 (turns with median and p90; administrators only), GRND-40 (turns per working day; tool-use rate; tool calls per turn)
func TestAdministratorsSeeHowThePlaceIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, bob, eve := w.signUp("admin@example.org"), w.signUp("bob@example.org"), w.signUp("eve@example.org")
	for _, p := range []*person{admin, bob} {
		p.turn("What is due?", run.Done)
	}
	bob.turn("My salary", run.Done)
	bob.turn("My salary", run.Cancelled)
	_, err := w.store.Accept(t.Context(), eve.viewer(), chat.NewTurn{Message: "under way"})
	w.must(err)

	told := admin.get("/v1/insights?days=28&tz=Europe/Berlin").ok()
	got := fmt.Sprintln(told["turns"], told["people"], told["answered"], told["abandoned"], told["open"], told["abandonment_rate"], told["tool_use_rate"],
		told["tool_calls_per_turn"], told["recorded"], told["tz"], told["times"], told["questions"], told["partial"])
	if want := "5 3 3 1 1 0.25 1 2 4 Europe/Berlin map[known:3 median_ms:1500 p90_ms:1500] [map[people:2 text:What is due? times:2]] false\n"; got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	users := told["users"].([]any)
	first := users[0].(map[string]any)
	if name := first["user"].(map[string]any)["name"]; len(users) != 3 || name != "bob" || fmt.Sprint(first["turns"], first["cost_usd"], first["tokens_used"]) != "3 1.5 30" {
		t.Errorf("users: %v", users)
	}
	days := told["days"].([]any)
	if len(days) != 28 {
		t.Fatalf("%d days", len(days))
	}
	late := 0.0
	for _, day := range days[26:] { // it may be midnight in Berlin meanwhile
		late += day.(map[string]any)["turns"].(float64)
	}
	if late != 5 {
		t.Errorf("the last days: %v", days[26:])
	}
	if models := told["models"].([]any); len(models) != 1 || fmt.Sprint(told["used"].(map[string]any)["cost_usd"]) != "2" {
		t.Errorf("models: %v", models)
	}

	bob.get("/v1/insights").fails(403, "forbidden")
	admin.get("/v1/insights?days=8").fails(400, "validation_error")
	admin.get("/v1/insights?tz=Mars/Olympus").fails(400, "validation_error")
}

func TestOfNothingThereAreNoRates(t *testing.T) {
	t.Parallel()
	told := newWorld(t).signUp("admin@example.org").get("/v1/insights").ok()
	for _, rate := range []string{"abandonment_rate", "tool_use_rate", "tool_calls_per_turn"} {
		if told[rate] != nil {
			t.Errorf("%s is %v", rate, told[rate])
		}
	}
	if got := fmt.Sprintln(told["times"], told["tz"], len(told["days"].([]any)), told["users"], told["questions_shown"]); got != "map[known:0 median_ms:<nil> p90_ms:<nil>] UTC 7 [] true\n" {
		t.Error(got)
	}
}

// Requirements: GRND-38 (top 10 prompts)
func TestWordsAreNotToldWhereTheyAreNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Insights = insights.NewReader(o.Runs.(*store.Store), insights.Options{Wordless: true, Now: time.Now})
	})
	admin := w.signUp("admin@example.org")
	admin.turn("What is due?", run.Done)
	admin.turn("What is due?", run.Done)
	if told := admin.get("/v1/insights").ok(); told["questions_shown"] != false || len(told["questions"].([]any)) != 0 {
		t.Errorf("told: %v", told["questions"])
	}
}

// Requirements: ISO-12
func TestATenantsAdministratorSeesNothingOfAnothers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signUp("admin@example.org")
	there, err := w.store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "there@example.org", Active: true, TenantID: "elsewhere"}, identity.Credential{})
	w.must(err)
	_, err = w.store.Accept(t.Context(), there.Viewer(""), chat.NewTurn{Message: "x"})
	w.must(err)
	if told := admin.get("/v1/insights").ok(); fmt.Sprint(told["turns"], told["people"]) != "0 0" {
		t.Errorf("told: %v turns", told["turns"])
	}
}
