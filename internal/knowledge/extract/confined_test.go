//go:build !race

package extract_test

// The race detector's own memory is beyond the bounds of a reading process, so
// these run without it (make engine).

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
	"liminal/internal/knowledge/extract"
)

// small is how large a hostile file may be that lies in testdata/hostile; a
// larger one is made anew each time.
const small = 130 << 10

// Whatever a file is, its reading ends within bounds of time and memory, gives
// a text or says in a sentence why not, and leaves this process as it was. A
// file dropped into testdata/hostile is a test; -update writes there what is
// made by hostileFiles and small.
//
// Requirements: RAG-05
func TestHostileFilesEndWithinTheirBounds(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	unhurried := confined()
	warm(t, unhurried) // makes the code that the others find
	p := extract.Hurried(unhurried, time.Second)
	files := hostile(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			raw := files[name]()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			x, err := p.Parse(t.Context(), name, "", bytes.NewReader(raw), int64(len(raw)))
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err != nil && (!errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name)) {
				t.Errorf("it ended with %v", err)
			}
			if err == nil && (len(x.Text) > extract.MaxText || len(x.Title) > 1000) {
				t.Errorf("a text of %d bytes, a title of %d", len(x.Text), len(x.Title))
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 400 {
				t.Errorf("%d bytes took %d MB of this process", len(raw), used)
			}
			if took > 2*time.Minute { // of a busy machine
				t.Errorf("it took %v", took)
			}
		})
	}
	if most := childrenMemory(); most > extract.ReadMemory+512<<20 { // with the program itself, and what comes between two looks: 663 MB at a load of ten
		t.Errorf("a reading process had %d MB", most>>20)
	}
	warm(t, unhurried)
}

// warm reads a good file.
func warm(t *testing.T, p *extract.Parsers) {
	t.Helper()
	good := page("", "", "BT /F1 24 Tf 72 700 Td (Hello durable world) Tj ET")
	x, err := p.Parse(t.Context(), "good.pdf", "", bytes.NewReader(good), int64(len(good)))
	if err != nil || !strings.Contains(x.Text, "Hello durable world") {
		t.Fatalf("a good file gives %q, %v", x.Text, err)
	}
}

// hostile are the files of testdata/hostile and the large ones.
func hostile(t *testing.T) map[string]func() []byte {
	t.Helper()
	const dir = "testdata/hostile"
	files := map[string]func() []byte{}
	for name, content := range hostileFiles(t) {
		file := filepath.Join(dir, name)
		if *update {
			if raw := content(); len(raw) <= small {
				if err := os.WriteFile(file, raw, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := os.Stat(file); err != nil {
			files[name] = content
		}
	}
	kept, err := os.ReadDir(dir)
	if err != nil || len(kept) < 10 {
		t.Fatalf("%d files in %s, %v", len(kept), dir, err)
	}
	for _, f := range kept {
		files[f.Name()] = func() []byte {
			raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
	}
	return files
}

// Two kilobytes of flate in flate took two gigabytes of the server.
//
// Requirements: RAG-05
func TestADocumentThatNeedsTooMuchMemoryIsToldSo(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/hostile/flate-of-flate.pdf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = confinedApart(t).Parse(t.Context(), "bomb.pdf", "", bytes.NewReader(raw), int64(len(raw)))
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "MiB of memory to be read") || !strings.Contains(err.Error(), `"bomb.pdf"`) {
		t.Errorf("%v", err)
	}
}

// Requirements: RAG-05
func TestADocumentThatTakesTooLongIsToldSo(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/hostile/states-repeated.pdf")
	if err != nil {
		t.Fatal(err)
	}
	p := extract.Hurried(confinedApart(t), 500*time.Millisecond)
	_, err = p.Parse(t.Context(), "slow.pdf", "", bytes.NewReader(raw), int64(len(raw)))
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "of computing to be read") {
		t.Errorf("%v", err)
	}
}

// A page that is named again and again is not read again and again.
//
// Requirements: RAG-05
func TestAPageNamedThousandsOfTimesIsRefused(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/hostile/pages-repeated.pdf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = confinedApart(t).Parse(t.Context(), "many.pdf", "", bytes.NewReader(raw), int64(len(raw)))
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "9900 pages that show the same") {
		t.Errorf("%v", err)
	}
}

// Requirements: RAG-02 (PDF), RAG-05
func TestAnOutlineThatLeadsInACircleIsLeftOut(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/hostile/outline-endless.pdf")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, err := parsers().Parse(ctx, "circle.pdf", "", bytes.NewReader(raw), int64(len(raw)))
	if err != nil || !strings.Contains(x.Text, "Hello durable world") {
		t.Errorf("%q, %v", x.Text, err)
	}
}

// What is read in another process is the same as what is read in this one.
//
// Requirements: RAG-02 (PDF)
func TestConfinedParsersReadTheSame(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/parse/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "testdata/tower.pdf", "testdata/manual.pdf") {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		here, err := parsers().Parse(t.Context(), name, "", bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		there, err := confinedApart(t).Parse(t.Context(), name, "", bytes.NewReader(raw), int64(len(raw)))
		if err != nil || here.Text != there.Text || here.Title != there.Title || here.Pages != there.Pages || !slices.Equal(here.Blocks, there.Blocks) {
			t.Errorf("%s is read otherwise: %v", name, err)
		}
	}
}

// What a person may do about a file of no known type is decided by who asked.
//
// Requirements: RAG-05
func TestAConfinedRefusalIsTheSameRefusal(t *testing.T) {
	t.Parallel()
	raw := zipped(t, map[string]string{"a.txt": "text"})
	_, here := parsers().Parse(t.Context(), "a.zip", "", bytes.NewReader(raw), int64(len(raw)))
	_, there := confinedApart(t).Parse(t.Context(), "a.zip", "", bytes.NewReader(raw), int64(len(raw)))
	if here == nil || there == nil || here.Error() != there.Error() || fault.CodeOf(here) != fault.CodeOf(there) {
		t.Errorf("here %v\nthere %v", here, there)
	}
}

// Requirements: RAG-05
func TestAStoppedReadingInAnotherProcessEnds(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/hostile/states-repeated.pdf")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(500*time.Millisecond, cancel)
	defer stop.Stop()
	if _, err := confinedApart(t).Parse(ctx, "a.pdf", "", bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

var sharedCode = sync.OnceValue(func() string { return filepath.Join(readersDir(), "apart") })

// confinedApart are confined parsers with the program's own bounds.
func confinedApart(t *testing.T) *extract.Parsers {
	t.Helper()
	self, err := cell.Self(readDocuments)
	if err != nil {
		t.Fatal(err)
	}
	p := extract.NewConfined(self, sharedCode())
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
