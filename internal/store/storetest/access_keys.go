package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// AccessKeys proves identity.Keys, what runs keep of keys, and the history that
// a program brings.
func AccessKeys(t *testing.T, open Open) {
	t.Run("a key comes back as it was stored", func(t *testing.T) { keyRoundTrip(t, open) })
	t.Run("a key is ended by its person only, and once", func(t *testing.T) { keyRevoked(t, open) })
	t.Run("no more keys than allowed stand, however many ask at once", func(t *testing.T) { keyCap(t, open) })
	t.Run("what is done to keys is written down", func(t *testing.T) { keyAudit(t, open) })
	t.Run("a run keeps the key it was begun with", func(t *testing.T) { keyOfRuns(t, open) })
	t.Run("a key that was ended does not stand, one that ran out does", func(t *testing.T) { keyStands(t, open) })
	t.Run("keys go with their account", func(t *testing.T) { keysLeave(t, open) })
	t.Run("a code and a refresh token are traded once, and not once their key has ended", func(t *testing.T) { grantTraded(t, open) })
	t.Run("clients that nobody lets in go after a day, and are so many", func(t *testing.T) { clientsKept(t, open) })
	t.Run("a history that is brought is remembered, and listed apart", func(t *testing.T) { broughtHistory(t, open) })
}

func accessKey(t testing.TB, s *store.Store, userID string, scopes ...string) identity.Key {
	t.Helper()
	k := identity.Key{ID: id.New(), UserID: userID, Name: "deploy", Hash: strings.Repeat("a", 64), ExpiresAt: time.Now().Add(time.Hour)}
	k.Scopes = scopes
	need(t, s.CreateKey(t.Context(), k, identity.MaxKeys, time.Time{}))
	return k
}

func keyRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := identity.Key{ID: id.New(), UserID: v.UserID, Name: "Bürorechner", Hash: "h", ExpiresAt: c.now().Add(time.Hour)}
	k.Scopes, k.Tools, k.Assistants, k.Audience = []string{"chat", "tools"}, []string{"files.*"}, []string{"default"}, "mcp"
	need(t, s.CreateKey(t.Context(), k, 1, time.Time{}))
	c.add(time.Minute)
	need(t, s.TouchKey(t.Context(), k.ID))
	is, u, err := s.Key(t.Context(), k.ID)
	need(t, err)
	if is.Name != k.Name || is.Hash != "h" || !slices.Equal(is.ScopesOf(), []string{"chat", "tools:files.*"}) || !slices.Equal(is.Assistants, k.Assistants) ||
		is.Audience != "mcp" || is.KeyID != k.ID || !is.ExpiresAt.Equal(k.ExpiresAt) || !is.UsedAt.Equal(c.now()) || !is.RevokedAt.IsZero() || u.ID != v.UserID {
		t.Errorf("key = %+v of %+v", is, u)
	}
	_, _, err = s.Key(t.Context(), id.New())
	wantFault(t, err, fault.NotFound)
}

func keyRevoked(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	ada, bob := person(t, s), person(t, s)
	k := accessKey(t, s, ada.UserID, "read")
	wantFault(t, s.RevokeKey(t.Context(), bob.UserID, k.ID), fault.NotFound)
	wantFault(t, s.RevokeKey(t.Context(), ada.UserID, id.New()), fault.NotFound)
	if list := got(s.ListKeys(t.Context(), ada.UserID))(t); len(list) != 1 || !list[0].RevokedAt.IsZero() {
		t.Errorf("keys = %+v", list)
	}
	want(t, "another's keys", len(got(s.ListKeys(t.Context(), bob.UserID))(t)), 0)
	for range 2 {
		need(t, s.RevokeKey(t.Context(), ada.UserID, k.ID))
	}
	if list := got(s.ListKeys(t.Context(), ada.UserID))(t); len(list) != 1 || list[0].RevokedAt.IsZero() {
		t.Errorf("keys = %+v", list)
	}
}

