package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/quota"
)

// Requirements: ISO-07, AUTH-21, OBS-09
func TestAnAdministratorFindsAPersonAndWhatTheyUsed(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	w.withinADay()
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	w.signUp("bob@example.com")
	ada.upload("a.md", "# hello").ok()
	w.must(w.store.AddUsage(t.Context(), ada.viewer(), quota.Entry{RunID: id.New(), Effect: "a", Attempt: 1, Model: "m", Use: quota.Use{Calls: 1, Input: 10, Output: 5, CostUSD: 0.5}}))
	found := items(root.get("/v1/users?q=ADA").ok())
	if len(found) != 1 || found[0]["id"] != ada.id {
		t.Fatalf("found %v", found)
	}
	one := root.get("/v1/users/" + ada.id).ok()
	if fmt.Sprint(one) != fmt.Sprint(found[0]) {
		t.Errorf("in the list %v, by itself %v", found[0], one)
	}
	today, storage, allowed := one["today"].(map[string]any), one["storage"].(map[string]any), one["allowed"].(map[string]any)
	if today["tokens_used"] != 15.0 || today["cost_usd"] != 0.5 || storage["files"] != 1.0 || storage["used_bytes"] != 7.0 || allowed["tokens_per_day"] != 2e6 {
		t.Errorf("used %v, keeps %v, may use %v", today, storage, allowed)
	}
	if one["sign_ins"] != 1.0 || one["last_seen_at"] == nil || one["active"] != true {
		t.Errorf("seen: %v", one)
	}
	for query, want := range map[string]int{"role=admin": 1, "role=user": 2, "plan=paid": 0, "state=suspended": 0, "state=active": 3, "q=example.org": 2, "q=%25": 0} {
		if got := items(root.get("/v1/users?" + query).ok()); len(got) != want {
			t.Errorf("%s: %d, want %d", query, len(got), want)
		}
	}
	root.get("/v1/users?state=odd").fails(400, "validation_error")
	root.get("/v1/users/"+id.New()).fails(404, "not_found")
	root.get("/v1/users/"+identity.SystemAccount).fails(404, "not_found")
	ada.get("/v1/users/"+ada.id).fails(403, "forbidden")
}

// Requirements: AUTH-05, AUTH-21
func TestAnAdministratorSignsAPersonOutEverywhere(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	w.server.keepAlive = keepAlive{comment: time.Hour, ping: 5 * time.Millisecond, write: 20 * time.Second}
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	other := w.personOf(w.logIn().ok())
	r := ada.follow(ada.start("slow answer")["run_id"].(string), 0)
	k := other.talk()
	k.ignorePings()
	for got, more := r.next(); got.event != "ping"; got, more = r.next() {
		if !more {
			t.Fatal("the stream ended without a ping")
		}
	}
	if got := root.do("DELETE", "/v1/users/"+ada.id+"/sessions", nil).ok(); got["sessions"] != 2.0 {
		t.Errorf("ended %v", got)
	}
	for got, more := r.next(); more; got, more = r.next() {
		if got.event == "message_done" {
			t.Fatal("who is signed out read to the end")
		}
	}
	if code := k.closed(); code != closeUnauthorized {
		t.Fatalf("the socket was closed with %d", code)
	}
	for _, p := range []*person{ada, other} {
		p.get("/v1/auth/me").fails(401, "unauthorized")
		(&person{world: w.world}).post("/v1/auth/refresh", map[string]any{"refresh_token": p.refresh}).fails(401, "unauthorized")
	}
	w.logIn().ok()
	root.get("/v1/auth/me").ok()
	root.do("DELETE", "/v1/users/"+id.New()+"/sessions", nil).fails(404, "not_found")
}

