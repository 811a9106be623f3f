package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/webhook"
)

// Webhooks proves webhook.Endpoints, webhook.Deliveries and webhook.Queue, and that
// what happens to runs is written with it.
func Webhooks(t *testing.T, open Open) {
	t.Run("an endpoint comes back as it was kept, to its person alone", func(t *testing.T) { endpointRoundTrip(t, open) })
	t.Run("there are few of a person", func(t *testing.T) { fewEndpoints(t, open) })
	t.Run("an access key sees what it made, and it ends with the key", func(t *testing.T) { endpointOfKey(t, open) })
	t.Run("a question and an end are told once, with them", func(t *testing.T) { eventsOfTurn(t, open) })
	t.Run("who is told of nothing leaves nothing", func(t *testing.T) { nobodyTold(t, open) })
	t.Run("an endpoint is told what it asked for", func(t *testing.T) { eventsPicked(t, open) })
	t.Run("an administrator's is told of the tenant's runs", func(t *testing.T) { tenantTold(t, open) })
	t.Run("a delivery is claimed by one, and again once its lease is over", func(t *testing.T) { deliveryClaimed(t, open) })
	t.Run("few of a person are sent at a time", func(t *testing.T) { fewSent(t, open) })
	t.Run("an endpoint that is gone, or fails for days, is turned off", func(t *testing.T) { endpointOff(t, open) })
	t.Run("deliveries are listed, sent again and forgotten by who may", func(t *testing.T) { deliveriesListed(t, open) })
	t.Run("letters are chosen, and wait", func(t *testing.T) { lettersWait(t, open) })
}

func endpoint(v identity.Viewer, kinds ...webhook.Kind) webhook.Endpoint {
	return webhook.Endpoint{
		ID: id.New(), UserID: v.UserID, Channel: webhook.HTTP, URL: "https://example.org/hooks", Description: "a büro",
		Events: kinds, Sealed: []byte{0, 1, 255}, On: true, KeyID: v.KeyID(),
	}
}

func newEndpoint(t testing.TB, s *store.Store, v identity.Viewer, kinds ...webhook.Kind) webhook.Endpoint {
	t.Helper()
	return got(s.CreateEndpoint(t.Context(), v, endpoint(v, kinds...)))(t)
}

// spread makes deliveries of all events.
func spread(t testing.TB, s *store.Store) int {
	t.Helper()
	return got(s.Spread(t.Context(), system, 100))(t)
}

func toldOf(t testing.TB, s *store.Store, v identity.Viewer, e webhook.Endpoint) (kinds []string) {
	t.Helper()
	list, _, err := s.ListDeliveries(t.Context(), v, e.ID, "", 100)
	need(t, err)
	for _, d := range list {
		kinds = append(kinds, string(d.Event.Kind))
	}
	slices.Sort(kinds)
	return kinds
}

func endpointRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada, bob, ctx := person(t, s), person(t, s), t.Context()
	e := endpoint(ada, webhook.Kinds()...)
	e.Assistants, e.CreatedAt, e.UpdatedAt = []string{"default"}, c.now(), c.now()
	need(t, wrong(s.CreateEndpoint(ctx, ada, e)))
	want(t, "what is kept", inLine(got(s.Endpoint(ctx, ada, e.ID))(t)), inLine(e))
	change := func(e *webhook.Endpoint) error { e.URL = "https://example.net"; return nil }
	for what, err := range map[string]error{
		"read": wrong(s.Endpoint(ctx, bob, e.ID)), "changed": wrong(s.ChangeEndpoint(ctx, bob, e.ID, change)), "removed": s.RemoveEndpoint(ctx, bob, e.ID),
		"tried": wrong(s.AddDelivery(ctx, bob, webhook.Delivery{ID: id.New(), EndpointID: e.ID})),
	} {
		t.Log(what)
		wantFault(t, err, fault.NotFound)
	}
	want(t, "another's list", len(got(s.Endpoints(ctx, bob))(t)), 0)
	c.add(time.Minute)
	is := got(s.ChangeEndpoint(ctx, ada, e.ID, change))(t)
	want(t, "changed", inLine(is.URL, is.UpdatedAt.Equal(c.now()), is.CreatedAt.Equal(e.CreatedAt)), "https://example.net true true")
	need(t, s.RemoveEndpoint(ctx, ada, e.ID))
	wantFault(t, wrong(s.Endpoint(ctx, ada, e.ID)), fault.NotFound)
}

