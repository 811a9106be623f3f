package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Connections proves connect.Store.
func Connections(t *testing.T, open Open) {
	t.Run("a connection comes back as it was kept, to its person alone", func(t *testing.T) { connectionRoundTrip(t, open) })
	t.Run("of several who renew it one does", func(t *testing.T) { connectionRenewed(t, open) })
	t.Run("it goes when its person says so, and with their account", func(t *testing.T) { connectionLeaves(t, open) })
}

func connectionRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada, bob := person(t, s), person(t, s)
	k := connect.Kept{Name: "network", AccountID: "urn:1", AccountName: "Ada L.", Sealed: []byte{0, 1, 255}, Scopes: []string{"openid", "w_member_social"}, ExpiresAt: c.now().Add(time.Hour)}
	need(t, s.Connect(t.Context(), ada, k))
	is := got(s.Connection(t.Context(), ada, "network"))(t)
	k.UserID, k.Version, k.CreatedAt, k.UpdatedAt = ada.UserID, 1, c.now(), c.now()
	want(t, "what is kept", fmt.Sprint(is), fmt.Sprint(k))
	_, err := s.Connection(t.Context(), bob, "network")
	wantFault(t, err, fault.NotFound)
	want(t, "another's list", len(got(s.Connections(t.Context(), bob))(t)), 0)
	_, err = s.Disconnect(t.Context(), bob, "network")
	wantFault(t, err, fault.NotFound)
	if yes := got(s.Renew(t.Context(), bob, is))(t); yes {
		t.Error("another renewed it")
	}
	c.add(time.Minute)
	k.AccountName, k.ExpiresAt = "Ada Lovelace", time.Time{}
	need(t, s.Connect(t.Context(), ada, k))
	is = got(s.Connection(t.Context(), ada, "network"))(t)
	if is.Version != 2 || is.AccountName != "Ada Lovelace" || !is.ExpiresAt.IsZero() || !is.CreatedAt.Equal(k.CreatedAt) || !is.UpdatedAt.Equal(c.now()) {
		t.Errorf("connected again: %+v", is)
	}
}

func connectionRenewed(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	need(t, s.Connect(t.Context(), v, connect.Kept{Name: "x", Sealed: []byte("a"), Scopes: []string{}}))
	k := got(s.Connection(t.Context(), v, "x"))(t)
	won := make([]bool, writers)
	for _, err := range race(writers, func(i int) (err error) {
		mine := k
		mine.Sealed, mine.Refused = []byte{byte(i)}, true
		won[i], err = s.Renew(t.Context(), v, mine)
		return err
	}) {
		need(t, err)
	}
	n := 0
	for _, yes := range won {
		if yes {
			n++
		}
	}
	is := got(s.Connection(t.Context(), v, "x"))(t)
	if n != 1 || is.Version != 2 || !is.Refused || !won[is.Sealed[0]] {
		t.Errorf("%d won, kept %+v", n, is)
	}
}

func connectionLeaves(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	person(t, s)
	v := person(t, s)
	k := connect.Kept{Name: "x", Sealed: []byte("a"), Scopes: []string{}}
	need(t, s.Connect(t.Context(), v, k))
	was := got(s.Disconnect(t.Context(), v, "x"))(t)
	want(t, "what it was", string(was.Sealed), "a")
	_, err := s.Connection(t.Context(), v, "x")
	wantFault(t, err, fault.NotFound)
	log, _, err := s.ListAudit(t.Context(), identity.AuditFilter{UserID: v.UserID, Limit: 10})
	need(t, err)
	said := map[string]int{}
	for _, e := range log {
		said[e.What]++
	}
	if said[identity.ConnectionMade] != 1 || said[identity.ConnectionEnded] != 1 {
		t.Errorf("the log says %v", said)
	}
	need(t, s.Connect(t.Context(), v, k))
	_, err = s.DeleteUser(t.Context(), v.UserID)
	need(t, err)
	want(t, "after the account", len(got(s.Connections(t.Context(), v))(t)), 0)
}

// Acts proves run.Acts.
func Acts(t *testing.T, open Open) {
	t.Run("an act is begun once, however many try", func(t *testing.T) { actOnce(t, open) })
	t.Run("an act is its run's person's alone", func(t *testing.T) { actOfOthers(t, open) })
}

func actOnce(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	a := run.Act{RunID: accept(t, s, v, chat.NewTurn{Message: "post it"}).Run.ID, EffectID: "g#1.t1.1", Attempt: 1, Tool: "post"}
	first := make([]bool, writers)
	for _, err := range race(writers, func(i int) error {
		before, err := s.BeginAct(t.Context(), v, a)
		first[i] = err == nil && before == nil
		return err
	}) {
		need(t, err)
	}
	n := 0
	for _, yes := range first {
		if yes {
			n++
		}
	}
	want(t, "who began it", n, 1)
	is := got(s.Act(t.Context(), v, a))(t)
	if is.Tool != "post" || is.BegunAt.IsZero() || !is.EndedAt.IsZero() {
		t.Errorf("begun: %+v", is)
	}
	for _, outcome := range []string{`{"a":1}`, `{"a":2}`} { // the second is too late
		a.Outcome = json.RawMessage(outcome)
		need(t, s.EndAct(t.Context(), v, a))
	}
	before := got(s.BeginAct(t.Context(), v, a))(t)
	var said map[string]int
	if before == nil || before.EndedAt.IsZero() || json.Unmarshal(before.Outcome, &said) != nil || said["a"] != 1 {
		t.Errorf("known: %+v", before)
	}
	a.Attempt = 2
	if before := got(s.BeginAct(t.Context(), v, a))(t); before != nil {
		t.Errorf("another attempt of the machine's is another act: %+v", before)
	}
}

func actOfOthers(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	ada, bob := person(t, s), person(t, s)
	a := run.Act{RunID: accept(t, s, ada, chat.NewTurn{Message: "post it"}).Run.ID, EffectID: "e", Attempt: 1, Tool: "post"}
	_, err := s.BeginAct(t.Context(), bob, a)
	wantFault(t, err, fault.NotFound)
	_, err = s.BeginAct(t.Context(), ada, a)
	need(t, err)
	_, err = s.Act(t.Context(), bob, a)
	wantFault(t, err, fault.NotFound)
	wantFault(t, s.EndAct(t.Context(), bob, a), fault.NotFound)
}