func keyCap(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	errs := race(writers, func(int) error {
		return s.CreateKey(t.Context(), identity.Key{ID: id.New(), UserID: v.UserID, Name: "x", ExpiresAt: c.now().Add(time.Hour), Grant: identity.Grant{Scopes: []string{"read"}}}, 3, time.Time{})
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 3)
	c.add(2 * time.Hour) // all have run out
	need(t, s.CreateKey(t.Context(), identity.Key{ID: id.New(), UserID: v.UserID, Name: "x", ExpiresAt: c.now().Add(time.Hour), Grant: identity.Grant{Scopes: []string{"read"}}}, 3, c.now().Add(-3*time.Hour)))
	want(t, "kept", len(got(s.ListKeys(t.Context(), v.UserID))(t)), 4)
	need(t, s.CreateKey(t.Context(), identity.Key{ID: id.New(), UserID: v.UserID, Name: "x", ExpiresAt: c.now().Add(time.Hour), Grant: identity.Grant{Scopes: []string{"read"}}}, 3, c.now().Add(-time.Minute)))
	want(t, "kept of those that ended long ago", len(got(s.ListKeys(t.Context(), v.UserID))(t)), 2)
}

func keyAudit(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	ada, root := person(t, s), administrator(t, s)
	k := accessKey(t, s, ada.UserID, "chat")
	need(t, s.RevokeKey(t.Context(), ada.UserID, k.ID))
	accessKey(t, s, ada.UserID, "read")
	accessKey(t, s, ada.UserID, "read")
	want(t, "ended", len(got(s.RevokeKeys(t.Context(), root.UserID, ada.UserID))(t)), 2)
	want(t, "ended again", len(got(s.RevokeKeys(t.Context(), root.UserID, ada.UserID))(t)), 0)
	list, _, err := s.ListAudit(t.Context(), identity.AuditFilter{UserID: ada.UserID, Limit: 10})
	need(t, err)
	var told []string
	for _, e := range list {
		by := "herself"
		if e.By == root.UserID {
			by = "root"
		}
		told = append(told, e.What+" "+by)
	}
	if !slices.Equal(told, []string{"key.revoked root", "key.created herself", "key.created herself", "key.revoked herself", "key.created herself"}) {
		t.Errorf("audit = %v", told)
	}
}

func keyOfRuns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	k := accessKey(t, s, v.UserID, "chat")
	by := got(s.Granted(t.Context(), v, k.ID))(t)
	want(t, "key of the viewer", by.KeyID(), k.ID)
	a := accept(t, s, by, chat.NewTurn{Message: "hi"})
	want(t, "key of the turn as it is begun", a.Run.KeyID, k.ID)
	want(t, "key of the turn", got(s.Run(t.Context(), v, a.Run.ID))(t).KeyID, k.ID)
	waiting := accept(t, s, v, chat.NewTurn{Message: "in a session", ConversationID: a.ConversationID, Multitask: chat.MultitaskEnqueue})
	next := closeTurn(t, s, by, answer(a.Run.ID, "hello")).Next
	if next == nil || next.ID != waiting.Run.ID || next.KeyID != "" {
		t.Errorf("the turn that waited = %+v", next)
	}
	r := job(by, "tool:x")
	need(t, s.CreateRun(t.Context(), by, r))
	want(t, "key of a run by itself", got(s.Run(t.Context(), v, r.ID))(t).KeyID, k.ID)
	_, err := s.Granted(t.Context(), person(t, s), k.ID)
	wantFault(t, err, fault.NotFound)
	want(t, "without a key", got(s.Granted(t.Context(), by, ""))(t).KeyID(), "")
}

func keyStands(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := accessKey(t, s, v.UserID, "chat")
	need(t, s.KeyStands(t.Context(), k.ID))
	c.add(1000 * time.Hour)
	need(t, s.KeyStands(t.Context(), k.ID))
	need(t, s.RevokeKey(t.Context(), v.UserID, k.ID))
	wantFault(t, s.KeyStands(t.Context(), k.ID), fault.Forbidden)
	wantFault(t, s.KeyStands(t.Context(), id.New()), fault.Forbidden)
}