// inLine is values as a line.
func inLine(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

// wrong is the error of a call alone.
func wrong[T any](_ T, err error) error { return err }

func fewEndpoints(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	errs := race(webhook.Most+5, func(int) error { return wrong(s.CreateEndpoint(t.Context(), v, endpoint(v, webhook.RunDone))) })
	want(t, "made", winners(t, errs, fault.Conflict), webhook.Most)
	newEndpoint(t, s, person(t, s), webhook.RunDone)
}

func endpointOfKey(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, ctx := person(t, s), t.Context()
	k := accessKey(t, s, v.UserID, identity.ScopeWebhooks)
	by := v.With(&identity.Grant{KeyID: k.ID, Scopes: []string{identity.ScopeWebhooks}})
	own, other := newEndpoint(t, s, by, webhook.RunDone), newEndpoint(t, s, v, webhook.RunDone)
	want(t, "the key's list", len(got(s.Endpoints(ctx, by))(t)), 1)
	want(t, "its person's", len(got(s.Endpoints(ctx, v))(t)), 2)
	wantFault(t, wrong(s.Endpoint(ctx, by, other.ID)), fault.NotFound)
	wantFault(t, s.RemoveEndpoint(ctx, by, other.ID), fault.NotFound)
	closeTurn(t, s, v, answer(accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID, "a"))
	spread(t, s)
	want(t, "told", inLine(toldOf(t, s, v, own), toldOf(t, s, v, other)), "[run.done] [run.done]")
	need(t, s.RevokeKey(ctx, v.UserID, k.ID))
	want(t, "its key has ended", got(s.Endpoint(ctx, v, own.ID))(t).KeyEnded, true)
	closeTurn(t, s, v, answer(accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID, "a"))
	spread(t, s)
	want(t, "told after its end", inLine(len(toldOf(t, s, v, own)), len(toldOf(t, s, v, other))), "1 2")
	for _, j := range got(s.Claim(ctx, system, 9, time.Minute))(t) {
		want(t, "what was claimed knows", j.Endpoint.KeyEnded, j.EndpointID == own.ID)
	}
}

func eventsOfTurn(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, ctx := person(t, s), t.Context()
	e := newEndpoint(t, s, v, webhook.Kinds()...)
	a := accept(t, s, v, chat.NewTurn{Message: "hi"})
	need(t, s.OpenRun(ctx, v, a.Run.ID, []run.Pin{{ArtifactID: id.New(), Name: "default", Version: 1}}))
	q := ask(t, s, v, a.Run.ID, "e")[0]
	ask(t, s, v, a.Run.ID, "e") // a step that is repeated after a crash
	want(t, "due", got(s.Due(ctx, system))(t), true)
	want(t, "spread", spread(t, s), 1)
	ask(t, s, v, a.Run.ID, "e")
	got(s.Answer(ctx, v, q, run.Answered, nil))(t)
	closeTurn(t, s, v, answer(a.Run.ID, "a"))
	closeTurn(t, s, v, answer(a.Run.ID, "a"))
	want(t, "spread", spread(t, s), 1)
	list, _, err := s.ListDeliveries(ctx, v, e.ID, "", 0)
	need(t, err)
	for _, d := range list {
		of := d.Event
		if of.RunID != a.Run.ID || of.ConversationID != a.ConversationID || of.UserID != v.UserID || of.Assistant != "default" || of.AssistantID == "" || !of.At.Equal(c.now()) || d.Status != webhook.Waiting {
			t.Errorf("delivered: %+v", d)
		}
	}
	want(t, "told", inLine(toldOf(t, s, v, e)), "[question.waiting run.done]")
	question := got(s.Subject(ctx, system, webhook.Event{InterruptID: q, UserID: v.UserID}))(t).Question
	if question == nil || question.Message != "Which e?" || len(question.Options) != 1 {
		t.Errorf("the question is %+v", question)
	}
	if q := got(s.Subject(ctx, system, webhook.Event{InterruptID: q, UserID: person(t, s).UserID}))(t).Question; q != nil {
		t.Errorf("another's question is %+v", q)
	}
	failed := answer(accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID, "a")
	failed.End.Status, failed.End.Error = run.Failed, []byte(`{"code":"server_error","message":"it quotes"}`)
	closeTurn(t, s, v, failed)
	want(t, "why it failed", got(s.Subject(ctx, system, webhook.Event{RunID: failed.RunID, UserID: v.UserID}))(t).Code, "server_error")
	cancelled := answer(accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID, "a")
	cancelled.End.Status = run.Cancelled
	closeTurn(t, s, v, cancelled)
	spread(t, s)
	calls := accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID
	need(t, s.Ask(ctx, v, true, run.Interrupt{ID: id.New(), RunID: calls, EffectID: "c", Type: graph.AskClientCall, Message: "clock {}"}))
	spread(t, s)
	want(t, "told", inLine(toldOf(t, s, v, e)), "[question.waiting run.done run.failed]")
	// What happened is told although the conversation is gone.
	need(t, s.DeleteConversation(ctx, v, a.ConversationID))
	want(t, "told still", len(toldOf(t, s, v, e)), 3)
}

func nobodyTold(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	newEndpoint(t, s, other, webhook.Kinds()...)
	off := newEndpoint(t, s, v, webhook.Kinds()...)
	got(s.ChangeEndpoint(t.Context(), v, off.ID, func(e *webhook.Endpoint) error { e.On = false; return nil }))(t)
	a := accept(t, s, v, chat.NewTurn{Message: "hi"})
	ask(t, s, v, a.Run.ID, "e")
	closeTurn(t, s, v, answer(a.Run.ID, "a"))
	want(t, "due", got(s.Due(t.Context(), system))(t), false)
	// What the house does for itself is nobody's news.
	got(s.ChangeEndpoint(t.Context(), v, off.ID, func(e *webhook.Endpoint) error { e.On = true; return nil }))(t)
	r := job(v, "ingest:d")
	need(t, s.CreateRun(t.Context(), v, r))
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done}))
	want(t, "due of a document", got(s.Due(t.Context(), system))(t), false)
	r = job(v, "run:t")
	r.ID, r.Kind = id.New(), run.KindTool
	need(t, s.CreateRun(t.Context(), v, r))
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done}))
	want(t, "due of a tool", got(s.Due(t.Context(), system))(t), true)
}

