package artifacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
)

// desk is a store, a library whose versions are files too, and a person with
// a conversation.
type desk struct {
	*testing.T
	store    *store.Store
	library  *artifacts.Library
	memories *artifacts.Memories
	talks    chat.Conversations
	dir      string
	v        identity.Viewer
	talk     string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, dir: t.TempDir()}
	d.store = store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{})
	root, err := os.OpenRoot(d.dir)
	d.must(err)
	t.Cleanup(func() { _ = root.Close() })
	d.library = artifacts.NewLibrary(d.store, nil)
	d.library.Mirror(artifacts.NewFolder(root), slog.New(slog.DiscardHandler))
	d.memories = artifacts.NewMemories(d.library, d.store)
	d.talks = d.memories.Conversations(d.store)
	d.person() // the first is the administrator, who cannot go
	d.v = d.person()
	c, err := d.talks.CreateConversation(t.Context(), d.v, chat.Conversation{Title: "Leases"})
	d.must(err)
	d.talk = c.ID
	return d
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) person() identity.Viewer {
	d.Helper()
	u, err := d.store.CreateUser(d.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Active: true}, identity.Credential{})
	d.must(err)
	v := u.Viewer(id.New())
	v.Role = identity.RoleUser
	return v
}

func (d *desk) memory() chat.Memory {
	d.Helper()
	m, err := d.memories.Memory(d.Context(), d.v, d.talk)
	d.must(err)
	return m
}

// remember goes on from what is remembered.
func (d *desk) remember(summary string, upto int) {
	d.Helper()
	d.must(d.memories.Remember(d.Context(), d.v, d.talk, chat.Memory{Summary: summary, UptoSeq: upto, Version: d.memory().Version}))
}

func (d *desk) patch(patch string) artifacts.Artifact {
	d.Helper()
	a, err := d.library.Patch(d.Context(), d.v, chat.MemoryID(d.talk), artifacts.Change{Patch: json.RawMessage(patch)})
	d.must(err)
	return a
}

// files are the texts of everything below the folder of payloads.
func (d *desk) files() (texts []string) {
	d.Helper()
	d.must(filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		texts = append(texts, string(raw))
		return err
	}))
	return texts
}

// Requirements: ART-03, ART-06, ART-11, CHAT-19
func TestAMemoryIsAnArtifactThatItsOwnerMayChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if m := d.memory(); m != (chat.Memory{}) {
		t.Errorf("at first %+v", m)
	}
	d.remember("They compare leases.", 8)
	a, err := d.library.Get(t.Context(), d.v, chat.MemoryID(d.talk))
	d.must(err)
	if a.Type != artifacts.KindSummary || a.CreatedBy != "llm" || a.Visibility != artifacts.Private || a.OwnerID != d.v.UserID || a.Name != "conversation."+d.talk {
		t.Errorf("the artifact is %+v", a)
	}
	d.patch(`[{"op":"replace","path":"/summary","value":"They compare boats."},{"op":"add","path":"/facts","value":[{"text":"The boat is blue."}]},{"op":"add","path":"/embedding","value":[1,2]}]`)
	if m := d.memory(); m != (chat.Memory{Summary: "They compare boats.", UptoSeq: 8, Version: 2}) {
		t.Errorf("after a person's edit %+v", m)
	}
	d.remember("They compare boats and cars.", 16)
	a, err = d.library.Get(t.Context(), d.v, a.ID)
	d.must(err)
	if doc := string(a.Schema); a.Version != 3 || a.CreatedBy != "llm" || !strings.Contains(doc, "The boat is blue.") || strings.Contains(doc, "embedding") {
		t.Errorf("version %d by %s is %s", a.Version, a.CreatedBy, doc)
	}
	d.must(d.library.Check(t.Context(), d.v, a.Type, a.Schema))
	if got := d.files(); len(got) != 3 || !slices.Contains(got, string(a.Schema)) {
		t.Errorf("the files are %q", got)
	}
	if _, err := d.library.Rollback(t.Context(), d.v, a.ID, 1, ""); err != nil {
		t.Fatal(err)
	}
	if m := d.memory(); m.Summary != "They compare leases." || m.UptoSeq != 8 {
		t.Errorf("gone back to %+v", m)
	}
}

