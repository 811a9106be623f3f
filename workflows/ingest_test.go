package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/knowledgetest"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/workflows"
)

// folder is a person's files.
type folder struct {
	builtin.Files // what ingestion does not use
	dir           string
}

func (f folder) Open(_ context.Context, _ identity.Viewer, path string) (*os.File, error) {
	return os.Open(filepath.Join(f.dir, filepath.Base(path)))
}

// moody is an encoder that is away now and then.
type moody struct {
	embed.Hash
	calls atomic.Int32
	away  func(call int32) bool
}

func (m *moody) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.away(m.calls.Add(1)) {
		return nil, errors.New("connection refused")
	}
	return m.Hash.Embed(ctx, texts)
}

// intake is the program's own ingest graph over its own tools.
type intake struct {
	*activitiestest.World
	shelf   *knowledgetest.MemStore
	library *knowledge.Library
	files   folder
	context string
}

func newIntake(t *testing.T, away func(call int32) bool) *intake {
	t.Helper()
	doc, err := os.ReadFile("../artifacts/defaults/workflow.chat/ingest.json")
	if err != nil {
		t.Fatal(err)
	}
	in := &intake{World: activitiestest.New(oneNode), shelf: knowledgetest.New(), files: folder{dir: t.TempDir()}}
	in.Workflows["ingest"] = string(doc)
	in.library = knowledge.NewLibrary(knowledge.Options{
		Contexts: in.shelf, Documents: in.shelf, Index: in.shelf, Embedder: &moody{away: away}, Batch: 4,
	})
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]tool.Tool{}
	for _, one := range builtin.Tools(builtin.Parts{Intake: in.library, Files: in.files}) {
		have[one.Name()] = one
	}
	for _, s := range specs {
		if one, ok := have[s.Name]; ok && (strings.HasPrefix(s.Name, "ingest.") || s.Name == tool.ParseForeign) {
			in.Tool(s.Name, s, one.Run)
		}
	}
	c, err := in.shelf.CreateContext(t.Context(), activitiestest.Viewer, knowledge.Context{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	in.context = c.ID
	return in
}

// put makes a document of a file with this text.
func (in *intake) put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(in.files.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := in.shelf.PutDocument(t.Context(), activitiestest.Viewer, knowledge.Document{ContextID: in.context, Path: "files/" + name, Title: name})
	if err != nil {
		t.Fatal(err)
	}
	return d.ID
}

// bring runs the graph for a document, and returns what has become of both.
func (in *intake) bring(t *testing.T, id, path string) (run.End, knowledge.Document) {
	t.Helper()
	b := setup(t, in.World)
	r := in.Run(run.KindIngest, activities.IngestInput{DocumentID: id, Path: path})
	b.env.ExecuteWorkflow(workflows.IngestType, r)
	d, err := in.shelf.Document(t.Context(), activitiestest.Viewer, id)
	if err != nil {
		t.Fatal(err)
	}
	return in.Ended[r.RunID], d
}

func manySections(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "# Section %d\n\nThe rule of section %d concerns the number %d and nothing else.\n\n", i, i, i*7)
	}
	return b.String()
}

// Requirements: GRAPH-24 (ingestion), RAG-19
func TestADocumentComesInBatchByBatchAndTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	in := newIntake(t, func(call int32) bool { return call == 2 || call == 5 }) // one that hiccups
	id := in.put(t, "rules.md", manySections(22))
	end, d := in.bring(t, id, "files/rules.md")
	if end.Status != run.Done || d.Status != knowledge.Ready || d.Chunks != 22 {
		t.Fatalf("the run ended %s %s, the document is %s with %d chunks", end.Status, end.Error, d.Status, d.Chunks)
	}
	if in.shelf.Writes != 22 || in.Count("embed") != 8 || in.Count("index") != 6 {
		t.Errorf("%d chunks written, %d batches embedded, %d indexed", in.shelf.Writes, in.Count("embed"), in.Count("index"))
	}
	last := in.Event(stream.Progress)
	if last["done"] != 22.0 || last["total"] != 22.0 {
		t.Errorf("the last progress is %v", last)
	}
	if end, d = in.bring(t, id, "files/rules.md"); end.Status != run.Done || d.Status != knowledge.Ready || in.shelf.Writes != 22 || in.Count("chunk") != 1 {
		t.Errorf("read in again: %s, %d chunks written", end.Status, in.shelf.Writes)
	}
}

// Requirements: GRAPH-24 (ingestion), RAG-19
func TestAnEncoderThatStaysAwayIsToldOnTheDocumentAndCostsNothingTwice(t *testing.T) {
	t.Parallel()
	var back atomic.Bool
	in := newIntake(t, func(call int32) bool { return call > 3 && !back.Load() })
	id := in.put(t, "rules.md", manySections(22))
	end, d := in.bring(t, id, "files/rules.md")
	if end.Status != run.Done || d.Status != knowledge.Failed || !strings.Contains(d.Error, "does not answer") {
		t.Fatalf("the run ended %s, the document is %s: %q", end.Status, d.Status, d.Error)
	}
	written := in.shelf.Writes
	back.Store(true)
	if end, d = in.bring(t, id, "files/rules.md"); end.Status != run.Done || d.Status != knowledge.Ready || d.Error != "" {
		t.Fatalf("the run ended %s, the document is %s: %q", end.Status, d.Status, d.Error)
	}
	if written == 0 || in.shelf.Writes != 22 {
		t.Errorf("%d chunks were written before, %d in all", written, in.shelf.Writes)
	}
}

