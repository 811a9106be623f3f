package extract_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// Files of some kilobytes that say the same thing often must not become
// gigabytes on the way: their reading is measured, so it runs alone.
//
// Requirements: RAG-05
func TestWhatIsSaidOftenInAnArchiveStaysSmall(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	p, rep := parsers(), strings.Repeat
	relations := func(kind, target string) string {
		return `<Relationships><Relationship Id="r" Type="x/` + kind + `" Target="` + target + `"/></Relationships>`
	}
	notes := map[string]string{
		"word/_rels/document.xml.rels": relations("footnotes", "footnotes.xml"),
		"word/footnotes.xml":           `<w:footnotes><w:footnote w:id="1"><w:p><w:r><w:t>` + rep("note ", 20_000) + `</w:t></w:r></w:p></w:footnote></w:footnotes>`,
	}
	noted := `<w:p><w:r><w:t>x</w:t>` + rep(`<w:footnoteReference w:id="1"/>`, 20_000) + `</w:r></w:p>`
	cell := func(in string) string { return `<w:tbl><w:tr><w:tc>` + in + `</w:tc></w:tr></w:tbl>` }
	labels := map[string]string{
		"word/_rels/document.xml.rels": relations("numbering", "numbering.xml"),
		"word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="780"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="` +
			rep("%1", 100_000) + `"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
	}
	labelled := rep(`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`, 500)
	styles := func(body string) map[string]string {
		return map[string]string{"word/_rels/document.xml.rels": relations("styles", "styles.xml"), "word/styles.xml": body}
	}
	odt := func(body string) []byte {
		return zipped(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": `<o:document-content><o:body><o:text>` + body + `</o:text></o:body></o:document-content>`})
	}
	for _, c := range []struct {
		name, want string // what the refusal says; "": it is read
		content    []byte
	}{
		{"notes.docx", "longer than", word(t, noted, notes)},
		{"notes-in-a-cell.docx", "longer than", word(t, cell(noted), notes)},
		{"labels-in-a-cell.docx", "", word(t, cell(labelled), labels)},
		{"deep-styles.docx", "more pieces", word(t, hello, styles(rep("<a>", 4_000_000)))},
		{"many-styles.docx", "more pieces", word(t, hello, styles("<w:styles>"+rep(`<w:style w:styleId="a"/>`, 1_000_000)+"</w:styles>"))},
		{"nested.odt", "", odt(rep("<t:p>", 1500) + "in" + rep("</t:p>", 1500) + "<t:p>Out.</t:p>")},
		{"nested-texts.odt", "", odt(rep("<t:p>"+rep("word ", 1000), 1500) + rep("</t:p>", 1500))},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := p.Parse(t.Context(), c.name, "", bytes.NewReader(c.content), int64(len(c.content)))
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 500 {
			t.Errorf("%s: its %d bytes took %d MB", c.name, len(c.content), used)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
