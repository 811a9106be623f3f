package identity

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// keyring is Keys in a map, over the people of a memory.
type keyring struct {
	*memory
	mu      sync.Mutex
	keys    map[string]Key
	lookups int
	touched int
}

func (k *keyring) CreateKey(_ context.Context, n Key, most int, _ time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.keys) >= most {
		return fault.New(fault.Conflict, "too many")
	}
	k.keys[n.ID] = n
	return nil
}

func (k *keyring) Key(ctx context.Context, id string) (Key, User, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lookups++
	n, ok := k.keys[id]
	if !ok {
		return Key{}, User{}, fault.New(fault.NotFound, "no such key")
	}
	u, _, err := k.User(ctx, n.UserID)
	return n, u, err
}

func (k *keyring) ListKeys(_ context.Context, userID string) (list []Key, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range k.keys {
		if n.UserID == userID {
			list = append(list, n)
		}
	}
	return list, nil
}

func (k *keyring) RevokeKey(_ context.Context, userID, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.keys[id]
	if !ok || n.UserID != userID {
		return fault.New(fault.NotFound, "no such key")
	}
	n.RevokedAt = k.now()
	k.keys[id] = n
	return nil
}

func (k *keyring) RevokeKeys(ctx context.Context, _, userID string) (ended []string, err error) {
	list, _ := k.ListKeys(ctx, userID)
	for _, n := range list {
		ended = append(ended, n.ID)
		err = errors.Join(err, k.RevokeKey(ctx, userID, n.ID))
	}
	return ended, err
}

func (k *keyring) TouchKey(_ context.Context, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.keys[id]
	n.UsedAt = k.now()
	k.keys[id] = n
	k.touched++
	return nil
}

func withKeys(t *testing.T, change ...func(*Options)) (bundle, *keyring, *postbox) {
	t.Helper()
	ring := &keyring{keys: map[string]Key{}}
	b, _, p := withMail(t, append(change, func(o *Options) { o.Keys = ring })...)
	ring.memory = b.store
	return b, ring, p
}

// makeKey makes a key for a sign-in.
func (b bundle) makeKey(t *testing.T, in SignIn, n NewKey) (Key, string) {
	t.Helper()
	n.Name = "deploy"
	k, text, err := b.CreateKey(t.Context(), in.User.Viewer(in.SessionID), n)
	if err != nil {
		t.Fatal(err)
	}
	return k, text
}

// as is who a key says somebody is.
func (b bundle) as(t *testing.T, text string) Viewer {
	t.Helper()
	v, err := b.Authenticate(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b bundle) shut(t *testing.T, what, text string) {
	t.Helper()
	if v, err := b.Authenticate(t.Context(), text); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("%s: %+v, %v", what, v, err)
	}
}

func TestAKeyOpensWhatItsScopesSayAndIsNotKept(t *testing.T) {
	t.Parallel()
	b, ring, _ := withKeys(t)
	root := b.signUp(t, "root@example.org")
	k, text := b.makeKey(t, root, NewKey{Scopes: []string{"chat", "tools:files.*"}, Assistants: []string{"default"}})
	if !regexp.MustCompile(`^lim_[0-9a-f]{32}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`).MatchString(text) {
		t.Errorf("a key is %s", text)
	}
	for _, kept := range ring.keys {
		if strings.Contains(text, kept.Hash) || kept.Hash == "" || kept.ExpiresAt.Sub(b.clock.now()) != 90*24*time.Hour {
			t.Errorf("kept: %+v", kept)
		}
	}
	v := b.as(t, text)
	if v.UserID != root.User.ID || v.SessionID != "" || v.IsAdmin() || v.KeyID() != k.ID {
		t.Errorf("viewer = %+v", v)
	}
	for what, c := range map[string]struct{ is, want bool }{
		"chat":           {v.Allows("chat") == nil, true},
		"one of some":    {v.Allows("read", "chat") == nil, true},
		"read":           {v.Allows("read") == nil, false},
		"what has none":  {v.Allows() == nil, false},
		"a tool of it":   {v.Grant.MayCall("files.write_v1"), true},
		"another tool":   {v.Grant.MayCall("web.post_v1"), false},
		"a tool's start": {v.Grant.MayCall("filesystem.wipe_v1"), false},
		"its assistant":  {v.Grant.MayAsk("x", "default"), true},
		"another":        {v.Grant.MayAsk("x", "documents"), false},
	} {
		if c.is != c.want {
			t.Errorf("%s: %v", what, c.is)
		}
	}
	var session *Grant
	if !session.Has("admin") || !session.MayCall("x") || !session.MayAsk("a", "b") || root.User.Viewer("s").Allows() != nil {
		t.Error("a session is held to a grant")
	}
	_, text = b.makeKey(t, root, NewKey{Scopes: []string{"admin"}})
	if !b.as(t, text).IsAdmin() {
		t.Error("an administrator's key of the scope admin is none")
	}
	bob := b.signUp(t, "bob@example.org")
	if _, _, err := b.CreateKey(t.Context(), bob.User.Viewer(bob.SessionID), NewKey{Name: "x", Scopes: []string{"admin"}}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("the key of another for administration: %v", err)
	}
}