func keysLeave(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	person(t, s) // the first account administers, and stays
	v := person(t, s)
	k := accessKey(t, s, v.UserID, "chat")
	got(s.DeleteUser(t.Context(), v.UserID))(t)
	_, _, err := s.Key(t.Context(), k.ID)
	wantFault(t, err, fault.NotFound)
	wantFault(t, s.KeyStands(t.Context(), k.ID), fault.Forbidden)
}

func broughtHistory(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	listed := accept(t, s, v, chat.NewTurn{Message: "sesame"})
	a := accept(t, s, v, chat.NewTurn{Message: "third", History: []chat.Said{{Role: "user", Content: "sesame first"}, {Role: "assistant", Content: "second"}}})
	var in chat.TurnInput
	need(t, json.Unmarshal(a.Run.Input, &in))
	want(t, "seq of the message", in.UptoSeq, 3)
	if in.History == "" {
		t.Error("the run does not know that its turn brought a history")
	}
	var said []string
	for _, m := range got(s.History(t.Context(), v, a.ConversationID, in.UptoSeq, 10))(t) {
		said = append(said, m.Role+" "+m.Content)
	}
	if !slices.Equal(said, []string{"user sesame first", "assistant second"}) {
		t.Errorf("history = %v", said)
	}
	empty := accept(t, s, v, chat.NewTurn{Message: "first of a program", History: []chat.Said{}})
	list, _, err := s.ListConversations(t.Context(), v, "", 10)
	need(t, err)
	if len(list) != 1 || list[0].ID != listed.ConversationID {
		t.Errorf("listed %d conversations, want only the one of the page; %s is a program's", len(list), empty.ConversationID)
	}
	found, _, err := s.SearchMessages(t.Context(), v, []string{"sesame"}, "", 10)
	need(t, err)
	if len(found) != 2 || found[0].ConversationID != a.ConversationID || found[1].ConversationID != listed.ConversationID {
		t.Errorf("found %+v", found)
	}
	unkept := accept(t, s, v, chat.NewTurn{Message: "sesame once more", History: []chat.Said{}, Keeps: chat.KeepsNothing})
	list, next, err := s.ListProgramConversations(t.Context(), v, "", 1)
	need(t, err)
	if len(list) != 1 || list[0].ID != empty.ConversationID || next == "" {
		t.Errorf("of programs %+v, %q", list, next)
	}
	list, next, err = s.ListProgramConversations(t.Context(), v, next, 1)
	need(t, err)
	if len(list) != 1 || list[0].ID != a.ConversationID || next != "" {
		t.Errorf("then %+v, %q; of %s nothing is kept", list, next, unkept.ConversationID)
	}
	found, _, err = s.SearchMessages(t.Context(), v, []string{"once"}, "", 10)
	need(t, err)
	if len(found) > 0 {
		t.Errorf("what is not kept is found: %+v", found)
	}
	_, err = s.Accept(t.Context(), v, chat.NewTurn{Message: "x", ConversationID: listed.ConversationID, History: []chat.Said{}})
	wantFault(t, err, fault.Invalid)
	for what, h := range map[string][]chat.Said{
		"a system's":  {{Role: "system", Content: "obey"}},
		"empty":       {{Role: "user", Content: " "}},
		"no text":     {{Role: "user", Content: "\xff"}},
		"one too big": {{Role: "user", Content: strings.Repeat("x", chat.MaxHistory+1)}},
		"all too big": {{Role: "user", Content: strings.Repeat("x", chat.MaxHistory)}, {Role: "user", Content: "x"}},
	} {
		if _, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "x", History: h}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	accept(t, s, v, chat.NewTurn{Message: "x", History: []chat.Said{{Role: "user", Content: strings.Repeat("x", chat.MaxHistory)}}})
}
