package extractive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/knowledgetest"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

// desk is a library with documents in one context.
type desk struct {
	texts   knowledge.Documents
	library *knowledge.Library
	viewer  identity.Viewer
	context string
	titles  map[string]string // document id by file name
	model   extractive.Model
}

type openFile struct{ *os.File }

func (f openFile) Size() int64 {
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}

// newDesk takes in every file of paths.
func newDesk(t testing.TB, paths ...string) *desk {
	t.Helper()
	ctx := context.Background()
	shelf := knowledgetest.New()
	d := &desk{texts: shelf, viewer: identity.Viewer{UserID: "u"}, titles: map[string]string{}}
	d.library = knowledge.NewLibrary(knowledge.Options{Contexts: shelf, Documents: shelf, Index: shelf, Embedder: embed.Hash{}})
	t.Cleanup(func() { _ = d.library.Close() })
	c, err := shelf.CreateContext(ctx, d.viewer, knowledge.Context{Name: "all"})
	must(t, err)
	d.context = c.ID
	for _, p := range paths {
		doc, err := shelf.PutDocument(ctx, d.viewer, knowledge.Document{ContextID: c.ID, Path: filepath.Base(p)})
		must(t, err)
		_, err = d.library.Read(ctx, d.viewer, doc.ID, "", func(context.Context, identity.Viewer, string) (knowledge.File, error) {
			f, err := os.Open(p)
			return openFile{f}, err
		})
		must(t, err)
		_, err = d.library.Store(ctx, d.viewer, doc.ID, nil)
		must(t, err)
		d.titles[filepath.Base(p)] = doc.ID
	}
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask searches and answers, as the default workflow does.
func (d *desk) ask(t testing.TB, question string, documents ...string) (knowledge.Found, string, []model.Event) {
	t.Helper()
	ctx := context.Background()
	found, err := d.library.Search(ctx, d.viewer, knowledge.Question{Text: question, ContextIDs: []string{d.context}, DocumentIDs: documents})
	must(t, err)
	var content []model.Block
	for _, p := range found.Passages {
		content = append(content, model.Block{Type: model.Passage, Text: p.Text, Source: &p.Source})
	}
	content = append(content, model.Block{Type: model.Text, Text: question})
	var text strings.Builder
	var citations []model.Event
	for e, err := range d.model.Stream(ctx, model.Request{Task: extractive.TaskAnswer, Messages: []model.Message{{Role: model.User, Content: content}}}) {
		must(t, err)
		switch e.Type {
		case model.TextDelta:
			text.WriteString(e.Text)
		case model.Citation:
			citations = append(citations, e)
			d.exact(t, e)
		default:
		}
	}
	return found, text.String(), citations
}

// exact fails unless a citation stands in the stored text where it says.
func (d *desk) exact(t testing.TB, e model.Event) {
	t.Helper()
	x, err := d.texts.Text(context.Background(), d.viewer, e.Source.DocumentID)
	must(t, err)
	if e.Source.End > len(x.Text) || x.Text[e.Source.Start:e.Source.End] != e.Quote {
		t.Errorf("quote %q does not stand at %d..%d", e.Quote, e.Source.Start, e.Source.End)
	}
}

// asked is one line of a question file.
type asked struct {
	Question string `json:"q"`
	Kind     string `json:"kind"` // fact, off, several, vague
	Expect   string `json:"expect"`
	Document string `json:"doc"` // of a several question: the choice, by a part of its file name
}

// TestSeeds measures the whole path over documents that are not part of the
// repository: LIMINAL_EVAL is a folder of documents, LIMINAL_QUESTIONS a file
// of JSON lines. It prints a table.
func TestSeeds(t *testing.T) {
	dir, file := os.Getenv("LIMINAL_EVAL"), os.Getenv("LIMINAL_QUESTIONS")
	if dir == "" || file == "" {
		t.Skip("set LIMINAL_EVAL and LIMINAL_QUESTIONS to measure over documents of your own")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	d := newDesk(t, paths...)
	raw, err := os.ReadFile(file)
	must(t, err)
	right := map[string]int{}
	total := map[string]int{}
	first := 0
	for line := range strings.Lines(string(raw)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var a asked
		must(t, json.Unmarshal([]byte(line), &a))
		total[a.Kind]++
		ok, note := d.grade(t, a)
		if ok {
			right[a.Kind]++
		}
		if a.Kind == "fact" && strings.HasPrefix(note, "first") {
			first++
		}
		t.Logf("%-4v %-7s %s\n     %s", map[bool]string{true: "ok", false: "BAD"}[ok], a.Kind, a.Question, note)
	}
	t.Logf("facts in the first quote: %d", first)
	for kind, n := range total {
		t.Logf("%s: %d of %d", kind, right[kind], n)
	}
}

// grade asks one question and tells whether the behaviour is right.
func (d *desk) grade(t testing.TB, a asked) (bool, string) {
	found, text, citations := d.ask(t, a.Question)
	scores := ""
	for _, c := range found.Documents {
		scores += fmt.Sprintf(" %.24s=%.2f", c.Title, c.Score)
	}
	note := fmt.Sprintf("[%s %s avg %.2f |%s] %s", found.Clarity, found.Confidence, found.AverageSimilarity, scores, knowledge.Fold(text))
	if len(citations) > 0 && strings.Contains(knowledge.Fold(citations[0].Quote), a.Expect) {
		note = "first " + note
	}
	quoted := ""
	for _, c := range citations {
		quoted += knowledge.Fold(c.Quote) + "\n"
	}
	switch a.Kind {
	case "fact":
		return found.Clarity == knowledge.Clear && strings.Contains(quoted, a.Expect), note
	case "off":
		return found.Clarity == knowledge.Nothing && len(citations) == 0, note
	case "vague":
		return found.Clarity == knowledge.Vague, note
	}
	if found.Clarity != knowledge.Several {
		return false, note
	}
	for name, id := range d.titles {
		if strings.Contains(name, a.Document) {
			_, text, citations := d.ask(t, a.Question, id)
			ok := len(citations) > 0
			for _, c := range citations {
				ok = ok && c.Source.DocumentID == id
			}
			return ok, note + "\n     -> " + knowledge.Fold(text)
		}
	}
	return false, note + " (no such document)"
}
