package extract_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/knowledge/extract"
)

// parsers are shared: compiling the PDF engine takes a second.
var parsers = sync.OnceValue(extract.New)

func parse(t testing.TB, name, content string) extract.Document {
	t.Helper()
	x, err := parsers().Parse(context.Background(), name, "", strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func headings(x extract.Document) []string {
	var out []string
	for _, b := range x.Blocks {
		if b.Kind == "heading" {
			out = append(out, b.Heading)
		}
	}
	return out
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Requirements: RAG-02 (markdown)
func TestMarkdownKeepsItsTextAndTellsItsHeadings(t *testing.T) {
	t.Parallel()
	text := "---\ntitle: \"Front\"\n---\n# One\n\nIntro.\n\nTwo\n---\n\n```sh\n# not a heading\n```\n\n### Three [link](x) `code` ###\n\n| a | b |\n|---|---|\n"
	x := parse(t, "notes.md", text)
	if x.Text != text {
		t.Errorf("the text was changed to %q", x.Text)
	}
	if x.Title != "Front" {
		t.Errorf("title %q", x.Title)
	}
	want(t, "headings", headings(x), []string{"One", "One › Two", "One › Two › Three link code"})
	kinds := map[string]string{}
	for _, b := range x.Blocks {
		kinds[b.Kind] += x.Text[b.Start:b.End] + "\n"
	}
	if !strings.Contains(kinds["code"], "# not a heading") || !strings.Contains(kinds["table"], "| a | b |") {
		t.Errorf("blocks %q", kinds)
	}
}

// Requirements: RAG-02 (text)
func TestPlainTextHeadingsAreFound(t *testing.T) {
	t.Parallel()
	x := parse(t, "notes.txt", "GENERAL RULES\n\n1.2 Opening hours\n\nOpen daily.\n\n1. Ring the bell.\n2. Wait.\n\nFees\n====\n\nNone.\n")
	want(t, "headings", headings(x), []string{"GENERAL RULES", "GENERAL RULES › 1.2 Opening hours", "Fees"})
}

// Requirements: RAG-02 (text)
func TestStoredTextIsClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, out string }{
		"line ends":    {"a\r\nb\rc", "a\nb\nc"},
		"NUL":          {strings.Repeat("text ", 60) + "\x00b", strings.Repeat("text ", 60) + "b"},
		"decomposed":   {"Mu\u0308nchen", "München"},
		"byte order":   {"\ufeffabc", "abc"},
		"soft hyphen":  {"Vor\u00adschrift", "Vorschrift"},
		"broken UTF-8": {"gut\xffe größe straße", "gut\ufffde größe straße"},
		"Windows-1252": {"Gr\xf6\xdfe f\xfcr 5 \x80", "Größe für 5 €"},
		"UTF-16":       {"\xff\xfeH\x00i\x00", "Hi"},
	} {
		if x := parse(t, "a.txt", c.in); x.Text != c.out {
			t.Errorf("%s: %q, want %q", name, x.Text, c.out)
		}
	}
}

// Requirements: RAG-02 (HTML)
func TestHTMLIsReadForItsContent(t *testing.T) {
	t.Parallel()
	x := parse(t, "page.html", `<!doctype html><html><head><title>Tea &amp; more</title><style>p{}</style></head><body>
	<nav><a href="/">Home</a><a href="/about">About</a></nav>
	<main><h1>Tea</h1><p>Green tea is brewed
	at <b>80</b>&nbsp;degrees.</p><h2>Steps</h2><ol><li>Boil water.<li>Wait.</ol>
	<table><tr><th>Tea</th><th>Minutes</th></tr><tr><td>Black</td><td>4</td></tr></table>
	<pre>brew --time 4
brew --stop</pre><p hidden>secret</p><script>alert(1)</script></main>
	<footer>Imprint</footer></body></html>`)
	if x.Title != "Tea & more" {
		t.Errorf("title %q", x.Title)
	}
	wantText := "Tea\n\nGreen tea is brewed at 80 degrees.\n\nSteps\n- Boil water.\n- Wait.\n\n| Tea | Minutes |\n| Black | 4 |\n\n```\nbrew --time 4\nbrew --stop\n```"
	if x.Text != wantText {
		t.Errorf("text %q\nwant %q", x.Text, wantText)
	}
	want(t, "headings", headings(x), []string{"Tea", "Tea › Steps"})
	nested := parse(t, "deep.html", strings.Repeat("<div>", 390)+"deep text"+strings.Repeat("</div>", 390)+"<p>after</p>")
	if !strings.Contains(nested.Text, "deep text") || !strings.Contains(nested.Text, "after") {
		t.Errorf("text %q", nested.Text)
	}
}

// refusal parses a file that must be refused, and returns the sentence.
func refusal(t *testing.T, p *extract.Parsers, name, mime string, content []byte) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, err := p.Parse(ctx, name, mime, bytes.NewReader(content), int64(len(content)))
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("%s: %v", name, err)
		return ""
	}
	return fault.From(err).Message
}