// Requirements: RAG-02 (further parsers as tool.spec), RAG-05
func TestAForeignFileIsReadByARegisteredToolOrPassedOver(t *testing.T) {
	t.Parallel()
	never := func(int32) bool { return false }
	song := "MThd\x00\x00\x00\x06"
	in := newIntake(t, never)
	end, d := in.bring(t, in.put(t, "song.mid", song), "files/song.mid")
	if end.Status != run.Done || d.Status != knowledge.Skipped || !strings.Contains(d.Error, "song.mid") {
		t.Errorf("nobody reads it: %s, %s: %q", end.Status, d.Status, d.Error)
	}
	in = newIntake(t, never)
	in.Tool("parse.midi", tool.Spec{Reads: []string{".MID"}}, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if c.Inputs["path"] != "files/song.mid" {
			return nil, fault.New(fault.Invalid, "There is no such file.")
		}
		return map[string]any{"title": "A song", "text": "# Verse\n\nThe moon has risen.", "format": "markdown"}, nil
	})
	end, d = in.bring(t, in.put(t, "song.mid", song), "files/song.mid")
	if end.Status != run.Done || d.Status != knowledge.Ready || d.Title != "A song" || in.Count("accept") != 1 {
		t.Errorf("with a reader: %s %s, %s %q %q", end.Status, end.Error, d.Status, d.Title, d.Error)
	}
	if _, d = in.bring(t, in.put(t, "a.md", "# A\n\nThe program reads this itself."), "files/a.md"); d.Status != knowledge.Ready || in.Count("accept") != 1 {
		t.Errorf("its own kind of file: %s %q", d.Status, d.Error)
	}
}

// A run that opened before the graph had batches follows the one it is pinned
// to, and its tools are still there. So does a copy that a person has edited.
//
// Requirements: PLAT-08, GRAPH-24 (ingestion)
func TestTheFormerIngestGraphStillBringsDocumentsIn(t *testing.T) {
	t.Parallel()
	in := newIntake(t, func(int32) bool { return false })
	in.Workflows["ingest"] = `{"kind":"workflow.chat","entrypoint":"parse","timeout_ms":86400000,"nodes":[
		{"id":"parse","type":"tool_call","tool":"ingest.parse_v1","inputs":{"document_id":"${input.document_id}"},"timeout_ms":600000,"on_error":"failed","next":"chunk"},
		{"id":"chunk","type":"tool_call","tool":"ingest.chunk_v1","inputs":{"document_id":"${input.document_id}"},"timeout_ms":600000,"on_error":"failed","next":"index"},
		{"id":"index","type":"tool_call","tool":"ingest.index_v1","inputs":{"document_id":"${input.document_id}"},"timeout_ms":3600000,"on_error":"failed","next":"done"},
		{"id":"done","type":"end","response":"","data":{"chunks":"${vars.index.chunks}"}},
		{"id":"failed","type":"tool_call","tool":"ingest.fail_v1","inputs":{"document_id":"${input.document_id}","error":"${vars.error}"},"timeout_ms":15000}]}`
	end, d := in.bring(t, in.put(t, "rules.md", manySections(22)), "files/rules.md")
	if end.Status != run.Done || d.Status != knowledge.Ready || in.shelf.Writes != 22 {
		t.Errorf("the run ended %s %s, the document is %s with %d chunks", end.Status, end.Error, d.Status, in.shelf.Writes)
	}
	end, d = in.bring(t, in.put(t, "photo.bin", "\x00\x01\x02"), "files/photo.bin")
	if end.Status != run.Done || d.Status != knowledge.Skipped || !strings.Contains(d.Error, "photo.bin") {
		t.Errorf("a file nobody reads: the run ended %s %s, the document is %s: %q", end.Status, end.Error, d.Status, d.Error)
	}
}

// On a machine with no time to spare the heartbeats of a step come too late again
// and again. Nothing is wrong with the file.
//
// Requirements: RAG-19
func TestAGoodFileOutlivesAWorkerThatGivesItsStepsUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times int32
		want  knowledge.DocumentStatus
	}{"often": {10, knowledge.Ready}, "for ever": {1000, knowledge.Failed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var away atomic.Int32
			var silence time.Duration // that is borne of a worker in the last attempt
			in := newIntake(t, func(int32) bool { return false })
			read := in.Funcs["ingest.extract_v1"]
			in.Funcs["ingest.extract_v1"] = func(ctx context.Context, call *tool.Call) (map[string]any, error) {
				silence = activity.GetInfo(ctx).HeartbeatTimeout
				if away.Add(1) <= c.times {
					return nil, temporal.NewApplicationError(activities.StoppedMessage, activities.TypeStopped)
				}
				return read(ctx, call)
			}
			id := in.put(t, "rules.md", manySections(3))
			end, d := in.bring(t, id, "files/rules.md")
			if d.Status != c.want {
				t.Fatalf("the run ended %s %s, the document is %s: %s", end.Status, end.Error, d.Status, d.Error)
			}
			if silence < 20*time.Second {
				t.Errorf("a worker may be silent for %s in the end", silence)
			}
			if tries := away.Load(); c.want == knowledge.Failed && (tries > 20 || d.Error != activities.StoppedMessage) {
				t.Errorf("after %d tries it says %q", tries, d.Error)
			}
		})
	}
}