// Requirements: AUTH-13, AUTH-21
func TestAnAdministratorClearsALostSecondFactor(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	root := w.signUp("root@example.org")
	ada, _, _ := w.enrol(w.signUp("ada@example.org"))
	w.logIn().ticket()
	clear := func(p *person, of string) *response { return p.do("DELETE", "/v1/users/"+of+"/mfa", nil) }
	clear(ada, ada.id).fails(403, "forbidden")
	if reason := clear(root, root.id).reason(); reason != "own_factor" {
		t.Errorf("one's own: %s", reason)
	}
	if got := clear(root, ada.id).ok(); got["mfa_enabled"] != false {
		t.Errorf("cleared: %v", got)
	}
	w.logIn().ok()
	ada.get("/v1/auth/me").ok()
	if reason := clear(root, ada.id).reason(); reason != "no_factor" {
		t.Errorf("again: %s", reason)
	}
}

// Requirements: ISO-07, AUTH-21
func TestTheLastAdministratorStaysAndEveryActIsWrittenDown(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	change := func(p *person, of string, body map[string]any) *response { return p.do("PATCH", "/v1/users/"+of, body) }
	for _, body := range []map[string]any{{"role": "user"}, {"active": false}} {
		if reason := change(root, root.id, body).reason(); reason != "last_administrator" {
			t.Errorf("%v: %s", body, reason)
		}
	}
	change(root, ada.id, map[string]any{"role": "admin", "budget": map[string]any{"tokens_per_day": 9, "usd_per_month": 0}}).ok()
	if got := change(ada, root.id, map[string]any{"role": "user"}).ok(); got["role"] != "user" { // the role holds from the next request on
		t.Errorf("stepped down: %v", got)
	}
	root.get("/v1/users").fails(403, "forbidden")
	root.get("/v1/audit").fails(403, "forbidden")
	change(ada, root.id, map[string]any{"limits": map[string]any{"files": 3}}).ok()
	ada.do("DELETE", "/v1/users/"+root.id+"/sessions", nil).ok()

	var said []string
	for _, e := range items(ada.get("/v1/audit").ok()) {
		by, of := e["by"].(map[string]any), e["user"].(map[string]any)
		said = append(said, fmt.Sprintf("%s %s %s %v %v", by["email"], e["what"], of["email"], e["was"], e["became"]))
	}
	want := []string{
		"ada@example.org user.signed_out root@example.org map[sessions:1] map[]",
		"ada@example.org user.changed root@example.org map[limits:map[]] map[limits:map[files:3]]",
		"ada@example.org user.changed root@example.org map[role:admin] map[role:user]",
		"root@example.org user.changed ada@example.org map[budget:<nil> role:user] map[budget:map[tokens_per_day:9 usd_per_month:0] role:admin]",
	}
	if !slices.Equal(said, want) {
		t.Errorf("the log says %q", said)
	}
	if of := items(ada.get("/v1/audit?user_id=" + ada.id).ok()); len(of) != 1 {
		t.Errorf("about one: %v", of)
	}
}

