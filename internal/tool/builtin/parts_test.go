package builtin_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

var ann = identity.Viewer{UserID: "ann", Role: identity.RoleUser, Plan: "free"}

// script is a model that sends what its function says and keeps what it was
// asked.
type script struct {
	play func(ctx context.Context, yield func(model.Event, error) bool)
	mu   sync.Mutex
	last model.Request
}

func (*script) Name() string     { return "script" }
func (*script) Generative() bool { return true }

func (s *script) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	s.mu.Lock()
	s.last = req
	s.mu.Unlock()
	return func(yield func(model.Event, error) bool) { s.play(ctx, yield) }
}

// says is a model that says words and stops.
func says(events ...model.Event) *script {
	return &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
		for _, e := range append(events, model.Event{Type: model.UsageReport, Usage: model.Usage{Input: 7, Output: 3}}, model.Event{Type: model.Stop, Reason: model.EndTurn}) {
			if !yield(e, nil) {
				return
			}
		}
	}}
}

func text(s string) model.Event { return model.Event{Type: model.TextDelta, Text: s} }

// log keeps what a call emits.
type log struct {
	mu     sync.Mutex
	events []stream.Event
}

func (l *log) emit(data stream.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, _ := stream.New("", data)
	l.events = append(l.events, e)
}

// told is the events of a call as one line each.
func (l *log) told(kinds ...stream.Kind) string {
	var b strings.Builder
	for _, e := range l.events {
		for _, k := range kinds {
			if e.Kind == k {
				b.WriteString(string(e.Kind) + " " + string(e.Data) + "\n")
			}
		}
	}
	return b.String()
}

// memory is a conversation's history.
type memory []chat.Message

func (m memory) History(_ context.Context, _ identity.Viewer, _ string, upto, limit int) ([]chat.Message, error) {
	var out []chat.Message
	for _, one := range m {
		if one.Seq < upto {
			out = append(out, one)
		}
	}
	return out[max(0, len(out)-limit):], nil
}

// notebook is the memory of one conversation.
type notebook struct {
	held   chat.Memory
	before func() // what happens before it is written
}

func (n *notebook) Memory(context.Context, identity.Viewer, string) (chat.Memory, error) {
	return n.held, nil
}

func (n *notebook) Remember(_ context.Context, _ identity.Viewer, _ string, next chat.Memory) error {
	if n.before != nil {
		n.before()
	}
	if next.Version != n.held.Version {
		return fault.New(fault.Conflict, "The memory was changed.")
	}
	n.held = next
	n.held.Version++
	return nil
}

// finder finds what it is told to and keeps the question.
type finder struct {
	found knowledge.Found
	last  knowledge.Question
	need  knowledge.Need
	// missing are ids a Gather does not find.
	missing []string
}

func (f *finder) Search(_ context.Context, _ identity.Viewer, q knowledge.Question) (knowledge.Found, error) {
	f.last = q
	return f.found, nil
}

func (f *finder) Gather(_ context.Context, _ identity.Viewer, n knowledge.Need) (knowledge.Gathered, error) {
	f.need = n
	return knowledge.Gathered{Found: f.found, Missing: f.missing}, nil
}

const notice = "The notice period is three months. It begins on the first of a month."

func passage(document, words string, start int) knowledge.Passage {
	return knowledge.Passage{Text: words, Source: model.Source{
		DocumentID: document, ContextID: "c", ChunkID: document + "-0", Title: "Contract", Path: "files/contract.md",
		Heading: "Ending", Page: 2, Start: start, End: start + len(words), Score: 0.9,
	}}
}

func clear(passages ...knowledge.Passage) *finder {
	f := &finder{found: knowledge.Found{Passages: passages, Confidence: knowledge.High, Clarity: knowledge.Clear, AverageSimilarity: 0.9}}
	for _, p := range passages {
		f.found.Documents = append(f.found.Documents, knowledge.Candidate{ID: p.DocumentID, Title: p.Title, Score: p.Score})
	}
	return f
}

