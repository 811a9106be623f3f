package textfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/model"
	"liminal/internal/model/modeltest"
	"liminal/internal/model/textfile"
)

// desk is a folder with a program that answers in it: it sees a question as the
// script that wakes it does, and writes pieces of an answer one after the other.
type desk struct {
	dir   string
	model *textfile.Model
}

func open(t *testing.T, quiet time.Duration, answer func(prompt string, write func(string))) *desk {
	t.Helper()
	d := &desk{dir: filepath.Join(t.TempDir(), "answers")}
	d.model = textfile.New(textfile.Options{Folder: func(string) string { return d.dir }, Quiet: quiet})
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	t.Cleanup(func() { stop(); <-over })
	go func() {
		defer close(over)
		seen := map[string]bool{}
		for ctx.Err() == nil {
			found, _ := filepath.Glob(filepath.Join(d.dir, "*.prompt.md"))
			for _, path := range found {
				if seen[path] {
					continue
				}
				seen[path] = true
				prompt, err := os.ReadFile(path)
				if errors.Is(err, fs.ErrNotExist) { // who asked is gone
					continue
				}
				if err != nil {
					t.Error(err)
				}
				d.write(t, strings.TrimSuffix(path, ".prompt.md")+".txt", string(prompt), answer)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return d
}

func (d *desk) write(t *testing.T, path, prompt string, answer func(string, func(string))) {
	answer(prompt, func(piece string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(piece)
			err = errors.Join(err, f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the test is over
			t.Error(err)
		}
	})
}

func asking(text string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: text}}}}}
}

// Requirements: GRND-42
func TestAModelOfTextFilesIsAModel(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Setup{
		Open: func(t *testing.T) model.Model {
			return open(t, time.Minute, func(prompt string, write func(string)) {
				write("Grüße")
				if !strings.Contains(prompt, "endless") {
					write(" an alle.\n" + textfile.End + "\n")
				}
			}).model
		},
		Text: asking("Say hello"), Endless: asking("endless"),
	})
}

// An answer is told as it grows, letter by whole letter, without the line that
// ends it, and what only looks like that line is told.
//
// Requirements: GRND-42
func TestAnAnswerIsToldAsItsFileGrows(t *testing.T) {
	t.Parallel()
	told := make(chan string)
	d := open(t, time.Minute, func(prompt string, write func(string)) {
		if !strings.Contains(prompt, "# Instructions\n\nBe brief.") || !strings.Contains(prompt, "# The person\n\nWas steht an?") || !strings.Contains(prompt, textfile.End) {
			t.Errorf("asked with\n%s", prompt)
		}
		for _, piece := range []string{"Gr\xc3", "\xbc", "ße\n[en", "tweder\n\n---\n[meta]\nused_tools: a\n[/meta]\n[en", "d]\nnever"} {
			write(piece)
			if !strings.HasSuffix(piece, "never") {
				<-told
			}
		}
	})
	var pieces []string
	all := ""
	for e, err := range d.model.Stream(t.Context(), *asking("Was steht an?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == model.TextDelta {
			pieces = append(pieces, e.Text)
			all += e.Text
			told <- e.Text
		}
	}
	if want := "Grüße\n[entweder\n\n---\n[meta]\nused_tools: a\n[/meta]"; all != want || len(pieces) != 4 {
		t.Errorf("told %q", pieces)
	}
}

// A program that forgets how to end has ended when it has been still for a while;
// one that never begins is waited for as long as whoever asks wants to.
func TestAnAnswerThatIsStillHasEnded(t *testing.T) {
	t.Parallel()
	d := open(t, 150*time.Millisecond, func(prompt string, write func(string)) {
		if strings.Contains(prompt, "hello") {
			write("Hello\xff")
		}
	})
	if got := modeltest.Text(modeltest.Play(t, d.model, *asking("hello"))); got != "Hello\uFFFD" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	for e, err := range d.model.Stream(ctx, *asking("nobody")) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", e, err)
		}
	}
}

// The folder is its owner's alone, and the turn names the files.
//
// Requirements: GRND-42
func TestTheFilesAreNamedAfterTheirTurnInAFolderOfTheirOwn(t *testing.T) {
	t.Parallel()
	d := open(t, time.Minute, func(_ string, write func(string)) { write("yes\n" + textfile.End) })
	turn := id.New()
	m := textfile.New(textfile.Options{Folder: func(name string) string {
		if name != "desk" {
			t.Errorf("asked of %q", name)
		}
		return d.dir
	}, Turn: func(context.Context) string { return turn }})
	req := *asking("yes?")
	req.Model = "desk"
	for range 2 { // a turn asks more than once
		if got := modeltest.Text(modeltest.Play(t, m, req)); got != "yes" {
			t.Errorf("%q", got)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(d.dir, turn+".txt")); err != nil || string(raw) != "yes\n"+textfile.End {
		t.Errorf("%q, %v", raw, err)
	}
	if found, _ := filepath.Glob(filepath.Join(d.dir, "*.txt")); len(found) != 2 {
		t.Errorf("%v", found)
	}
	turn = id.NewUnkept()
	if got := modeltest.Text(modeltest.Play(t, m, req)); got != "yes" {
		t.Errorf("%q", got)
	}
	if left, err := os.ReadDir(d.dir); err != nil || len(left) != 4 {
		t.Errorf("of a turn of which nothing is kept there is %v, %v", left, err)
	}
	if info, err := os.Stat(d.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(d.dir, 0o755); err != nil { //nolint:gosec // what is refused
		t.Fatal(err)
	}
	for _, err := range m.Stream(t.Context(), req) {
		if fault.Reason(err) != fault.NotConfigured {
			t.Errorf("a folder that others read: %v", err)
		}
	}
}

// Requirements: GRND-42
func TestFilesAreKeptForThirtyDays(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{
		id.NewUnkept() + ".txt": 2 * time.Hour, id.NewUnkept() + ".prompt.md": time.Minute,
		id.New() + ".txt": textfile.Kept + time.Hour, id.New() + ".prompt.md": textfile.Kept + time.Hour,
		id.New() + ".txt.x": textfile.Kept - time.Hour, "notes.txt": 2 * textfile.Kept,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := textfile.Sweep(dir, textfile.Kept, now); n != 3 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 3 || err != nil {
		t.Errorf("%v left, %v", left, err)
	}
	if n, err := textfile.Sweep(filepath.Join(dir, "none"), textfile.Kept, now); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