// Requirements: FILE-03, SAFE-04
func TestAChangedPlanHoldsWithoutARestart(t *testing.T) {
	t.Parallel()
	var memory *inproc.Memory
	w := newWorld(t, func(o *Options) {
		memory, _ = o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(frozen{memory})
	})
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	change := func(version int, numbers map[string]any) *response {
		return root.do("PATCH", "/v1/plans/free", map[string]any{"version": version, "numbers": numbers})
	}
	ada.get("/v1/plans").fails(403, "forbidden")
	plans := root.get("/v1/plans").ok()
	free := plans["plans"].([]any)[1].(map[string]any)
	if free["name"] != "free" || free["version"] != 0.0 || free["changed_at"] != nil || free["numbers"].(map[string]any)["file_mib"] != 25.0 {
		t.Errorf("free is %v", free)
	}
	if first := plans["numbers"].([]any)[0].(map[string]any); first["key"] != "chat_per_minute" || first["most"] != 10000.0 || first["unit"] == "" {
		t.Errorf("numbers: %v", first)
	}
	change(0, map[string]any{"file_mib": 0}).fails(400, "validation_error")
	change(0, map[string]any{"file_mib": "large"}).fails(400, "validation_error")
	got := change(0, map[string]any{"file_mib": 3, "chat_per_minute": 1}).ok()
	if got["version"] != 1.0 || got["changed_by"] == "" || got["numbers"].(map[string]any)["file_mib"] != 3.0 {
		t.Errorf("changed: %v", got)
	}
	if reason := change(0, map[string]any{"files": 5}).reason(); reason != "changed" {
		t.Errorf("over somebody else's change: %s", reason)
	}
	if got := ada.get("/v1/files/limits").ok(); got["max_bytes"] != float64(3<<20) {
		t.Errorf("a file may have %v bytes", got["max_bytes"])
	}
	ada.post("/v1/chat", map[string]any{"message": "one"}).ok()
	ada.post("/v1/chat", map[string]any{"message": "two"}).fails(429, "rate_limited")

	own := func(limits map[string]any) *response {
		return root.do("PATCH", "/v1/users/"+ada.id, map[string]any{"limits": limits})
	}
	own(map[string]any{"tokens_per_day": 5}).fails(400, "validation_error")
	own(map[string]any{"wishes": 3}).fails(400, "validation_error")
	if got := own(map[string]any{"file_mib": 9}).ok(); fmt.Sprint(got["limits"]) != "map[file_mib:9]" {
		t.Errorf("of her own: %v", got["limits"])
	}
	if got := ada.get("/v1/files/limits").ok(); got["max_bytes"] != float64(9<<20) {
		t.Errorf("her own: %v", got["max_bytes"])
	}
	if got := root.get("/v1/files/limits").ok(); got["max_bytes"] != float64(3<<20) {
		t.Errorf("another's: %v", got["max_bytes"])
	}
	own(map[string]any{}).ok()
	change(1, map[string]any{"file_mib": nil, "chat_per_minute": nil}).ok()
	if got := ada.get("/v1/files/limits").ok(); got["max_bytes"] != float64(25<<20) {
		t.Errorf("as shipped: %v", got["max_bytes"])
	}
	log := items(root.get("/v1/audit").ok())
	if last := log[0]; last["what"] != "plan.changed" || last["plan"] != "free" || fmt.Sprint(last["was"]) != "map[chat_per_minute:1 file_mib:3]" || fmt.Sprint(last["became"]) != "map[chat_per_minute:60 file_mib:25]" {
		t.Errorf("the log ends with %v", last)
	}
	root.do("PATCH", "/v1/plans/gold", map[string]any{"version": 0, "numbers": map[string]any{}}).fails(404, "not_found")
}

