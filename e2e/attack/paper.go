package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

func paperAttacks() []attack {
	return []attack{
		{name: "pdf-pages", row: "#5", about: "PDFs of 9,900 references to one heavy page, and another person's Markdown behind them", after: true, once: true, run: pdfPages},
		{name: "pdf-flate", row: "#6", about: "PDFs of 2 KB that are compressed twice", after: true, once: true, run: pdfFlate},
	}
}

const (
	// markdownTime is how long another person's small file may take beside them.
	markdownTime = 20 * time.Second
	// pdfMemory is what the program may grow by while it reads small PDFs: two
	// readers of a person at their bounds, with the program's own pages in each.
	pdfMemory = 896 * mib
	// uploadMemory is the same for many files after one another, where a reader that
	// ends and the next one are counted together for a moment: 370 to 530 MiB were
	// seen as a rule, and 924 once.
	uploadMemory = pdfMemory + pdfMemory/2
	// probeTime is how long a request that does nothing may take beside them.
	probeTime = 2 * time.Second
)

// pdf writes a PDF of objects 1, 2, …; the first is its catalog.
func pdf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func deflate(text []byte) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression) // the level is right
	_, _ = w.Write(text)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// pages is a PDF that shows one page n times; salt makes it a file of its own.
func pages(n int, filter string, content []byte, salt int) []byte {
	return pdf(
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Repeat("3 0 R ", n), n),
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d /Filter %s >>\nstream\n%s\nendstream", len(content), filter, content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		fmt.Sprintf("(%d)", salt),
	)
}

// pdfPages floods the readers of documents, and then brings a note.
func pdfPages(t *trial) {
	mallory, other := t.signUp("mallory"), t.signUp("other")
	line := "BT /F1 9 Tf 20 %d Td (" + strings.Repeat("heavy words ", 8) + ") Tj ET\n"
	var page strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&page, line, 20+i%700)
	}
	at := mallory.context("bombs")
	count := choose(t, 4, 8)
	size := 0
	flood := func(first int) {
		for i := first; i < first+count; i++ {
			raw := pages(9900, "/FlateDecode", deflate([]byte(page.String())), i)
			size = len(raw)
			a := mallory.upload(at, fmt.Sprintf("bomb%d.pdf", i), raw)
			if a.err != nil || a.status >= 500 {
				t.hole("upload %d: %s", i, a)
			}
		}
		time.Sleep(500 * time.Millisecond) // they are being read
	}
	for try := 0; ; try++ {
		flood(try * count) // files of their own each time: one that is known is not read again
		began := time.Now()
		status := other.read(t, fmt.Sprintf("note%d.md", try), fmt.Appendf(nil, "# Note %d\n\nThe meeting is on Thursday.\n", try), markdownTime)
		took := time.Since(began)
		if status == "ready" {
			t.figure("another person's Markdown was ready in %.1f s", took.Seconds())
			break
		}
		if took < markdownTime || !t.measureAgain("another person's Markdown", began) {
			t.hole("another person's Markdown is %s after %.0f s", status, took.Seconds())
			break
		}
	}
	t.figure("PDFs of %d bytes", size)
	besides(t, other, 2*time.Second)
}

// read uploads a file and waits until it can be searched. It returns how far
// it came.
func (p *person) read(t *trial, name string, content []byte, limit time.Duration) (status string) {
	up := p.upload(p.context("notes"), name, content)
	if !up.ok() {
		return up.String()
	}
	document, _ := up.data["document"].(object)
	id, _ := document["id"].(string)
	t.wait(limit, func() bool {
		status = p.do("GET", "/v1/documents/"+id, nil).text("status")
		return slices.Contains(ended, status)
	})
	return status
}

// pdfFlate uploads PDFs whose one page is a gigabyte once it is read.
func pdfFlate(t *trial) {
	mallory, other := t.signUp("mallory"), t.signUp("other")
	plain := deflate([]byte("BT /F1 24 Tf 72 700 Td (Hello) Tj ET"))
	if status := other.read(t, "hello.pdf", pages(1, "/FlateDecode", plain, 0), patience); status != "ready" { // what reads PDFs is made ready
		t.must(fmt.Errorf("a small PDF is %s", status))
	}
	before := t.house.memory()
	twice := deflate(deflate(bytes.Repeat([]byte(" "), choose(t, 400<<20, 1<<30))))
	at := mallory.context("bombs")
	var slowest time.Duration
	stop := make(chan struct{})
	var probing sync.WaitGroup
	probing.Go(func() {
		for {
			began := time.Now()
			a := other.do("GET", "/v1/auth/me", nil)
			if a.ok() && a.took > probeTime && t.measureAgain("a request beside it", began) {
				continue
			}
			if slowest = max(slowest, a.took); !a.ok() {
				t.hole("a request beside it: %s", a)
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	size := 0
	for i := range choose(t, 2, 4) {
		raw := pages(1, "[/FlateDecode /FlateDecode]", twice, i)
		size = len(raw)
		if a := mallory.upload(at, fmt.Sprintf("flate%d.pdf", i), raw); a.err != nil || a.status >= 500 {
			t.hole("upload %d: %s", i, a)
		}
	}
	t.wait(choose(t, 20*time.Second, time.Minute), func() bool { return !mallory.reading(t) })
	close(stop)
	probing.Wait()
	grown := t.house.most() - before
	t.figure("PDFs of %d bytes; memory grew by %d MiB; the slowest request beside them %.1f s", size, grown/mib, slowest.Seconds())
	if grown > pdfMemory {
		t.hole("memory grew by %d MiB", grown/mib)
	}
	if slowest > probeTime {
		t.hole("a request beside them took %.1f s", slowest.Seconds())
	}
}

// reading reports whether a document of somebody's is still being read.
func (p *person) reading(t *trial) bool {
	if t.house.died() != "" {
		return false
	}
	return p.unread() != ""
}