// Requirements: CHAT-19
func TestAMemoryOfWhatWasSetAsideIsToldNoMoreUntilItIsMadeAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	say := func(text, replaces string) string {
		t.Helper()
		a, err := d.store.Accept(t.Context(), d.v, chat.NewTurn{ConversationID: d.talk, Message: text, Replaces: replaces})
		d.must(err)
		_, err = d.store.CloseTurn(t.Context(), d.v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Message: &chat.Message{Role: "assistant", Content: "!"}})
		d.must(err)
		return a.MessageID
	}
	first := say("leases", "")
	d.remember("They compare leases.", 2)
	under := d.memory() // a summary is being made
	say("boats", first)
	if m := d.memory(); m != (chat.Memory{Version: 1, Path: 1}) {
		t.Errorf("of what is set aside %+v", m)
	}
	under.Summary, under.UptoSeq = "They still compare leases.", 2
	if err := d.memories.Remember(t.Context(), d.v, d.talk, under); !errors.Is(err, fault.Conflict) {
		t.Errorf("a summary of the former path: %v", err)
	}
	now := d.memory()
	now.Summary, now.UptoSeq = "They compare boats.", 2
	d.must(d.memories.Remember(t.Context(), d.v, d.talk, now))
	if m := d.memory(); m != (chat.Memory{Summary: "They compare boats.", UptoSeq: 2, Version: 2, Path: 1}) {
		t.Errorf("made anew %+v", m)
	}
}

// Requirements: ART-03, CHAT-19
func TestAMemoryCoversNoMoreThanWasSummarisedWhateverItSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	for patch, want := range map[string]chat.Memory{
		`[{"op":"replace","path":"/upto_seq","value":1e300}]`:               {Summary: "They compare leases.", UptoSeq: 8},
		`[{"op":"replace","path":"/upto_seq","value":5.0}]`:                 {Summary: "They compare leases.", UptoSeq: 5},
		`[{"op":"replace","path":"/upto_seq","value":0}]`:                   {Summary: "They compare leases.", UptoSeq: 0},
		`[{"op":"replace","path":"/summary","value":" "}]`:                  {UptoSeq: 8},
		`[{"op":"replace","path":"/conversation_id","value":"of another"}]`: {Summary: "They compare leases.", UptoSeq: 8},
	} {
		want.Version = d.patch(patch).Version
		if m := d.memory(); m != want {
			t.Errorf("%s: %+v", patch, m)
		}
		d.remember("They compare leases.", 8)
	}
}

// Requirements: ART-09
func TestAMemoryMadeFromAnOldVersionIsNotTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	was := d.memory()
	d.patch(`[{"op":"replace","path":"/summary","value":"They compare boats."}]`)
	was.UptoSeq = 16
	if err := d.memories.Remember(t.Context(), d.v, d.talk, was); !errors.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	if m := d.memory(); m.Summary != "They compare boats." || m.UptoSeq != 8 {
		t.Errorf("%+v", m)
	}
}

// Requirements: ART-08, ISO-01
func TestAMemoryIsNobodyElses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	other := d.person()
	_, get := d.library.Get(t.Context(), other, chat.MemoryID(d.talk))
	_, read := d.memories.Memory(t.Context(), other, d.talk)
	write := d.memories.Remember(t.Context(), other, d.talk, chat.Memory{Summary: "x", UptoSeq: 9, Version: 1})
	remove := d.talks.DeleteConversation(t.Context(), other, d.talk)
	for what, err := range map[string]error{"get": get, "read": read, "write": write, "remove": remove} {
		if !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if d.memory().Summary == "" || len(d.files()) != 1 {
		t.Errorf("what is left is %+v, %q", d.memory(), d.files())
	}
	_, err := d.library.Create(t.Context(), other, artifacts.Draft{Type: "memory", Name: "conversation." + d.talk, Schema: json.RawMessage(`{"kind":"memory.summary","summary":"x"}`)})
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("the name of a conversation's memory is anybody's: %v", err)
	}
}