// Requirements: RAG-05
func TestWhatCannotBeReadIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	p := parsers()
	for _, c := range []struct {
		name, mime, content, want string
	}{
		{"photo.png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00", "Accepted are PDF"},
		{"scan.JPG", "image/jpeg", "\xff\xd8\xff\xe0\x00\x10JFIF", "Text in images is not recognised here (OCR)"},
		{"app.bin", "", "\x00\x01\x02\x03text", "Accepted are PDF"},
		{"notes.docx", "", "PK\x03\x04rest", "damaged"},
		{"what", "application/x-thing", "plain words", "Accepted are PDF"},
		{"empty.txt", "", "", "is empty"},
		{"blank.md", "", " \n\n ", "holds no text"},
		{"fake.pdf", "application/pdf", "This is not a PDF at all.", "named like a PDF but is not one"},
		{"abyss.html", "", strings.Repeat("<div>", 20_000), "too deeply"},
		{"fake.eml", "", "These are words, and no message.", "this is not an e-mail"},
		{"empty.eml", "", "X-Nothing: at all\n\nwords", "this is not an e-mail"},
		{"cut.pdf", "application/pdf", "%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "damaged"},
	} {
		if got := refusal(t, p, c.name, c.mime, []byte(c.content)); !strings.Contains(got, c.want) || !strings.Contains(got, c.name) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestATypeIsFoundByNameThenByMIME(t *testing.T) {
	t.Parallel()
	p := parsers()
	for name, mime := range map[string]string{"a.TXT": "", "readme": "text/plain; charset=utf-8", "a.MD": "application/octet-stream", "x": "text/x-unknown"} {
		if _, err := p.Parse(t.Context(), name, mime, strings.NewReader("words"), 5); err != nil {
			t.Errorf("%s of %q: %v", name, mime, err)
		}
	}
	for _, ext := range []string{".txt", ".md", ".html", ".pdf"} {
		if !strings.Contains(strings.Join(extract.Extensions(), " ")+" ", ext+" ") {
			t.Errorf("%s is not among the extensions", ext)
		}
	}
}

func parseFile(t *testing.T, p *extract.Parsers, path string) extract.Document {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.Parse(t.Context(), filepath.Base(path), "application/pdf", bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// tower.pdf was made by groff, manual.pdf by Chromium.
//
// Requirements: RAG-02 (PDF)
func TestPDFsKeepPagesHeadingsAndWholeWords(t *testing.T) {
	t.Parallel()
	p := parsers()
	tower := parseFile(t, p, "testdata/tower.pdf")
	if tower.Pages != 3 || tower.Title != "The Keeper’s Handbook" {
		t.Errorf("%d pages, title %q", tower.Pages, tower.Title)
	}
	want(t, "headings", headings(tower), []string{"1. The tower", "2. Duties", "2. Duties › 2.1. Maintenance", "3. Visitors"})
	manual := parseFile(t, p, "testdata/manual.pdf")
	if manual.Title != "Handbuch der Pumpstation" {
		t.Errorf("title %q", manual.Title)
	}
	for _, c := range []struct {
		x       extract.Document
		text    string
		page    int
		heading string
	}{
		{tower, "Its difficult staircase has 164 steps", 1, "1. The tower"},
		{tower, "the efficient operation of the lamp", 1, "1. The tower"},
		{tower, "The fog signal sounds every ninety seconds", 2, "2. Duties"},
		{tower, "The lens is cleaned with alcohol every Thursday.", 2, "2. Duties › 2.1. Maintenance"},
		{tower, "A guided tour costs seven euros", 3, "3. Visitors"},
		{manual, "Die Förderleistung beträgt höchstens 240 Kubikmeter", 1, "1 Überblick"},
		{manual, "Die Aufzeichnungen sind zehn Jahre aufzubewahren.", 2, "2 Wartung › 2.1 Prüfungen"},
		{manual, "unter der Nummer\n4711", 3, "3 Störungen"},
	} {
		found := false
		for _, block := range c.x.Blocks {
			if strings.Contains(c.x.Text[block.Start:block.End], c.text) {
				found = true
				if block.Page != c.page || block.Heading != c.heading {
					t.Errorf("%q stands on page %d under %q, want %d and %q", c.text, block.Page, block.Heading, c.page, c.heading)
				}
			}
		}
		if !found {
			t.Errorf("%q is not in the text", c.text)
		}
	}
}

// Requirements: RAG-02 (PDF)
func TestFootnotesOfAPDFAreNoHeadings(t *testing.T) {
	t.Parallel()
	x := extract.ComposePages(`1 Introduction
The tower was built in the year of the flood1 and has been
painted white ever since, which the keepers of the old light
did not like.2 It stands on a rock of granite.
2 Methods
All steps were counted twice by two people, on days without
any wind, and the CO2 of their breath was measured.
1 Compare the report of the harbour office
2 See Keepers of the Light, which tells of it at length and
quotes the letters
3 Results`, `The steps are 164, as was said in section 2.1 above and as
everybody knows who has climbed them.
4 Discussion
Nobody disagreed.`)
	want(t, "headings", headings(x), []string{"1 Introduction", "2 Methods", "4 Discussion"})
	for _, note := range []string{"\n1 Compare the report", "\n2 See Keepers of the Light"} {
		if !strings.Contains(x.Text, note) {
			t.Errorf("%q is not in %q", note, x.Text)
		}
	}
}

// Requirements: RAG-02 (text)
func TestNumberedAndCentredTitlesOfPlainTextAreHeadings(t *testing.T) {
	t.Parallel()
	x := parse(t, "terms.txt", `
                           ACME PUBLIC TERMS
                        Version 3, 29 June 2007
                         https://example.org/

 Copyright by nobody in particular.

                            Preamble

  The terms are meant to be read.

  0. Definitions.

  "Work" is a work.

  8. Beendigung der Rechte.

  You may not go on.

  1. Ring the bell.

  2. Wait for an answer.

  Nobody came.

  3. You must then send a letter.

  It is read.

              ACME PUBLIC TERMS
   TERMS AND CONDITIONS FOR COPYING

  4. Grant of License. Subject to these terms you may
go on.

  And on.
`)
	if x.Title != "ACME PUBLIC TERMS, Version 3, 29 June 2007" {
		t.Errorf("title %q", x.Title)
	}
	want(t, "headings", headings(x), []string{"", "Preamble", "0. Definitions", "8. Beendigung der Rechte", "TERMS AND CONDITIONS FOR COPYING"})
	if last := x.Blocks[len(x.Blocks)-1]; last.Heading != "4. Grant of License" || !strings.HasPrefix(strings.TrimSpace(x.Text[last.Start:last.End]), "4. Grant") {
		t.Errorf("the last block is %+v", last)
	}
}

// Requirements: RAG-02 (text)
func TestTheFirstLineAboveAHeadingIsTheTitle(t *testing.T) {
	t.Parallel()
	for text, title := range map[string]string{
		"Home Office Policy 2023\n\n1. Scope\n\nFor all.\n":          "Home Office Policy 2023",
		"Dear Martha\n\nIt is raining.\n":                            "",
		"Dear Martha,\n\n1. Scope\n\nFor all.\n":                     "",
		"Home Office Policy 2023\nof the company\n\n1. Scope\n\nx\n": "",
		"1. Scope\n\nFor all.\n":                                     "",
	} {
		if x := parse(t, "policy.txt", text); x.Title != title {
			t.Errorf("%q: title %q", text, x.Title)
		}
	}
}
