// Package extracttest makes files for tests of what reads files.
//
// It imports nothing of the house, and only tests import it.
package extracttest

import (
	"bytes"
	"compress/zlib"
	"fmt"
)

// Object is one numbered object of a PDF made by hand.
type Object string

// PDF writes a PDF of objects 1, 2, …; the first is its catalog. extra goes
// into the trailer.
func PDF(extra string, objects ...Object) []byte {
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
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, extra, xref)
	return b.Bytes()
}

// Deflate compresses a stream as the filter /FlateDecode reads it.
func Deflate(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.String()
}