func TestOneWrongSignOfAKeyOpensNothingAndCostsNoLook(t *testing.T) {
	t.Parallel()
	b, ring, _ := withKeys(t)
	_, text := b.makeKey(t, b.signUp(t, "ada@example.org"), NewKey{Scopes: []string{"chat"}})
	for i := range len(text) {
		other := byte('x')
		if text[i] == other {
			other = 'y'
		}
		b.shut(t, "another sign", text[:i]+string(other)+text[i+1:])
	}
	for _, bad := range []string{text + "x", text[:len(text)-1], "lim_", "lim___", "lim_a_b_c", strings.ToUpper(text), strings.Repeat("lim_", 1000), text + "\n"} {
		b.shut(t, bad, bad)
	}
	if ring.lookups != 0 {
		t.Errorf("%d lookups for texts whose sum is wrong", ring.lookups)
	}
	// Who knows how keys are made still has no secret of it.
	name := strings.Split(text, "_")[1]
	forged := "lim_" + name + "_" + random62(keySecretChars)
	b.shut(t, "a forged secret", forged+"_"+keySum(forged))
	made, _ := newKeyText(id.New())
	b.shut(t, "a key of nobody", made)
	b.as(t, text)
}

func TestAnEndedKeyOpensNothingAtOnce(t *testing.T) {
	t.Parallel()
	b, _, _ := withKeys(t)
	b.signUp(t, "root@example.org")
	ada, bob := b.signUp(t, "ada@example.org"), b.signUp(t, "bob@example.org")
	v := ada.User.Viewer(ada.SessionID)
	k, text := b.makeKey(t, ada, NewKey{Scopes: []string{"chat"}})
	b.as(t, text)
	if err := b.RevokeKey(t.Context(), bob.User.Viewer(bob.SessionID), k.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("another ends it: %v", err)
	}
	b.as(t, text)
	if err := b.RevokeKey(t.Context(), v, k.ID); err != nil {
		t.Fatal(err)
	}
	b.shut(t, "ended", text)
	_, text = b.makeKey(t, ada, NewKey{Scopes: []string{"chat"}, Life: 48 * time.Hour})
	b.as(t, text)
	b.clock.pass(48 * time.Hour)
	b.shut(t, "run out", text)

	ada = b.logIn(t, "ada@example.org", Device{})
	_, text = b.makeKey(t, ada, NewKey{Scopes: []string{"chat"}})
	b.as(t, text)
	b.store.deactivate("ada@example.org")
	if err := b.refreshSessions(t.Context(), ada.User.ID); err != nil {
		t.Fatal(err)
	}
	b.shut(t, "of a suspended account", text)
}

func TestAKeyIsCountedAsUsedToAMinute(t *testing.T) {
	t.Parallel()
	b, ring, _ := withKeys(t)
	_, text := b.makeKey(t, b.signUp(t, "ada@example.org"), NewKey{Scopes: []string{"chat"}})
	for range 60 {
		b.as(t, text)
		b.clock.pass(10 * time.Second)
	}
	if ring.touched < 5 || ring.touched > 10 || ring.lookups > 25 {
		t.Errorf("in ten minutes touched %d times with %d lookups", ring.touched, ring.lookups)
	}
}