func eventsPicked(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, ctx := person(t, s), t.Context()
	pinned := run.Pin{ArtifactID: id.New(), Name: "deploy", Version: 1}
	by := func(kinds []webhook.Kind, assistants ...string) webhook.Endpoint {
		e := endpoint(v, kinds...)
		e.Assistants = assistants
		return got(s.CreateEndpoint(ctx, v, e))(t)
	}
	cases := map[string]webhook.Endpoint{
		"[question.waiting run.done]": by(webhook.Kinds(), pinned.ArtifactID), "[run.done]": by([]webhook.Kind{webhook.RunDone, webhook.RunFailed}, "x", "deploy"),
		"[question.waiting]": by([]webhook.Kind{webhook.QuestionWaiting}), "[]": by(webhook.Kinds(), "other"),
	}
	a := accept(t, s, v, chat.NewTurn{Message: "hi"})
	need(t, s.OpenRun(ctx, v, a.Run.ID, []run.Pin{pinned, {ArtifactID: id.New(), Name: "other"}}))
	ask(t, s, v, a.Run.ID, "e")
	closeTurn(t, s, v, answer(a.Run.ID, "a"))
	spread(t, s)
	for wanted, e := range cases {
		want(t, "told", inLine(toldOf(t, s, v, e)), wanted)
	}
}

