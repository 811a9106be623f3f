package extract_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"

	"liminal/internal/knowledge/extract/extracttest"
)

// hostileFiles are files that are small, or of an ordinary size, and cost their
// reader as much as their maker could think of, by their names. What came of an
// attack stands here as what makes it; a file may lie in testdata/hostile as
// well.
func hostileFiles(t testing.TB) map[string]func() []byte {
	rep := strings.Repeat
	relations := func(kind, target string) string {
		return `<Relationships><Relationship Id="r" Type="x/` + kind + `" Target="` + target + `"/></Relationships>`
	}
	return map[string]func() []byte{
		// One page named 9,900 times: 1,805 s until it failed.
		"pages-repeated.pdf": func() []byte { return repeatedPages("", lettersOn(12_000)) },
		// The same, with nothing but drawings on it.
		"drawings-repeated.pdf": func() []byte { return repeatedPages("", rep("1 1 m 2 2 l S\n", 100_000)) },
		"states-repeated.pdf":   func() []byte { return repeatedPages("", rep("q Q ", 500_000)) },
		// 2 KB that are 2 GB: 2,006 MiB.
		"flate-of-flate.pdf": func() []byte {
			return page("", "/Filter [/FlateDecode /FlateDecode]", extracttest.Deflate(string(deflatedRun("q ", 1<<30))))
		},
		"flate-of-text.pdf": func() []byte {
			return page("", "/Filter [/FlateDecode /FlateDecode]", extracttest.Deflate(string(deflatedRun("BT (aaaaaaaa) Tj ET ", 1<<26))))
		},
		"forms-in-forms.pdf": formsInForms,
		"huge-inline.pdf": func() []byte {
			return page("", "", "BI /W 60000 /H 60000 /BPC 8 /CS /RGB /F /Fl ID "+extracttest.Deflate(rep("\x00", 1<<20))+" EI")
		},
		"long-title.pdf":      func() []byte { return longTitle(20 << 20) },
		"outline-endless.pdf": outlineEndless,
		"part-of-spaces.docx": func() []byte { return bomb(t, "word/document.xml", "<w:document>", " ", 200<<20) },
		"one-letter.docx": func() []byte {
			return bomb(t, "word/document.xml", "<w:document><w:body><w:p><w:r><w:t>", "a", 120<<20)
		},
		"tags.docx":       func() []byte { return bomb(t, "word/document.xml", "<w:document><w:body>", "<w:p/>", 120<<20) },
		"attributes.docx": func() []byte { return bomb(t, "word/document.xml", "<w:document ", `a="" `, 120<<20) },
		"styles.docx": func() []byte {
			return word(t, hello, map[string]string{"word/_rels/document.xml.rels": relations("styles", "styles.xml"), "word/styles.xml": "<w:styles>" + rep("<a b='c'>", 4_000_000)})
		},
		"entities.docx": func() []byte {
			return zipped(t, map[string]string{"_rels/.rels": officeRels, "word/document.xml": `<!DOCTYPE d [<!ENTITY a "` + rep("a", 1<<20) + `"><!ENTITY b "` + rep("&a;", 1000) + `">]><w:document>&b;</w:document>`})
		},
		"slides-repeated.pptx": func() []byte { return slidesRepeated(t) },
		"chapters-repeated.epub": func() []byte {
			return chaptersRepeated(t, rep("<p>a<b>b</b></p>", 10_000))
		},
		"chapters-deep.epub": func() []byte { return chaptersRepeated(t, rep("<div><b><i>", 10_000)) },
		"strings.xlsx": func() []byte {
			return sheetWith(t, "<sst>"+rep("<si><t>a</t></si>", 4_000_000)+"</sst>", `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`)
		},
		"far.xlsx":      func() []byte { return sheet(t, farCells(5_000)) },
		"last-row.xlsx": func() []byte { return sheet(t, `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`) },
		"cells.xlsx":    func() []byte { return sheet(t, `<row r="1">`+rep(`<c r="A1"><v>1</v></c>`, 4_000_000)+`</row>`) },
		"one-string.xlsx": func() []byte {
			return sheetWith(t, "<sst><si><t>"+rep("a", 1<<20)+"</t></si></sst>", `<row r="1">`+rep(`<c t="s"><v>0</v></c>`, 15_000)+`</row>`)
		},
		"deep.html":       func() []byte { return []byte(rep("<div>", 900_000) + "text") },
		"formats.html":    func() []byte { return []byte(rep("<a><b><i><font>", 240_000) + "text") },
		"foster.html":     func() []byte { return []byte(rep("<table>", 300_000) + rep("a<b>", 300_000)) },
		"adoption.html":   func() []byte { return []byte(rep("<b><p>", 100_000) + rep("</b>x", 100_000)) },
		"attributes.html": func() []byte { return []byte("<p " + rep("a=b ", 4_000_000) + ">text") },
		"columns.csv":     func() []byte { return []byte(rep(rep("a,", 2_000_000)+"a\n", 4)) },
		"header.csv":      func() []byte { return []byte(rep("h", 1<<20) + ",b\n" + rep("a,b\n", 2_000_000)) },
		"small-header.csv": func() []byte {
			return []byte(rep("h", 200<<10) + ",b\n" + rep("a,b\n", 200_000))
		},
		"quotes.md":    func() []byte { return []byte(rep("> ", 500_000) + "text") },
		"brackets.md":  func() []byte { return []byte(rep("[", 1_000_000) + "text") },
		"emphasis.md":  func() []byte { return []byte(rep("*a **b ", 140_000)) },
		"small.md":     func() []byte { return []byte("# " + rep("[a](", 250_000)) },
		"lines.txt":    func() []byte { return []byte(rep("\n", 60<<20) + "a") },
		"accents.txt":  func() []byte { return []byte("a" + rep("\u0301\u0323", 250_000)) },
		"spaces.txt":   func() []byte { return []byte(rep(" ", 1_000_000) + "a\n\n" + rep(" ", 40_000) + "b") },
		"centred.txt":  func() []byte { return []byte(rep("          Title Case Line\n\n", 38_000)) },
		"numbered.txt": func() []byte { return []byte(rep("1. "+rep("A ", 30)+"\n\n", 15_000)) },
		"deep.json":    func() []byte { return []byte(rep("[", 1_000_000)) },
		"deep.xml":     func() []byte { return []byte(rep("<a>", 300_000)) },
		"code.go":      func() []byte { return []byte(rep("func ", 200_000)) },
		"mail.txt":     func() []byte { return []byte("From: a\nSubject: " + rep("=?utf-8?q?a?= ", 70_000) + "\n\nb") },
	}
}