// A key outlives the session and the password, so making one takes what making
// a second factor takes.
func TestAKeyIsMadeByWhoeverHasJustSignedIn(t *testing.T) {
	t.Parallel()
	b, _, _ := withKeys(t)
	ada := b.signUp(t, "ada@example.org")
	_, text := b.makeKey(t, ada, NewKey{Scopes: Scopes()})
	if _, _, err := b.CreateKey(t.Context(), b.as(t, text), NewKey{Name: "x", Scopes: []string{"chat"}}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("a key makes a key: %v", err)
	}
	b.clock.pass(time.Hour + time.Second)
	if _, _, err := b.CreateKey(t.Context(), ada.User.Viewer(ada.SessionID), NewKey{Name: "x", Scopes: []string{"chat"}}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("an old session makes a key: %v", err)
	}
}

func TestAKeyAsksForWhatItSaysInWordsThatAreKnown(t *testing.T) {
	t.Parallel()
	b, ring, _ := withKeys(t)
	ada := b.signUp(t, "ada@example.org")
	for what, n := range map[string]NewKey{
		"no scope":           {Name: "x"},
		"an unknown scope":   {Name: "x", Scopes: []string{"chat", "decide"}},
		"no pattern":         {Name: "x", Scopes: []string{"tools:*"}},
		"a wild pattern":     {Name: "x", Scopes: []string{"tools:f*"}},
		"no name":            {Name: "  ", Scopes: []string{"chat"}},
		"a name of lines":    {Name: "a\nb", Scopes: []string{"chat"}},
		"a long life":        {Name: "x", Scopes: []string{"chat"}, Life: 400 * 24 * time.Hour},
		"an odd assistant":   {Name: "x", Scopes: []string{"chat"}, Assistants: []string{"a b"}},
		"an empty assistant": {Name: "x", Scopes: []string{"chat"}, Assistants: []string{""}},
	} {
		if _, _, err := b.CreateKey(t.Context(), ada.User.Viewer(ada.SessionID), n); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(ring.keys) != 0 {
		t.Errorf("kept %v", ring.keys)
	}
	k, _ := b.makeKey(t, ada, NewKey{Scopes: []string{"tools:files.*", "tools", "chat", "chat"}})
	if got := k.ScopesOf(); !slices.Equal(got, []string{"tools", "chat"}) {
		t.Errorf("scopes = %v", got)
	}
}

// Whoever asks for a reset may have lost the account to somebody who made a key.
func TestAResetEndsTheKeys(t *testing.T) {
	t.Parallel()
	b, _, p := withKeys(t)
	_, text := b.makeKey(t, b.signUp(t, "ada@example.org"), NewKey{Scopes: []string{"chat"}})
	b.as(t, text)
	b.took(t, p)
	b.RequestReset(t.Context(), "ada@example.org")
	if err := b.CompleteReset(t.Context(), b.token(t, p, "ada@example.org", "/reset"), "another horse"); err != nil {
		t.Fatal(err)
	}
	b.shut(t, "after a reset", text)
}

func TestAMailSaysThatAKeyWasMadeAndNotWhich(t *testing.T) {
	t.Parallel()
	b, _, p := withKeys(t)
	in, err := b.SignUp(t.Context(), NewAccount{Email: "ada@example.org", Password: "correct horse", Locale: "de"}, Device{})
	if err != nil {
		t.Fatal(err)
	}
	b.took(t, p)
	_, text := b.makeKey(t, in, NewKey{Scopes: []string{"chat", "tools:files.*"}})
	letters := b.took(t, p)
	if len(letters) != 1 || letters[0].To != "ada@example.org" {
		t.Fatalf("letters = %+v", letters)
	}
	l := letters[0]
	for _, want := range []string{"„deploy“", "chat, tools:files.*", "/settings/keys", "18.02.2027"} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("the letter has no %q:\n%s", want, l.Text)
		}
	}
	if secret := strings.Split(text, "_")[2]; strings.Contains(l.Subject+l.Text, secret) {
		t.Error("the letter has the key")
	}
}
