package extract_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
)

// zipped is an archive of parts, in no special order.
func zipped(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range parts {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const officeRels = `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="word/document.xml"/></Relationships>`

// word is a Word file of a body.
func word(t testing.TB, body string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{"_rels/.rels": officeRels, "word/document.xml": `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`}
	maps.Copy(parts, more)
	return zipped(t, parts)
}

const hello = `<w:p><w:r><w:t>Hello durable world.</w:t></w:r></w:p>`

// claiming is a Word file one of whose parts says it is so many bytes large.
func claiming(t testing.TB, name string, size uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("_rels/.rels")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, officeRels); err != nil {
		t.Fatal(err)
	}
	raw, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: size, CompressedSize64: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write([]byte("bomb")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sheet is a workbook of one sheet's data.
func sheet(t testing.TB, data string) []byte {
	t.Helper()
	return zipped(t, map[string]string{
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + data + `</sheetData></worksheet>`,
	})
}

// farCells is many rows whose only cell is the last one there can be.
func farCells(rows int) string {
	var b strings.Builder
	for i := range rows {
		n := []byte{byte('0' + (i+1)/1000%10), byte('0' + (i+1)/100%10), byte('0' + (i+1)/10%10), byte('0' + (i+1)%10)}
		row := strings.TrimLeft(string(n), "0")
		b.WriteString(`<row r="` + row + `"><c r="XFD` + row + `" t="inlineStr"><is><t>x</t></is></c></row>`)
	}
	return b.String()
}

func encrypted(raw []byte) []byte {
	raw = bytes.Clone(raw)
	for _, magic := range []struct {
		head string
		at   int
	}{{"PK\x03\x04", 6}, {"PK\x01\x02", 8}} {
		for at := 0; ; {
			i := bytes.Index(raw[at:], []byte(magic.head))
			if i < 0 {
				break
			}
			raw[at+i+magic.at] |= 1
			at += i + 4
		}
	}
	return raw
}

// Requirements: RAG-05
func TestHostileArchivesAreRefusedInASentence(t *testing.T) {
	t.Parallel()
	p := parsers()
	lol := `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	for _, c := range []struct {
		name, want string
		content    []byte
	}{
		{"claims.docx", "longer than", claiming(t, "word/document.xml", 1<<40)},
		{"deep.docx", "more pieces", word(t, strings.Repeat("<w:sdt>", 5_000), nil)},
		{"broken.docx", "damaged", word(t, hello+"<w:p><w:r", nil)},
		{"unclosed.docx", "damaged", zipped(t, map[string]string{"_rels/.rels": officeRels, "word/document.xml": "<w:document><w:body>" + hello})},
		{"entities.docx", "damaged", zipped(t, map[string]string{"_rels/.rels": officeRels, "word/document.xml": lol + "<w:document>" + hello + "<w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>"})},
		{"locked.docx", "protected by a password", encrypted(word(t, hello, nil))},
		{"locked2.docx", "protected by a password", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600))},
		{"old.doc", "before 2007", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600))},
		{"renamed.pptx", "not one", []byte("This is no presentation.")},
		{"plain.zip", "cannot be read. Accepted are PDF", zipped(t, map[string]string{"a.txt": "text"})},
		{"outside.docx", "cannot be read", zipped(t, map[string]string{"_rels/.rels": `<Relationships><Relationship Id="r1" Type="x/officeDocument" TargetMode="External" Target="file:///etc/passwd"/></Relationships>`})},
		{"climbing.docx", "cannot be read", zipped(t, map[string]string{"_rels/.rels": `<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="../../../../etc/passwd"/></Relationships>`})},
		{"empty.docx", "holds no text", word(t, "<w:p/>", nil)},
		{"far.xlsx", "longer than", sheet(t, farCells(400))},
		{"broken.xlsx", "", sheet(t, "<row r=\"1\"><c r=\"ZZZZZZZZ99999999999\"><v>1</v></c></row>")},
		{"drm.epub", "encrypted (DRM)", zipped(t, map[string]string{"mimetype": "application/epub+zip", "META-INF/encryption.xml": `<e Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>`})},
		{"nowhere.epub", "does not say where", zipped(t, map[string]string{"mimetype": "application/epub+zip"})},
		{"locked.odt", "protected by a password", zipped(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": `<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>`})},
		{"hollow.odt", "lacks its part", zipped(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.text"})},
	} {
		if got := refusal(t, p, c.name, "", c.content); !strings.Contains(got, c.want) || !strings.Contains(got, c.name) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Requirements: RAG-05
func TestAnArchiveIsReadForWhatItHolds(t *testing.T) {
	t.Parallel()
	p := parsers()
	outside := map[string]string{"word/_rels/document.xml.rels": `<Relationships>
		<Relationship Id="a" Type="x/styles" TargetMode="External" Target="http://127.0.0.1:1/styles.xml"/>
		<Relationship Id="b" Type="x/footnotes" Target="../../../../../etc/passwd"/></Relationships>`}
	boxed := `<w:p><w:r><w:t>Around. </w:t><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Choice>` +
		`<mc:Fallback><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>`
	nested := `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>`
	for _, c := range []struct {
		name, want string
		content    []byte
	}{
		{"followed.docx", "Hello durable world.", word(t, hello, outside)},
		{"named-wrongly.xlsx", "Hello durable world.", word(t, hello, nil)},
		{"without-a-name", "Hello durable world.", word(t, hello, nil)},
		{"boxed.docx", "In a box.\n\nAround.", word(t, boxed, nil)},
		{"nested.docx", "| a b, c |", word(t, nested, nil)},
		{"shown.xlsx", "S\n\n| 1 | x |", sheet(t, `<row r="2"><c r="A2"><v>1</v></c><c r="B2" t="inlineStr"><is><t>x</t></is></c></row>`)},
	} {
		x, err := p.Parse(t.Context(), c.name, "", bytes.NewReader(c.content), int64(len(c.content)))
		if err != nil || x.Text != c.want {
			t.Errorf("%s: %q, %v", c.name, x.Text, err)
		}
	}
}

// Clauses of a contract are cited by numbers that stand nowhere in its text.
func TestListsOfAWordFileAreNumberedAsWordShowsThem(t *testing.T) {
	t.Parallel()
	item := func(num, level, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + num + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	more := map[string]string{
		"word/_rels/document.xml.rels": `<Relationships><Relationship Id="a" Type="x/numbering" Target="numbering.xml"/><Relationship Id="b" Type="x/styles" Target="/word/styles.xml"/><Relationship Id="c" Type="x/footnotes" Target="footnotes.xml"/></Relationships>`,
		"word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="§ %1"/></w:lvl>
			<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl><w:lvl w:ilvl="2"><w:start w:val="4"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%3"/></w:lvl></w:abstractNum>
			<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`,
		"word/styles.xml": `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
			<w:style w:styleId="Klausel"><w:name w:val="Klausel"/><w:basedOn w:val="berschrift1"/></w:style></w:styles>`,
		"word/footnotes.xml": `<w:footnotes><w:footnote w:id="0" w:type="separator"><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote><w:footnote w:id="3"><w:p><w:r><w:t>As of May.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
	}
	body := `<w:p><w:pPr><w:pStyle w:val="Klausel"/></w:pPr><w:r><w:t>Rent</w:t></w:r></w:p>` +
		item("1", "1", "Cold") + item("1", "1", "Warm") + item("1", "2", "Gas") +
		`<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Keys</w:t></w:r></w:p>` + item("1", "1", "Front") +
		`<w:p><w:r><w:t>Priced.</w:t><w:footnoteReference w:id="3"/></w:r></w:p>` + item("2", "0", "Anew") + item("9", "0", "Unknown") + item("0", "0", "None")
	raw := word(t, body, more)
	x, err := parsers().Parse(t.Context(), "a.docx", "", bytes.NewReader(raw), int64(len(raw)))
	want := "§ 1 Rent\n1.a) Cold\n1.b) Warm\nIV Gas\n\n§ 2 Keys\n2.a) Front\n\nPriced.\n[As of May.]\n§ 1 Anew\n- Unknown\n\nNone"
	if err != nil || x.Text != want {
		t.Errorf("%q, %v\nwant %q", x.Text, err, want)
	}
}

// A real file with random bytes overwritten gives its text or a sentence, and
// never a panic.
//
// Requirements: RAG-05
func TestDamagedArchivesNeverPanic(t *testing.T) {
	t.Parallel()
	p := parsers()
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"agreement.docx", "harbour.pptx", "stock.xlsx", "bees.odt", "lighthouse.epub"} {
		original, err := os.ReadFile(filepath.Join("testdata/parse", name))
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			raw := bytes.Clone(original)
			for range 1 + random.IntN(20) {
				raw[4+random.IntN(len(raw)-4)] = byte(random.IntN(256))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			_, err := p.Parse(ctx, name, "", bytes.NewReader(raw), int64(len(raw)))
			cancel()
			if err != nil && !errors.Is(err, fault.Invalid) {
				t.Fatalf("a damaged %s gave %v", name, err)
			}
		}
	}
}

// Requirements: RAG-05
func TestAStoppedReadingOfAnArchiveEnds(t *testing.T) {
	t.Parallel()
	raw := word(t, strings.Repeat(hello, 1000), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parsers().Parse(ctx, "a.docx", "", bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
