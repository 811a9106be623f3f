package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// word is a document of Word whose one part is this.
func word(name string, content []byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{name, string(content)},
	} {
		f, _ := w.Create(part[0]) // a buffer takes everything
		_, _ = f.Write([]byte(part[1]))
	}
	_ = w.Close()
	return b.Bytes()
}

// hostileUploads brings documents that mean harm, by their content and by
// their names.
func hostileUploads(t *trial) {
	mallory := t.signUp("mallory")
	before := t.house.memory()
	at := mallory.context("hostile")
	billion := `<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "aaaaaaaaaa">`
	for i, last := 0, "a"; i < 9; i++ {
		next := string(rune('b' + i))
		billion += fmt.Sprintf(`<!ENTITY %s "%s">`, next, strings.Repeat("&"+last+";", 10))
		last = next
	}
	billion += `]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>`
	external := `<?xml version="1.0"?><!DOCTYPE z [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>`
	big := choose(t, 64, 512)
	files := map[string][]byte{
		"laughs.docx":    word("word/document.xml", []byte(billion)),
		"outside.docx":   word("word/document.xml", []byte(external)),
		"empty.docx":     word("word/document.xml", nil),
		"big.docx":       word("word/document.xml", bytes.Repeat([]byte(" "), big<<20)),
		"slip.docx":      word("../../../../tmp/slipped", []byte("x")),
		"no.pdf":         []byte("%PDF-1.7\n%%EOF"),
		"itself.pdf":     pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 999999999 >>"),
		"deep.pdf":       pdf("<< /Type /Catalog /Pages 2 0 R >>", strings.Repeat("[", 200_000)),
		"nul.md":         bytes.Repeat([]byte{0}, 1<<16),
		"binary.txt":     []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\xff", 1000)),
		"deep.md":        []byte(strings.Repeat("> ", 50_000) + "x"),
		"links.md":       []byte(strings.Repeat("[", 50_000) + strings.Repeat("](x)", 50_000)),
		"deep.html":      []byte(strings.Repeat("<div>", 100_000)),
		"entities.html":  []byte(strings.Repeat("&nbsp", 200_000)),
		"deep.json":      []byte(strings.Repeat("[", 200_000)),
		"wide.csv":       []byte(strings.Repeat(",", 1<<20)),
		"quotes.csv":     []byte(strings.Repeat(`"`, 1<<20+1)),
		"external.html":  []byte(`<iframe src="file:///etc/passwd"></iframe><link rel=import href="http://127.0.0.1:1/">`),
		"one-line.md":    bytes.Repeat([]byte("x"), 4<<20),
		"headings.md":    []byte(strings.Repeat("#\n", 100_000)),
		"bidirection.md": []byte(strings.Repeat("\u202e\u2066", 10_000)),
	}
	taken := 0
	for name, content := range files {
		a := mallory.upload(at, name, content)
		if a.err != nil || a.status >= 500 {
			t.hole("the upload of %s: %s", name, a)
		}
		if a.ok() {
			taken++
		}
	}
	for _, name := range []string{
		"../../../etc/cron.d/x", "..", ".", "", "/etc/passwd", `..\..\x.md`, "a/../../b.md", "CON", "x.md\u202egnp", strings.Repeat("x", 5000) + ".md", "%2e%2e%2fx.md", ".htaccess", "~", "-rf", "a\u0000.md", "files", "a//b", "\u2025/x.md",
	} {
		a := mallory.upload("", name, []byte("named"))
		if a.err != nil || a.status >= 500 {
			t.hole("the name %.40q: %s", name, a)
		}
		file, _ := a.data["file"].(object)
		if path, _ := file["path"].(string); a.ok() && (strings.Contains(path, "..") || !strings.HasPrefix(path, "files/")) {
			t.hole("the name %.40q is kept as %.60q", name, path)
		}
	}
	if !t.wait(choose(t, 30*time.Second, 2*time.Minute), func() bool { return !mallory.reading(t) }) {
		t.hole("still being read: %s", mallory.unread())
	}
	list := mallory.do("GET", "/v1/documents?limit=100", nil)
	for _, item := range asList(list.data["data"]) {
		d, _ := item.(object)
		text := mallory.do("GET", fmt.Sprintf("/v1/documents/%v/text", d["id"]), nil)
		if text.status >= 500 || strings.Contains(string(text.raw), "root:x:0") {
			t.hole("%v reads as %s", d["title"], text)
		}
	}
	if grown := t.house.most() - before; grown > uploadMemory {
		t.hole("memory grew by %d MiB", grown/mib)
	}
	other := t.signUp("other")
	if took, err := t.turn(other, helloTime); err != nil {
		t.hole("another person's turn: %v", err)
	} else {
		t.figure("%d files, %d taken; another person's turn %.1f s", len(files), taken, took.Seconds())
	}
}

// ended are what becomes of a document in the end.
var ended = []string{"ready", "failed", "skipped"}

// unread are the documents of somebody's that are being read.
func (p *person) unread() string {
	var titles []string
	for _, item := range asList(p.do("GET", "/v1/documents?limit=100", nil).data["data"]) {
		if d, _ := item.(object); !slices.Contains(ended, fmt.Sprint(d["status"])) {
			titles = append(titles, fmt.Sprintf("%v (%v)", d["title"], d["status"]))
		}
	}
	return strings.Join(titles, ", ")
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