// Requirements: DATA-15, CHAT-12
func TestADeletedConversationLeavesNoFileOfWhatWasRemembered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	d.patch(`[{"op":"replace","path":"/summary","value":"They compare boats."}]`)
	d.must(d.talks.DeleteConversation(t.Context(), d.v, d.talk))
	if got := d.files(); len(got) != 0 {
		t.Errorf("there still are %q", got)
	}
	if _, err := d.library.Versions(t.Context(), d.v, chat.MemoryID(d.talk)); !errors.Is(err, fault.NotFound) {
		t.Errorf("the versions: %v", err)
	}
	if err := d.memories.Remember(t.Context(), d.v, d.talk, chat.Memory{Summary: "x", UptoSeq: 9}); !errors.Is(err, fault.NotFound) {
		t.Errorf("remembered after all: %v", err)
	}
}

// Requirements: DATA-15
func TestADroppedVersionIsNoFileAnyMore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for n := range artifacts.MemoryVersions + 2 {
		d.remember("They compare leases.", n+1)
	}
	if got := d.files(); len(got) != artifacts.MemoryVersions {
		t.Errorf("%d files", len(got))
	}
}

// late deletes the conversation between the store's write of a version and
// that of its file.
type late struct {
	artifacts.Folder
	before func()
}

func (l late) PutPayload(ctx context.Context, artifactID string, version int, doc json.RawMessage) error {
	l.before()
	return l.Folder.PutPayload(ctx, artifactID, version, doc)
}

// Requirements: DATA-15
func TestAFileWrittenWhileItsConversationIsDeletedIsNotLeft(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	root, err := os.OpenRoot(d.dir)
	d.must(err)
	t.Cleanup(func() { _ = root.Close() })
	d.library.Mirror(late{artifacts.NewFolder(root), func() { d.must(d.talks.DeleteConversation(t.Context(), d.v, d.talk)) }}, slog.New(slog.DiscardHandler))
	d.remember("They compare leases.", 8)
	if got := d.files(); len(got) != 0 {
		t.Errorf("there still are %q", got)
	}
}

// stuck cannot remove anything.
type stuck struct{ artifacts.Folder }

func (stuck) DropPayloads(context.Context, string) error { return errors.New("the disk is read-only") }

// Requirements: DATA-15
func TestAConversationWhoseFilesCannotBeRemovedIsNotDeleted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	root, err := os.OpenRoot(d.dir)
	d.must(err)
	t.Cleanup(func() { _ = root.Close() })
	d.library.Mirror(stuck{artifacts.NewFolder(root)}, slog.New(slog.DiscardHandler))
	if err := d.talks.DeleteConversation(t.Context(), d.v, d.talk); !errors.Is(err, fault.Internal) {
		t.Errorf("%v", err)
	}
	if d.memory().Summary == "" {
		t.Error("it is gone all the same")
	}
}

// Requirements: DATA-01, DATA-15
func TestTheFilesOfADeletedAccountAreSwept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.remember("They compare leases.", 8)
	other := d.person()
	if _, err := d.library.Create(t.Context(), other, artifacts.Draft{Type: "memory", Name: "mine", Schema: json.RawMessage(`{"kind":"memory.summary","summary":"They sail."}`)}); err != nil {
		t.Fatal(err)
	}
	d.must(os.MkdirAll(filepath.Join(d.dir, "notes"), 0o700))
	if n, err := d.memories.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := d.store.DeleteUser(t.Context(), d.v.UserID); err != nil {
		t.Fatal(err)
	}
	if n, err := d.memories.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if got := d.files(); len(got) != 1 || !strings.Contains(got[0], "They sail.") {
		t.Errorf("the files are %q", got)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "notes")); err != nil {
		t.Errorf("somebody else's folder: %v", err)
	}
}
