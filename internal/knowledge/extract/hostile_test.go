package extract_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/knowledge/extract/extracttest"
)

// page is a PDF of one page with this content stream.
func page(extra, filter, content string) []byte {
	return extracttest.PDF(extra,
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		extracttest.Object(fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), filter, content)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	)
}

// Requirements: RAG-05
func TestHostilePDFsAreRefusedAndSpoilNothing(t *testing.T) {
	t.Parallel()
	p := parsers()
	key := strings.Repeat("41", 32)
	for _, c := range []struct {
		name, want string
		content    []byte
	}{
		{"secret.pdf", "protected by a password", page("/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"+key+"> /U <"+key+"> >>", "", "BT ET")},
		{"scan.pdf", "has no text", page("", "", "0 0 1 rg 0 0 600 700 re f")},
		{"no-pages.pdf", "", extracttest.PDF("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>")},
		{"loop.pdf", "", extracttest.PDF("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 999999999 >>")},
		{"deep.pdf", "", extracttest.PDF("", "<< /Type /Catalog /Pages 2 0 R >>", extracttest.Object(strings.Repeat("[", 200_000)))},
		{"bomb.pdf", "", page("", "/Filter /FlateDecode", extracttest.Deflate(strings.Repeat("q ", 2<<20)))},
	} {
		if got := refusal(t, p, c.name, "application/pdf", c.content); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	good := page("", "", "BT /F1 24 Tf 72 700 Td (Hello durable world) Tj ET")
	x, err := p.Parse(t.Context(), "good.pdf", "", bytes.NewReader(good), int64(len(good)))
	if err != nil || !strings.Contains(x.Text, "Hello durable world") {
		t.Errorf("after them a good file gives %q, %v", x.Text, err)
	}
}

// A real file with random bytes overwritten gives its text or a sentence,
// and never a panic.
//
// Requirements: RAG-05
func TestDamagedPDFsNeverPanic(t *testing.T) {
	t.Parallel()
	p := parsers()
	original, err := os.ReadFile("testdata/tower.pdf")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 16 {
		raw := bytes.Clone(original)
		for range 1 + random.IntN(200) {
			raw[9+random.IntN(len(raw)-9)] = byte(random.IntN(256))
		}
		raw = raw[:len(raw)/4+random.IntN(len(raw)*3/4)]
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // for a busy machine; it is about panics
		_, err := p.Parse(ctx, "damaged.pdf", "", bytes.NewReader(raw), int64(len(raw)))
		cancel()
		if err != nil && !errors.Is(err, fault.Invalid) {
			t.Fatalf("a damaged file gave %v", err)
		}
	}
}

// A page that computes for very long ends with the context's time.
//
// Requirements: RAG-05
func TestAStoppedReadingEndsInTheMiddleOfAPage(t *testing.T) {
	t.Parallel()
	p := parsers()
	warm := page("", "", "BT /F1 24 Tf 72 700 Td (warm) Tj ET")
	if _, err := p.Parse(t.Context(), "warm.pdf", "", bytes.NewReader(warm), int64(len(warm))); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("BT /F1 1 Tf ")
	for i := range 200_000 {
		fmt.Fprintf(&text, "1 0 0 1 %d %d Tm (abcdefgh) Tj ", i%600, i%790)
	}
	text.WriteString("ET")
	slow := page("", "/Filter /FlateDecode", extracttest.Deflate(text.String()))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := p.Parse(ctx, "slow.pdf", "", bytes.NewReader(slow), int64(len(slow)))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it went on for %v", took)
	}
	if _, err := p.Parse(t.Context(), "warm.pdf", "", bytes.NewReader(warm), int64(len(warm))); err != nil {
		t.Errorf("afterwards a good file fails: %v", err)
	}
}

// What is small as a file and large as pieces is refused before it takes the
// memory of whoever reads it.
//
// Requirements: RAG-05
func TestFilesOfNothingButPiecesAreRefused(t *testing.T) {
	t.Parallel()
	p := parsers()
	for name, content := range map[string]string{
		"elements.html": strings.Repeat("<br>", 1_000_001) + "text",
		"headings.html": strings.Repeat("<h1>a</h1><pre>b</pre>", 60_000),
		"headings.md":   strings.Repeat("# a\n", 110_000),
	} {
		if got := refusal(t, p, name, "", []byte(content)); !strings.Contains(got, "more pieces than can be kept") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
