package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"liminal/internal/cache"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
)

// talk is a store of which one conversation is remembered.
type talk struct {
	t       testing.TB
	store   *store.Store
	reads   atomic.Int64 // of the store
	after   func()       // is called once, when the store has been read
	history *chat.HistoryCache
	turns   chat.Turns
	viewer  identity.Viewer
	id      string
}

// counting counts the reads that reach the store, and may do something between
// one and its answer.
type counting struct {
	chat.Messages
	k *talk
}

func (c counting) History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) ([]chat.Message, error) {
	c.k.reads.Add(1)
	list, err := c.Messages.History(ctx, v, conversationID, upto, limit)
	if after := c.k.after; after != nil {
		c.k.after = nil
		after()
	}
	return list, err
}

func begin(t testing.TB, c cache.Cache) *talk {
	t.Helper()
	k := &talk{t: t, store: store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{Running: -1, Queued: -1})}
	k.history = chat.NewHistoryCache(counting{k.store, k}, c, nil)
	k.turns = k.history.Turns(k.store)
	k.viewer = k.person()
	return k
}

func (k *talk) person() identity.Viewer {
	u, err := k.store.CreateUser(k.t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Role: identity.RoleUser, Active: true},
		identity.Credential{Hash: "hash", Algorithm: "argon2id"})
	if err != nil {
		k.t.Fatal(err)
	}
	return u.Viewer(id.New())
}

// ask begins a turn and returns it with the seq of its question.
func (k *talk) ask(text string) (run.Run, int) {
	k.t.Helper()
	a, err := k.turns.Accept(k.t.Context(), k.viewer, chat.NewTurn{
		Message: text, ConversationID: k.id, RequestID: id.New(), Multitask: "enqueue",
	})
	if err != nil {
		k.t.Fatal(err)
	}
	if k.id == "" {
		k.id = a.ConversationID
	}
	return a.Run, uptoOf(k.t, a.Run)
}

func uptoOf(t testing.TB, r run.Run) int {
	t.Helper()
	var in chat.TurnInput
	if err := json.Unmarshal(r.Input, &in); err != nil {
		t.Fatal(err)
	}
	return in.UptoSeq
}