// repeatedPages is a PDF whose every page is the same object.
func repeatedPages(more, content string) []byte {
	packed := extracttest.Deflate(content)
	return extracttest.PDF("",
		"<< /Type /Catalog /Pages 2 0 R >>",
		extracttest.Object("<< /Type /Pages /Kids ["+strings.Repeat("3 0 R ", 9_900)+"] /Count 9900 >>"),
		extracttest.Object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> "+more+" >>"),
		extracttest.Object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", len(packed), packed)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	)
}

// lettersOn is the content of a page with so many words all over it.
func lettersOn(n int) string {
	var b strings.Builder
	b.WriteString("BT /F1 1 Tf ")
	for i := range n {
		fmt.Fprintf(&b, "1 0 0 1 %d %d Tm (ab) Tj ", i%600, i%790)
	}
	b.WriteString("ET")
	return b.String()
}

// deflatedRun packs a text of many repetitions without ever holding it.
func deflatedRun(s string, times int) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, flate.BestCompression) // the level is one
	block := strings.Repeat(s, 1<<16)
	for range times >> 16 {
		_, _ = io.WriteString(w, block) // a buffer takes everything
	}
	_ = w.Close()
	return b.Bytes()
}

// formsInForms is a page that draws a form that draws ten others, and so on.
func formsInForms() []byte {
	const depth = 12
	objects := []extracttest.Object{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /F 6 0 R >> >> >>",
		"<< /Length 4 >>\nstream\n/F Do\nendstream",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	for i := range depth {
		content := strings.Repeat("/F Do ", 10)
		if i == depth-1 {
			content = "BT /F1 10 Tf (deep) Tj ET"
		}
		objects = append(objects, extracttest.Object(fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> /XObject << /F %d 0 R >> >> /Length %d >>\nstream\n%s\nendstream", 7+i, len(content), content)))
	}
	return extracttest.PDF("", objects...)
}

func longTitle(n int) []byte {
	content := "BT /F1 24 Tf 72 700 Td (Hello durable world) Tj ET"
	return extracttest.PDF("/Info 6 0 R",
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		extracttest.Object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		extracttest.Object("<< /Title ("+strings.Repeat("t", n)+") >>"),
	)
}

// outlineEndless is a PDF whose outline leads in a circle.
func outlineEndless() []byte {
	content := "BT /F1 24 Tf 72 700 Td (Hello durable world) Tj ET"
	return extracttest.PDF("",
		"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		extracttest.Object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Type /Outlines /First 7 0 R /Last 8 0 R /Count 2 >>",
		"<< /Title (one) /Parent 6 0 R /Next 8 0 R /First 8 0 R >>",
		"<< /Title (two) /Parent 6 0 R /Next 7 0 R /First 7 0 R >>",
	)
}

// bomb is a Word file one of whose parts is the same over and over.
func bomb(t testing.TB, part, begins, s string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	rels, err := w.Create("_rels/.rels")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(rels, officeRels); err != nil {
		t.Fatal(err)
	}
	f, err := w.Create(part)
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat(s, 1<<20/len(s))
	for written := 0; written < size; written += len(block) {
		if _, err := io.WriteString(f, begins+block); err != nil {
			t.Fatal(err)
		}
		begins = ""
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// slidesRepeated is a presentation that shows one slide ten thousand times.
func slidesRepeated(t testing.TB) []byte {
	t.Helper()
	return zipped(t, map[string]string{
		"_rels/.rels":                     `<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="ppt/presentation.xml"/></Relationships>`,
		"ppt/presentation.xml":            `<p:presentation xmlns:r="r"><p:sldIdLst>` + strings.Repeat(`<p:sldId r:id="s"/>`, 10_000) + `</p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels": `<Relationships><Relationship Id="s" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`,
		"ppt/slides/slide1.xml":           `<p:sld><p:sp><a:p>` + strings.Repeat("<a:r><a:t>word </a:t></a:r>", 5_000) + `</a:p></p:sp></p:sld>`,
	})
}

// chaptersRepeated is a book that reads one chapter a hundred thousand times.
func chaptersRepeated(t testing.TB, body string) []byte {
	t.Helper()
	return zipped(t, map[string]string{
		"mimetype":               "application/epub+zip",
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>`,
		"b.opf":                  `<package><manifest><item id="c" href="c.xhtml"/></manifest><spine>` + strings.Repeat(`<itemref idref="c"/>`, 100_000) + `</spine></package>`,
		"c.xhtml":                "<html><body>" + body,
	})
}

// sheetWith is a workbook with shared strings.
func sheetWith(t testing.TB, shared, data string) []byte {
	t.Helper()
	return zipped(t, map[string]string{
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>`,
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       shared,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + data + `</sheetData></worksheet>`,
	})
}