func tenantTold(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	ctx := t.Context()
	root, second, ada := administrator(t, s), administrator(t, s), person(t, s)
	e := endpoint(root, webhook.RunDone)
	e.TenantID = root.TenantID
	e = got(s.CreateEndpoint(ctx, root, e))(t)
	closeTurn(t, s, ada, answer(accept(t, s, ada, chat.NewTurn{Message: "hi"}).Run.ID, "a"))
	want(t, "spread", spread(t, s), 1)
	list, _, err := s.ListDeliveries(ctx, second, e.ID, "", 0) // another administrator's eyes
	need(t, err)
	want(t, "whose run, and to whom", list[0].Event.UserID == ada.UserID && list[0].UserID == root.UserID, true)
	elsewhere := second
	elsewhere.TenantID = "elsewhere"
	for who, v := range map[string]identity.Viewer{"a person": ada, "an administrator of another tenant": elsewhere} {
		t.Log(who)
		wantFault(t, wrong(s.Endpoint(ctx, v, e.ID)), fault.NotFound)
		want(t, "listed", len(got(s.Endpoints(ctx, v))(t)), 0)
	}
	u := got(s.CreateUser(ctx, identity.User{ID: id.New(), Email: id.New() + "@example.org", Role: identity.RoleUser, Active: true, TenantID: "elsewhere"}, identity.Credential{Hash: "h", Algorithm: "argon2id"}))(t)
	bob := u.Viewer(id.New())
	closeTurn(t, s, bob, answer(accept(t, s, bob, chat.NewTurn{Message: "hi"}).Run.ID, "a"))
	spread(t, s)
	want(t, "told of the tenant's alone", len(toldOf(t, s, root, e)), 1)
	need(t, s.RemoveEndpoint(ctx, second, e.ID))
	closeTurn(t, s, ada, answer(accept(t, s, ada, chat.NewTurn{Message: "hi"}).Run.ID, "a"))
	want(t, "due", got(s.Due(ctx, system))(t), false)
}

// tests adds deliveries to endpoints.
func tests(t testing.TB, s *store.Store, v identity.Viewer, endpoints ...webhook.Endpoint) {
	t.Helper()
	for _, e := range endpoints {
		got(s.AddDelivery(t.Context(), v, webhook.Delivery{ID: id.New(), EndpointID: e.ID, Event: webhook.Event{Kind: webhook.Test, UserID: v.UserID, At: time.Now()}}))(t)
	}
}

func deliveryClaimed(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, ctx := person(t, s), t.Context()
	e := newEndpoint(t, s, v, webhook.RunDone)
	tests(t, s, v, e)
	claims := make([][]webhook.Job, writers)
	for _, err := range race(writers, func(i int) (err error) {
		claims[i], err = s.Claim(ctx, system, 9, time.Minute)
		return err
	}) {
		need(t, err)
	}
	all := slices.Concat(claims...)
	want(t, "claimed", len(all), 1)
	first := all[0]
	if first.Attempts != 1 || first.Lease == "" || first.Endpoint.URL != e.URL || string(first.Endpoint.Sealed) != string(e.Sealed) || first.Person.ID != v.UserID || !first.Person.Active {
		t.Errorf("claimed: %+v", first)
	}
	c.add(59 * time.Second)
	want(t, "due within the lease", got(s.Due(ctx, system))(t), false)
	c.add(time.Second)
	again := got(s.Claim(ctx, system, 9, time.Minute))(t)
	if len(again) != 1 || again[0].ID != first.ID || again[0].Attempts != 2 || again[0].Lease == first.Lease {
		t.Fatalf("claimed again: %+v", again)
	}
	// Who comes back late writes nothing over the other's.
	got(s.Settle(ctx, system, first, webhook.Outcome{Status: webhook.Failed, Code: 500}))(t)
	got(s.Settle(ctx, system, again[0], webhook.Outcome{Status: webhook.Sent, Code: 204}))(t)
	got(s.Settle(ctx, system, first, webhook.Outcome{Status: webhook.Failed, Code: 500}))(t)
	list, _, err := s.ListDeliveries(ctx, v, e.ID, "", 0)
	need(t, err)
	want(t, "in the end", inLine(list[0].Status, list[0].Code, list[0].NextAt.IsZero(), list[0].EndedAt.Equal(c.now())), "sent 204 true true")
	for what, err := range map[string]error{
		"due": wrong(s.Due(ctx, v)), "spread": wrong(s.Spread(ctx, v, 1)), "claim": wrong(s.Claim(ctx, v, 1, time.Minute)), "told": wrong(s.Subject(ctx, v, webhook.Event{})),
		"settle": wrong(s.Settle(ctx, v, first, webhook.Outcome{})), "prune": wrong(s.Prune(ctx, v, c.now())),
	} {
		t.Log(what)
		wantFault(t, err, fault.Forbidden)
	}
}

