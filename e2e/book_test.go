package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// book is a PDF of so many pages, each of which says something no other says.
func book(pages int) []byte {
	var out bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n", len(at))
		fmt.Fprintf(&out, format, args...)
		out.WriteString("\nendobj\n")
	}
	out.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for n := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*n)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Count %d /Kids [ %s] >>", pages, kids.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for n := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >>", 5+2*n)
		text := page(n + 1)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(text), text)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return out.Bytes()
}

// page draws the lines of page n.
func page(n int) string {
	var b strings.Builder
	b.WriteString("BT /F 11 Tf 14 TL 60 780 Td\n")
	for line := range 30 {
		if line == 12 { // not at the top, where headers that every page has are left out
			fmt.Fprintf(&b, "(The pump of station %d is serviced every %d hours by the crew of that station.) Tj T*\n", n, 1000+n)
		}
		fmt.Fprintf(&b, "(Line %d of the log of station %d tells of pressure, heat and the wear of bearings.) Tj T*\n", line+1, n)
	}
	b.WriteString("ET")
	return b.String()
}

// Requirements: RAG-02 (PDF), RAG-04, RAG-11, RAG-19, GRAPH-24 (ingestion)
func TestABookOfThreeHundredPagesIsReadOnAfterKillMinusNine(t *testing.T) {
	t.Parallel()
	const pages = 300
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Manuals"})["id"].(string)
	_, id := ada.sendFile(docs, "pumps.pdf", book(pages))
	var before float64
	p.until("some of the book to be indexed", func() bool {
		d := ada.must("GET", "/v1/documents/"+id, nil)
		before, _ = d["chunks_done"].(float64)
		return before > 0 || d["status"] == "failed"
	})

	p.kill()
	p.again()
	ada.signIn()
	d := ada.untilIndexed(id, "pumps.pdf")
	if d["status"] != "ready" || d["pages"] != float64(pages) || d["chunks_done"] != d["chunks"] {
		t.Fatalf("after the crash the book is %v", d)
	}
	if total := d["chunks"].(float64); before >= total {
		t.Logf("it was read before it could be cut: %v of %v", before, total)
	}

	asked := ada.must("POST", "/v1/chat", object{"message": "How often is the pump of station 217 serviced?", "context_ids": []string{docs}})
	if answer, _ := asked["content"].(string); !strings.Contains(answer, "1217 hours") {
		t.Fatalf("answered %q", answer)
	}
	cited := asked["citations"].([]any)[0].(object)
	if cited["page"] != 217.0 {
		t.Errorf("cited page %v, want 217: %v", cited["page"], cited)
	}
}