func TestAPersonIsToldByMailWhatAnAdministratorChanged(t *testing.T) {
	t.Parallel()
	p := &postbox{}
	var accounts *identity.Accounts
	w := tunedWorld(t, func(o *identity.Options) { o.Mail, o.PublicURL = p, "https://chat.example.org" }, func(o *Options) {
		accounts, _ = o.People.(*identity.Accounts)
	})
	letters := func() []identity.Letter {
		w.must(accounts.Close())
		p.mu.Lock()
		defer p.mu.Unlock()
		got := p.letters
		p.letters = nil
		return got
	}
	root := w.signUp("root@example.org")
	ada, secret, _ := w.enrol(w.signUp("ada@example.org"))
	personal := map[string]any{}
	for _, n := range quota.Numbers() {
		if n.Personal {
			personal[n.Key] = n.Least
		}
	}
	change := func(body map[string]any) { root.do("PATCH", "/v1/users/"+ada.id, body).ok() }
	for _, act := range []struct {
		what string
		do   func()
		says []string // the letter, in this order
	}{
		{"role and plan", func() { change(map[string]any{"role": "power", "plan": "paid"}) }, []string{
			"An administrator changed your Liminal account on 2", "(UTC):", "- Role: Power user (before: User)", "- Plan: Paid (before: Free)",
			"https://chat.example.org/\n\nIf you did not expect this, ask",
		}},
		{"budget", func() { change(map[string]any{"budget": map[string]any{"tokens_per_day": 9, "usd_per_month": 1.5}}) }, []string{
			"- Budget: 9 tokens a day, 1.5 US dollars a month (before: as the plan says)",
		}},
		{"all limits", func() { change(map[string]any{"limits": personal}) }, []string{"- Limits of your own: changes proposed an hour 1, turns a minute 1", "(before: as the plan says)"}},
		{"nothing", func() { change(map[string]any{"role": "power"}) }, nil},
		{"the factor", func() { root.do("DELETE", "/v1/users/"+ada.id+"/mfa", nil).ok() }, []string{"- The second factor was taken off", "Set up an authenticator again"}},
		{"a wrong plan", func() {
			root.do("PATCH", "/v1/users/"+ada.id, map[string]any{"plan": "gold"}).fails(400, "validation_error")
		}, nil},
		{"her own language and time", func() {
			ada.do("PATCH", "/v1/settings", map[string]any{"locale": "de", "timezone": "Europe/Berlin"}).ok()
		}, nil},
		{"suspended", func() { change(map[string]any{"active": false}) }, []string{"Die Verwaltung hat Ihr Liminal-Konto geändert, am ", "(Europe/Berlin):", "- Ihr Konto wurde gesperrt."}},
		{"reactivated", func() { change(map[string]any{"active": true, "limits": map[string]any{"files": 7}}) }, []string{
			"- Eigene Grenzen: Anzahl der Dateien 7 (vorher: vorgeschlagene Änderungen je Stunde 1, Anfragen je Minute 1", "- Ihr Konto wurde freigegeben.",
		}},
		{"signed out", func() { w.logIn().ok(); root.do("DELETE", "/v1/users/"+ada.id+"/sessions", nil).ok() }, []string{"- Sie wurden überall abgemeldet"}},
		{"signed out when she was already", func() { root.do("DELETE", "/v1/users/"+ada.id+"/sessions", nil).ok() }, nil},
		{"the administrator's own", func() { root.do("PATCH", "/v1/users/"+root.id, map[string]any{"plan": "paid"}).ok() }, nil},
	} {
		act.do()
		got := letters()
		if act.says == nil {
			if len(got) != 0 {
				t.Errorf("%s: %+v", act.what, got)
			}
			continue
		}
		if len(got) != 1 || got[0].To != "ada@example.org" || !strings.Contains(got[0].Subject, "account") && !strings.Contains(got[0].Subject, "Konto") {
			t.Fatalf("%s: %+v", act.what, got)
		}
		rest := got[0].Text
		for _, part := range act.says {
			_, after, there := strings.Cut(rest, part)
			if !there {
				t.Errorf("%s: %q is missing, or in another place, in\n%s", act.what, part, got[0].Text)
				break
			}
			rest = after
		}
		if asks := strings.Contains(rest, "new password") || strings.Contains(rest, "neues Passwort"); asks == (act.what == "suspended") {
			t.Errorf("%s: that a new password be asked for is said: %v", act.what, asks)
		}
		for _, hidden := range []string{"root@example.org", root.id, ada.id, secret, "_", "#", "%!"} { // a number without a word would show its key
			if strings.Contains(got[0].Text, hidden) {
				t.Errorf("%s: the letter holds %q:\n%s", act.what, hidden, got[0].Text)
			}
		}
	}
}

// Who has no mail server, or one that takes nothing, changes accounts all the same.
func TestAnAccountIsChangedWhereNoMailArrives(t *testing.T) {
	t.Parallel()
	w := tunedWorld(t, func(o *identity.Options) { o.Mail = deadPost{} })
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	root.do("PATCH", "/v1/users/"+ada.id, map[string]any{"role": "power"}).ok()
	root.do("DELETE", "/v1/users/"+ada.id+"/sessions", nil).ok()
}

// deadPost takes no letter.
type deadPost struct{}

func (deadPost) Send(context.Context, identity.Letter) error {
	return errors.New("no route to the post")
}