// cabinet is a folder as a person's files.
type cabinet struct{ dir string }

func (c cabinet) List(context.Context, identity.Viewer, string, int) ([]files.File, string, error) {
	found, err := filepath.Glob(filepath.Join(c.dir, "files", "*"))
	var out []files.File
	for _, path := range found {
		out = append(out, files.File{Path: "files/" + filepath.Base(path), Size: 1, MIME: "text/plain"})
	}
	return out, "", err
}

func (c cabinet) File(_ context.Context, _ identity.Viewer, path string) (files.File, error) {
	if _, err := os.Stat(filepath.Join(c.dir, path)); err != nil {
		return files.File{}, fault.New(fault.NotFound, "There is no such file.")
	}
	return files.File{Path: path}, nil
}

func (c cabinet) Open(_ context.Context, _ identity.Viewer, path string) (*os.File, error) {
	f, err := os.Open(filepath.Join(c.dir, path))
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such file.")
	}
	return f, nil
}

func (c cabinet) Put(_ context.Context, _ identity.Viewer, path string, body []byte, _ files.Bounds) (files.File, bool, error) {
	_, err := os.Stat(filepath.Join(c.dir, path))
	return files.File{Path: path, Size: int64(len(body))}, err != nil, os.WriteFile(filepath.Join(c.dir, path), body, 0o600)
}

func (c cabinet) Dir(_ context.Context, _ identity.Viewer, path string, limit int) (list []files.Entry, more bool, err error) {
	found, err := os.ReadDir(filepath.Join(c.dir, path))
	if err != nil {
		return nil, false, fault.New(fault.NotFound, "There is no such folder.")
	}
	for _, d := range found {
		list = append(list, files.Entry{Name: d.Name(), Folder: d.IsDir(), Size: 1})
	}
	return list[:min(limit, len(list))], len(list) > limit, nil
}

func (c cabinet) Walk(_ context.Context, _ identity.Viewer, path string, _ bool) (list []files.Found, err error) {
	err = filepath.WalkDir(filepath.Join(c.dir, path), func(at string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(c.dir, at)
			list = append(list, files.Found{Path: filepath.ToSlash(rel), Size: 1})
		}
		return nil
	})
	return list, err
}

