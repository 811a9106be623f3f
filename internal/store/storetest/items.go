package storetest

import (
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/store"
)

// Items proves chat.Items.
func Items(t *testing.T, open Open) {
	t.Run("an item comes back as it was kept, to its person alone", func(t *testing.T) { itemRoundTrip(t, open) })
	t.Run("items are found by what their namespace begins with", func(t *testing.T) { itemsFound(t, open) })
	t.Run("a search in the values stops at what it wants, and reads no more than it may", func(t *testing.T) { itemsSearched(t, open) })
}

func itemRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada, bob := person(t, s), person(t, s)
	i := chat.Item{Namespace: []string{"mémoire", "likes"}, Key: "tea <&>", Value: map[string]any{"kind": "Assam", "n": 2.0}}
	need(t, s.PutItem(t.Context(), ada, i))
	is := got(s.Item(t.Context(), ada, i.Namespace, i.Key))(t)
	if strings.Join(is.Namespace, "/") != "mémoire/likes" || is.Value["kind"] != "Assam" || is.Value["n"] != 2.0 || !is.CreatedAt.Equal(c.now()) {
		t.Errorf("%+v", is)
	}
	_, err := s.Item(t.Context(), bob, i.Namespace, i.Key)
	wantFault(t, err, fault.NotFound)
	need(t, s.DeleteItem(t.Context(), bob, i.Namespace, i.Key))
	c.add(time.Minute)
	i.Value = map[string]any{"kind": "Darjeeling"}
	need(t, s.PutItem(t.Context(), ada, i))
	again := got(s.Item(t.Context(), ada, i.Namespace, i.Key))(t)
	if again.Value["kind"] != "Darjeeling" || !again.CreatedAt.Equal(is.CreatedAt) || !again.UpdatedAt.Equal(c.now()) {
		t.Errorf("kept again: %+v", again)
	}
	need(t, s.DeleteItem(t.Context(), ada, i.Namespace, i.Key))
	_, err = s.Item(t.Context(), ada, i.Namespace, i.Key)
	wantFault(t, err, fault.NotFound)
	need(t, s.DeleteItem(t.Context(), ada, i.Namespace, i.Key))
}

func itemsFound(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada, bob := person(t, s), person(t, s)
	for _, at := range []string{"a", "a/b", "a/b/c", "ab", "ä/b"} {
		need(t, s.PutItem(t.Context(), ada, chat.Item{Namespace: strings.Split(at, "/"), Key: at, Value: map[string]any{}}))
		c.add(time.Second)
	}
	need(t, s.PutItem(t.Context(), bob, chat.Item{Namespace: []string{"a"}, Key: "bob's", Value: map[string]any{}}))
	for prefix, list := range map[string]string{"": "ä/b ab a/b/c a/b a", "a": "a/b/c a/b a", "a/b": "a/b/c a/b", "ä": "ä/b", "b": "", "a%": ""} {
		f := chat.ItemFilter{Limit: 100}
		if prefix != "" {
			f.Prefix = strings.Split(prefix, "/")
		}
		var keys []string
		for _, i := range got(s.Items(t.Context(), ada, f))(t) {
			keys = append(keys, i.Key)
		}
		want(t, "below "+prefix, strings.Join(keys, " "), list)
	}
	var all []string
	for _, parts := range got(s.ItemNamespaces(t.Context(), ada))(t) {
		all = append(all, strings.Join(parts, "/"))
	}
	want(t, "namespaces", len(all), 5)
	want(t, "of one", len(got(s.Items(t.Context(), ada, chat.ItemFilter{Limit: 1}))(t)), 1)
}

func itemsSearched(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada := person(t, s)
	for i, at := range []string{"small/1", "small/2", "large/3"} {
		n := float64(i + 1)
		c.add(time.Second)
		value := map[string]any{"n": n, "x": strings.Repeat("x", int(n)*100)}
		need(t, s.PutItem(t.Context(), ada, chat.Item{Namespace: strings.Split(at, "/"), Key: at, Value: value}))
	}
	looked := 0
	numbered := func(v map[string]any) bool {
		looked++
		return v["n"].(float64) < 3
	}
	for limit, keys := range map[int]string{1: "small/2", 3: "small/2 small/1"} {
		looked = 0
		var found []string
		for _, i := range got(s.Items(t.Context(), ada, chat.ItemFilter{Prefix: []string{"small"}, Limit: limit, Fits: numbered, Most: 400}))(t) {
			found = append(found, i.Key)
		}
		want(t, "found", strings.Join(found, " "), keys)
		want(t, "looked into", looked, len(found))
	}
	looked = 0
	_, err := s.Items(t.Context(), ada, chat.ItemFilter{Limit: 1, Fits: numbered, Most: 400})
	wantFault(t, err, fault.Invalid)
	want(t, "looked into of what is too much", looked, 0)
	want(t, "without looking", len(got(s.Items(t.Context(), ada, chat.ItemFilter{Limit: 3}))(t)), 3)
}