// answer closes a turn.
func (k *talk) answer(r run.Run, text string) chat.Closed {
	k.t.Helper()
	segments := &chat.Content{Segments: []chat.Segment{{Type: chat.SegmentText, Text: text}}}
	closed, err := k.turns.CloseTurn(k.t.Context(), k.viewer, chat.Close{
		RunID: r.ID, End: run.End{Status: run.Done},
		Message: &chat.Message{Role: "assistant", Content: text, Struct: segments, Meta: map[string]any{"n": 1.5, "tags": []any{"<a>"}}},
		Notices: []chat.Message{{Role: "system", Content: "asked", Meta: map[string]any{"suppressed": len(text)%2 == 0}}},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return closed
}

// same checks that what is remembered is what the store holds.
func (k *talk) same(upto, limit int) {
	k.t.Helper()
	got, err := k.history.History(k.t.Context(), k.viewer, k.id, upto, limit)
	if err != nil {
		k.t.Error(err)
		return
	}
	want, err := k.store.History(k.t.Context(), k.viewer, k.id, upto, limit)
	if err != nil {
		k.t.Error(err)
		return
	}
	if len(got) != len(want) {
		k.t.Errorf("%d messages below %d, want %d", len(got), upto, len(want))
		return
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			k.t.Errorf("below %d of %d: got\n%+v, want\n%+v", upto, limit, got[i], want[i])
		}
	}
}

// Requirements: DATA-12
func TestTheTurnsOfAHotConversationReadNoMessagesFromTheStore(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	r, upto := k.ask("first")
	k.same(upto, 4)
	k.answer(r, "first answer")
	for i := range 5 {
		r, upto := k.ask(fmt.Sprint("question ", i))
		k.reads.Store(0)
		for _, limit := range []int{4, 40, 40, 64} {
			k.same(upto, limit)
		}
		if n := k.reads.Load(); n != 0 {
			t.Errorf("turn %d read the store %d times", i, n)
		}
		k.answer(r, fmt.Sprint("answer ", i))
	}
	k.reads.Store(0)
	k.same(5, 100)
	if k.reads.Load() != 1 {
		t.Error("more messages than are remembered did not come from the store")
	}
}

// A reader is held up between the store and the cache, and a turn closes in
// between, which moves the queued ones on.
//
// Requirements: DATA-12
func TestWhatWasReadBeforeAWriteIsNotRememberedAfterIt(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	r, _ := k.ask("first")
	k.ask("second")
	_, upto := k.ask("third")
	k.after = func() { k.answer(r, "answer") }
	if _, err := k.history.History(t.Context(), k.viewer, k.id, upto, 10); err != nil {
		t.Fatal(err)
	}
	k.same(upto, 10)
}

// Who looks at an earlier place leaves what the next turn will ask for.
//
// Requirements: DATA-12
func TestReadingOfEarlierForgetsNothing(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	r, asked := k.ask("first")
	k.answer(r, "answer")
	_, upto := k.ask("second")
	k.same(upto, 10)
	k.same(asked+1, 10)
	before := k.reads.Load()
	k.same(upto, 10)
	if n := k.reads.Load() - before; n != 0 {
		t.Errorf("the store was read %d times", n)
	}
}

// Many readers fill the cache, each with what the store said a moment ago,
// while turns queue, close and push each other's messages on: whenever a turn
// has closed, nothing stale may be left.
//
// Requirements: DATA-12
func TestWhatIsRememberedIsNeverOlderThanAClosedTurn(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	r, _ := k.ask("first")
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var latest atomic.Int64
	latest.Store(1)
	for n := range 3 {
		readers.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				_, err := k.history.History(ctx, k.viewer, k.id, max(1, int(latest.Load())+1-i%5), 1+i%64)
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 15 {
		_, queued := k.ask(fmt.Sprint("queued ", i))
		latest.Store(int64(queued))
		if i%2 == 0 {
			k.ask("queued behind it")
		}
		closed := k.answer(r, fmt.Sprint("answer ", i))
		for upto := max(1, closed.Seq-2); upto <= closed.Seq+3; upto++ {
			k.same(upto, 40)
		}
		if closed.Next == nil {
			t.Fatal("no turn follows")
		}
		k.same(uptoOf(t, *closed.Next), 40)
		r = *closed.Next
	}
	cancel()
	readers.Wait()
}

// Requirements: DATA-12
func TestADeletedConversationIsForgottenAndAnothersIsNotShown(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	r, upto := k.ask("mine")
	k.same(upto, 10)
	k.answer(r, "yours")
	k.same(upto+3, 10)
	mine := k.viewer
	k.viewer = k.person()
	if list, err := k.history.History(t.Context(), k.viewer, k.id, upto+3, 10); err != nil || len(list) > 0 {
		t.Errorf("another person sees %d messages, %v", len(list), err)
	}
	k.viewer = mine
	k.same(upto+3, 10)
	if err := k.history.Conversations(k.store).DeleteConversation(t.Context(), mine, k.id); err != nil {
		t.Fatal(err)
	}
	if list, err := k.history.History(t.Context(), mine, k.id, upto+3, 10); err != nil || len(list) > 0 {
		t.Errorf("of a deleted conversation %d messages are left, %v", len(list), err)
	}
}

// A question that is said anew, and a version that is shown, put other
// messages below the same seq.
//
// Requirements: DATA-12
func TestWhatIsRememberedIsOfThePathThatIsShown(t *testing.T) {
	t.Parallel()
	k := begin(t, inproc.NewCache(0))
	threads := k.history.Conversations(k.store)
	r, _ := k.ask("first")
	k.answer(r, "first answer")
	r, upto := k.ask("second")
	k.answer(r, "second answer")
	k.same(upto+2, 10)
	second := chat.AskedID(r.ID)
	a, err := k.turns.Accept(t.Context(), k.viewer, chat.NewTurn{ConversationID: k.id, Message: "second again", Replaces: second})
	if err != nil {
		t.Fatal(err)
	}
	k.same(upto, 10)
	k.same(upto+2, 10)
	k.answer(a.Run, "another answer")
	k.same(upto+2, 10)
	k.after = func() { // a reader is held up between the store and the cache
		if err := threads.ShowVersion(t.Context(), k.viewer, k.id, second); err != nil {
			t.Error(err)
		}
	}
	k.history.Forget(t.Context(), k.id)
	for range 2 {
		if _, err := k.history.History(t.Context(), k.viewer, k.id, upto+2, 10); err != nil {
			t.Fatal(err)
		}
		k.same(upto+2, 10)
	}
}

// gone is a cache that does not answer.
type gone struct{ cache.Cache }

func (gone) Get(context.Context, string) ([]byte, bool, error) {
	return nil, false, errors.New("away")
}

func (gone) Delete(context.Context, ...string) error { return errors.New("away") }

// forgetful loses everything at any moment.
type forgetful struct {
	*inproc.Cache
	n atomic.Int64
}

func (f *forgetful) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if f.n.Add(1)%3 == 0 {
		return nil, false, f.Delete(ctx, key)
	}
	return f.Cache.Get(ctx, key)
}

func (f *forgetful) Add(ctx context.Context, key string, value []byte, _ time.Duration) (bool, error) {
	return f.Cache.Add(ctx, key, value, time.Nanosecond)
}

// Requirements: DATA-12, DATA-13
func TestWithoutTheCacheTheStoreIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]cache.Cache{"away": gone{}, "forgetful": &forgetful{Cache: inproc.NewCache(0)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := begin(t, c)
			for i := range 5 {
				r, upto := k.ask("question")
				k.same(upto, 10)
				k.same(upto, 10)
				k.answer(r, fmt.Sprint("answer ", i))
			}
		})
	}
}