func filed(t testing.TB, contents map[string]string) cabinet {
	t.Helper()
	c := cabinet{t.TempDir()}
	if err := os.Mkdir(filepath.Join(c.dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range contents {
		if err := os.WriteFile(filepath.Join(c.dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// reader is an Intake that does nothing but say that it did.
type reader struct {
	failed  error
	indexed []knowledge.VectorBatch
}

func (r *reader) Read(ctx context.Context, v identity.Viewer, id, _ string, open knowledge.Opener) (knowledge.Document, error) {
	f, err := open(ctx, v, "files/notes.md")
	if err != nil {
		return knowledge.Document{}, err
	}
	return knowledge.Document{ID: id, Pages: 1, Length: int(f.Size())}, f.Close()
}

func (r *reader) Cut(_ context.Context, _ identity.Viewer, id string) (knowledge.Document, error) {
	return knowledge.Document{ID: id, Chunks: 3}, nil
}

func (r *reader) Store(_ context.Context, _ identity.Viewer, id string, progress func(done, total int)) (knowledge.Document, error) {
	progress(2, 3)
	progress(3, 3)
	return knowledge.Document{ID: id, Chunks: 3}, nil
}

func (r *reader) Extract(ctx context.Context, v identity.Viewer, id, run string, open knowledge.Opener) (knowledge.Document, knowledge.Outcome, error) {
	d, err := r.Read(ctx, v, id, run, open)
	return d, knowledge.Extracted, err
}

func (r *reader) Accept(_ context.Context, _ identity.Viewer, id, title, text string, _ bool) (knowledge.Document, error) {
	return knowledge.Document{ID: id, Title: title, Length: len(text)}, nil
}

func (r *reader) Pass(_ context.Context, _ identity.Viewer, id string) (knowledge.Document, error) {
	return knowledge.Document{ID: id}, nil
}

func (r *reader) Clean(_ context.Context, _ identity.Viewer, id string) (knowledge.Document, error) {
	return knowledge.Document{ID: id}, nil
}

func (r *reader) Spans(chunks int) []knowledge.Span {
	return []knowledge.Span{{From: 0, To: 2}, {From: 2, To: chunks}}
}

func (r *reader) Embed(_ context.Context, _ identity.Viewer, _ string, s knowledge.Span) (knowledge.VectorBatch, error) {
	p := knowledge.VectorBatch{Span: s, Total: 3, Encoder: "e"}
	for at := s.From; at < s.To; at++ {
		p.Indices, p.Vectors = append(p.Indices, at), append(p.Vectors, []float32{float32(at), -1.5})
	}
	return p, nil
}

func (r *reader) IndexBatch(_ context.Context, _ identity.Viewer, _ string, p knowledge.VectorBatch) (done, total int, err error) {
	r.indexed = append(r.indexed, p)
	return p.To, 3, nil
}

func (r *reader) Fail(_ context.Context, _ identity.Viewer, id string, cause error) (knowledge.Document, error) {
	r.failed = cause
	return knowledge.Document{ID: id, Error: fault.From(cause).Message}, nil
}

// catalog is the specs of the built-in tools as artifacts.
type catalog map[string]artifacts.Bound

func fullCatalog(t testing.TB) catalog {
	t.Helper()
	c := catalog{}
	for _, s := range specs(t) {
		c[s.Name] = artifacts.Bound{Spec: s, ArtifactID: "id-" + s.Name, Version: 1}
	}
	return c
}

func (c catalog) Tools(_ context.Context, _ identity.Viewer, names ...string) (map[string]artifacts.Bound, error) {
	out := map[string]artifacts.Bound{}
	for _, name := range names {
		if b, ok := c[name]; ok {
			out[name] = b
		}
	}
	return out, nil
}

func (c catalog) Named(_ context.Context, _ identity.Viewer, _, name string) (artifacts.Artifact, error) {
	b, ok := c[name]
	if !ok {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no tool %q.", name)
	}
	doc, err := json.Marshal(b.Spec)
	return artifacts.Artifact{ID: b.ArtifactID, Type: artifacts.KindTool, Name: name, Version: 1, Visibility: artifacts.Global, Schema: doc}, err
}

func (c catalog) Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error) {
	return c.Named(ctx, v, "", strings.TrimPrefix(id, "id-"))
}

func (c catalog) List(ctx context.Context, v identity.Viewer, _ artifacts.Filter) ([]artifacts.Artifact, string, error) {
	a, err := c.Named(ctx, v, "", "rag.search_v1")
	return []artifacts.Artifact{a}, "", err
}

func specs(t testing.TB) []tool.Spec {
	t.Helper()
	all, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// run calls a built-in tool through the box, as a run does.
func run(t testing.TB, p builtin.Parts, name string, c *tool.Call) (map[string]any, error) {
	t.Helper()
	box, err := tool.NewBox(builtin.Tools(p), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Viewer.UserID == "" {
		c.Viewer = ann
	}
	for _, s := range specs(t) {
		if s.Name == name {
			s.TimeoutMS = max(s.TimeoutMS, 60_000) // a busy machine pauses for longer than some have
			return box.Call(t.Context(), s, c)
		}
	}
	t.Fatalf("there is no spec of %s", name)
	return nil, nil
}

func must(t testing.TB, p builtin.Parts, name string, c *tool.Call) map[string]any {
	t.Helper()
	out, err := run(t, p, name, c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func inputs(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}
