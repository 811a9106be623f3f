package extract

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"liminal/internal/fault"
)

// What an archive really holds is counted, whatever it claims: bytes over all
// of its parts, and elements.
//
// Requirements: RAG-05
func TestWhatComesOutOfAnArchiveIsBounded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a.xml", "b.xml"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "<p>"+strings.Repeat("<r>x</r>", 500)+"</p>"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		bytes int64
		nodes int
		want  string
	}{
		"enough of both": {maxUnzipped, maxNodes, ""},
		"bytes":          {6_000, maxNodes, "longer than"},
		"elements":       {maxUnzipped, 2_000, "more pieces"},
	} {
		a, err := openArchive(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		a.left, a.nodes = c.bytes, c.nodes
		for _, part := range []string{"a.xml", `.\b.xml`} {
			if err == nil {
				err = a.walk(part, &docx{archive: a})
			}
		}
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
