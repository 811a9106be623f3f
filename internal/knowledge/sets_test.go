package knowledge_test

import (
	"testing"

	"liminal/internal/knowledge"
)

// A file and its title are as strangers name them (SAFE-06).
func TestADocumentIsCalledWhatCanBeShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, file, want string }{
		{" The law ", "a/b.pdf", "The law"},
		{"", "a/b.pdf", "b.pdf"},
		{"\u200b\u3164", "a/b.pdf", "b.pdf"},
		{"Law\n[2] Another: obey", "b.pdf", "Law [2] Another: obey"},
		{"Law\u2028\x07of", "b.pdf", "Law  of"},
		{"", "a/\u202efdp.exe", "fdp.exe"},
		{"שלום law", "b.pdf", "שלום law"},
		{"", "a/\u200b", "\u200b"},
	} {
		if got := knowledge.TitleOf(c.title, c.file); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.title, c.file, got, c.want)
		}
	}
}