func fewSent(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other, ctx := person(t, s), person(t, s), t.Context()
	one, two, three := newEndpoint(t, s, v, webhook.RunDone), newEndpoint(t, s, v, webhook.RunDone), newEndpoint(t, s, v, webhook.RunDone)
	tests(t, s, v, one, one, one, two, two, three, three)
	theirs := newEndpoint(t, s, other, webhook.RunDone)
	tests(t, s, other, theirs)
	jobs := got(s.Claim(ctx, system, 100, time.Minute))(t)
	counts := map[string]int{}
	for _, j := range jobs {
		counts[j.EndpointID]++
	}
	want(t, "of one, two and three", inLine(counts[one.ID], counts[two.ID], counts[three.ID], counts[theirs.ID]), "2 2 0 1")
	want(t, "more", len(got(s.Claim(ctx, system, 100, time.Minute))(t)), 0)
	got(s.Settle(ctx, system, jobs[0], webhook.Outcome{Status: webhook.Sent}))(t)
	want(t, "once there is room", len(got(s.Claim(ctx, system, 100, time.Minute))(t)), 1)
}

func endpointOff(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, ctx := person(t, s), t.Context()
	settle := func(e webhook.Endpoint, o webhook.Outcome) bool {
		t.Helper()
		tests(t, s, v, e)
		jobs := got(s.Claim(ctx, system, 1, time.Minute))(t)
		want(t, "claimed", len(jobs), 1)
		return got(s.Settle(ctx, system, jobs[0], o))(t)
	}
	failed := webhook.Outcome{Status: webhook.Failed, Code: 500, Error: "status"}
	e := newEndpoint(t, s, v, webhook.RunDone)
	want(t, "off with its first failure", settle(e, failed), false)
	c.add(webhook.FailingFor - time.Second)
	want(t, "off before its days", settle(e, failed), false)
	want(t, "since when it fails", got(s.Endpoint(ctx, v, e.ID))(t).FailingAt.Before(c.now()), true)
	want(t, "off by a success", settle(e, webhook.Outcome{Status: webhook.Sent, Code: 200}), false)
	want(t, "fails no more", got(s.Endpoint(ctx, v, e.ID))(t).FailingAt.IsZero(), true)
	want(t, "off with its first failure after", settle(e, failed), false)
	c.add(webhook.FailingFor)
	want(t, "off by an attempt that is not the last", settle(e, webhook.Outcome{Status: webhook.Waiting, NextAt: c.now().Add(time.Hour)}), false)
	want(t, "off after its days", settle(e, failed), true)
	is := got(s.Endpoint(ctx, v, e.ID))(t)
	want(t, "it is", inLine(is.On, is.Reason), "false failing")
	list, _, err := s.ListDeliveries(ctx, v, e.ID, "", 100)
	need(t, err)
	for _, d := range list {
		want(t, "what waits", d.Status == webhook.Waiting, false)
	}
	wantFault(t, wrong(s.AddDelivery(ctx, v, webhook.Delivery{ID: id.New(), EndpointID: e.ID})), fault.Conflict)
	wantFault(t, wrong(s.Redeliver(ctx, v, e.ID, list[0].ID)), fault.Conflict)
	gone := newEndpoint(t, s, v, webhook.RunDone)
	want(t, "off at once", settle(gone, webhook.Outcome{Status: webhook.Failed, Code: 410, Gone: true}), true)
	want(t, "because", got(s.Endpoint(ctx, v, gone.ID))(t).Reason, webhook.Gone)
}

