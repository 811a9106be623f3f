package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// Requirements: TOOL-12 (file tools)
func TestFilesAreListedReadAndWritten(t *testing.T) {
	t.Parallel()
	c := filed(t, map[string]string{"files/a.md": "Grüße an alle", "files/b.bin": "a\x00b"})
	p := builtin.Parts{Files: c}
	listed := must(t, p, "files.list_v1", &tool.Call{})
	if n := len(listed["files"].([]any)); n != 2 {
		t.Errorf("%d files", n)
	}
	if n := len(must(t, p, "files.list_v1", &tool.Call{Inputs: inputs("folder", "files/sub")})["files"].([]any)); n != 0 {
		t.Errorf("%d files in an empty folder", n)
	}
	var whole strings.Builder
	for offset, more := 0.0, true; more; { // 3 bytes cut the characters in two
		part := must(t, p, "files.read_v1", &tool.Call{Inputs: inputs("path", "files/a.md", "offset", offset, "limit", 3.0)})
		whole.WriteString(part["text"].(string))
		offset += float64(len(part["text"].(string)))
		more, _ = part["more"].(bool)
	}
	if whole.String() != "Grüße an alle" {
		t.Errorf("read %q", whole.String())
	}
	for path, code := range map[string]fault.Code{"files/b.bin": fault.Invalid, "files/none.md": fault.NotFound} {
		if _, err := run(t, p, "files.read_v1", &tool.Call{Inputs: inputs("path", path)}); !errors.Is(err, code) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, created := range []bool{true, false} {
		out := must(t, p, "files.write_v1", &tool.Call{Inputs: inputs("path", "files/new.md", "text", " as is\n")})
		if out["created"] != created || out["size"] != 7.0 {
			t.Errorf("%v", out)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(c.dir, "files/new.md")); string(got) != " as is\n" {
		t.Errorf("wrote %q", got)
	}
}

// Requirements: GRAPH-24 (ingestion)
func TestIngestionTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	p := builtin.Parts{Files: filed(t, map[string]string{"files/notes.md": "12345"}), Intake: &reader{}}
	l, beats := &log{}, 0
	read := must(t, p, "ingest.parse_v1", &tool.Call{Inputs: inputs("document_id", "d"), Emit: l.emit})
	if read["length"] != 5.0 {
		t.Errorf("%v", read)
	}
	must(t, p, "ingest.chunk_v1", &tool.Call{Inputs: inputs("document_id", "d")})
	done := must(t, p, "ingest.index_v1", &tool.Call{Inputs: inputs("document_id", "d"), Emit: l.emit, Heartbeat: func(any) { beats++ }})
	if done["chunks"] != 3.0 || beats != 2 || !strings.Contains(l.told(stream.Progress), `"done":3,"message":"Indexing the passages…","total":3`) {
		t.Errorf("%v, %d heartbeats, %s", done, beats, l.told(stream.Progress))
	}
}

// What the encoder gave reaches the index as it was, by way of the run's
// history; what the run carries on is without it.
//
// Requirements: GRAPH-24 (ingestion), RAG-19
func TestABatchOfPassagesTravelsFromTheEncoderToTheIndex(t *testing.T) {
	t.Parallel()
	r, l := &reader{}, &log{}
	p := builtin.Parts{Files: filed(t, map[string]string{"files/notes.md": "12345"}), Intake: r}
	if read := must(t, p, "ingest.extract_v1", &tool.Call{Inputs: inputs("document_id", "d"), Emit: l.emit}); read["outcome"] != "extracted" {
		t.Errorf("%v", read)
	}
	batches := must(t, p, "ingest.cut_v1", &tool.Call{Inputs: inputs("document_id", "d")})["batches"].([]any)
	for _, b := range batches {
		span := b.(map[string]any)
		embedded := must(t, p, "ingest.embed_v1", &tool.Call{Inputs: inputs("document_id", "d", "from", span["from"], "to", span["to"])})
		stored := must(t, p, "ingest.shelve_v1", &tool.Call{Inputs: inputs("document_id", "d", "parcel", embedded["parcel"]), Emit: l.emit})
		if rest := stored["parcel"].(map[string]any); rest["vectors"] != "" {
			t.Errorf("the run carries on %v", rest)
		}
	}
	if len(r.indexed) != 2 || r.indexed[1].From != 2 || r.indexed[0].Encoder != "e" || !slices.Equal(r.indexed[0].Vectors[1], []float32{1, -1.5}) {
		t.Errorf("indexed %+v", r.indexed)
	}
	if !strings.Contains(l.told(stream.Progress), `"done":3,"message":"Indexing the passages…","total":3`) {
		t.Errorf("told %s", l.told(stream.Progress))
	}
	bad := inputs("document_id", "d", "parcel", inputs("from", 0.0, "to", 1.0, "dim", 2.0, "indices", []any{0.0}, "vectors", "AAAA"))
	if _, err := run(t, p, "ingest.shelve_v1", &tool.Call{Inputs: bad, Emit: l.emit}); !errors.Is(err, fault.Invalid) {
		t.Errorf("damaged vectors: %v", err)
	}
}

// Requirements: GRAPH-24 (ingestion)
func TestAFailedDocumentSaysWhy(t *testing.T) {
	t.Parallel()
	for want, cause := range map[string]any{
		"The file is no PDF.":                    map[string]any{"node": "parse", "code": "validation_error", "message": "The file is no PDF."},
		"Too large.":                             "Too large.",
		"The document could not be read in. Try": nil,
	} {
		r := &reader{}
		out := must(t, builtin.Parts{Intake: r, Files: filed(t, nil)}, "ingest.fail_v1", &tool.Call{Inputs: inputs("document_id", "d", "error", cause)})
		if r.failed == nil || !strings.HasPrefix(out["error"].(string), want) {
			t.Errorf("%v: %v", cause, out)
		}
	}
}

// Requirements: TOOL-02
func TestAModelCanReadWhatToolsThereAre(t *testing.T) {
	t.Parallel()
	p := builtin.Parts{Catalog: fullCatalog(t), Search: clear()}
	page := must(t, p, "artifacts.list_v1", &tool.Call{Inputs: inputs("type", "tool")})
	first := page["artifacts"].([]any)[0].(map[string]any)
	for _, in := range []map[string]any{inputs("id", first["id"]), inputs("type", "tool", "name", first["name"])} {
		out := must(t, p, "artifacts.read_v1", &tool.Call{Inputs: in})
		if schema, _ := out["schema"].(map[string]any); schema["name"] != first["name"] || schema["input_schema"] == nil {
			t.Errorf("%v", out)
		}
	}
	if _, err := run(t, p, "artifacts.read_v1", &tool.Call{}); !errors.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// A base is the folder that paths are relative to, and no path leads out of it.
//
// Requirements: CLAUDE-07, CLAUDE-13
func TestPathsBelowABaseLeadNowhereElse(t *testing.T) {
	t.Parallel()
	p := builtin.Parts{Files: filed(t, map[string]string{"files/a.md": "Eins\nZWEI Grüße", "files/b.bin": "zwei\x00"})}
	read := func(path string) (string, error) {
		out, err := run(t, p, "files.read_v1", &tool.Call{Inputs: inputs("path", path, "base", "files")})
		text, _ := out["text"].(string)
		return text, err
	}
	for _, path := range []string{"a.md", "./a.md", ".//a.md"} {
		if text, err := read(path); err != nil || text != "Eins\nZWEI Grüße" {
			t.Errorf("%q: %q, %v", path, text, err)
		}
	}
	for _, path := range []string{"../a.md", "x/../../files/a.md", "/files/a.md", "~/a.md", `..\a.md`, "a/..", ".."} {
		for _, name := range []string{"files.read_v1", "files.dir_v1", "files.search_v1", "files.write_v1"} {
			in := inputs("path", path, "base", "files")
			if name == "files.search_v1" {
				in["query"] = "x"
			}
			if name == "files.write_v1" {
				in["text"] = "x"
			}
			if _, err := run(t, p, name, &tool.Call{Inputs: in}); !errors.Is(err, fault.Invalid) {
				t.Errorf("%s of %q: %v", name, path, err)
			}
		}
	}
	found := must(t, p, "files.search_v1", &tool.Call{Inputs: inputs("query", "zwei", "base", "files")})
	if found["text"] != "a.md:2: ZWEI Grüße" || found["more"] != false {
		t.Errorf("found %v", found)
	}
	if none := must(t, p, "files.search_v1", &tool.Call{Inputs: inputs("query", "drei", "base", "files")}); none["text"] != "Nothing found." {
		t.Errorf("found %v", none)
	}
	if listed := must(t, p, "files.dir_v1", &tool.Call{Inputs: inputs("path", ".", "base", "files")}); listed["text"] != "a.md (1 byte)\nb.bin (1 byte)" {
		t.Errorf("listed %v", listed)
	}
	long := must(t, p, "files.read_v1", &tool.Call{Inputs: inputs("path", "a.md", "base", "files", "limit", 4.0)})
	if long["text"] != "Eins" || long["notice"] != "The file has 17 bytes and goes on from offset 4." {
		t.Errorf("read %v", long)
	}
}