func deliveriesListed(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other, ctx := person(t, s), person(t, s), t.Context()
	e := newEndpoint(t, s, v, webhook.RunDone)
	for range 3 {
		tests(t, s, v, e)
		c.add(time.Second)
	}
	page, next, err := s.ListDeliveries(ctx, v, e.ID, "", 2)
	need(t, err)
	rest, end, err := s.ListDeliveries(ctx, v, e.ID, next, 2)
	need(t, err)
	want(t, "pages", inLine(len(page), len(rest), end == "", page[0].CreatedAt.After(rest[0].CreatedAt)), "2 1 true true")
	_, _, err = s.ListDeliveries(ctx, other, e.ID, "", 2)
	wantFault(t, err, fault.NotFound)
	wantFault(t, wrong(s.Redeliver(ctx, other, e.ID, page[0].ID)), fault.NotFound)
	wantFault(t, wrong(s.Redeliver(ctx, v, e.ID, id.New())), fault.NotFound)
	j := got(s.Claim(ctx, system, 1, time.Minute))(t)[0]
	wantFault(t, wrong(s.Redeliver(ctx, v, e.ID, j.ID)), fault.Conflict) // it is on its way
	got(s.Settle(ctx, system, j, webhook.Outcome{Status: webhook.Failed, Code: 500}))(t)
	d := got(s.Redeliver(ctx, v, e.ID, j.ID))(t)
	want(t, "again", inLine(d.ID == j.ID, d.Status, d.Attempts, d.EndedAt.IsZero()), "true waiting 0 true")
	for _, j := range got(s.Claim(ctx, system, 1, time.Minute))(t) {
		got(s.Settle(ctx, system, j, webhook.Outcome{Status: webhook.Sent}))(t)
	}
	want(t, "forgotten too early", got(s.Prune(ctx, system, c.now()))(t), 0)
	want(t, "forgotten", got(s.Prune(ctx, system, c.now().Add(time.Second)))(t), 1)
	want(t, "left", len(toldOf(t, s, v, e)), 2)
}

func lettersWait(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, ctx := person(t, s), t.Context()
	want(t, "at first", len(got(s.Letters(ctx, v))(t).Events), 0)
	e := webhook.Endpoint{ID: id.Derive("letters", v.UserID), UserID: v.UserID, Channel: webhook.Mail, Events: []webhook.Kind{webhook.QuestionWaiting}, After: 10 * time.Minute, On: true}
	need(t, s.SetLetters(ctx, v, e))
	e.After = 20 * time.Minute
	need(t, s.SetLetters(ctx, v, e))
	is := got(s.Letters(ctx, v))(t)
	want(t, "chosen", inLine(is.Events, is.After), "[question.waiting] 20m0s")
	want(t, "among webhooks", len(got(s.Endpoints(ctx, v))(t)), 0)
	ask(t, s, v, accept(t, s, v, chat.NewTurn{Message: "hi"}).Run.ID, "e")
	spread(t, s)
	c.add(20*time.Minute - time.Second)
	want(t, "due before its time", got(s.Due(ctx, system))(t), false)
	c.add(time.Second)
	want(t, "due", got(s.Due(ctx, system))(t), true)
	e.Events = nil
	need(t, s.SetLetters(ctx, v, e))
	want(t, "due once nobody wants them", got(s.Due(ctx, system))(t), false)
	want(t, "in the end", len(got(s.Letters(ctx, v))(t).Events), 0)
}
