package extract

import "testing"

// A word broken at the end of a line is whole again, and only what was broken is joined.
func TestAWordKeepsTheHyphenThatIsItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, want string }{
		"broken":                        {"an exam\ufffe\nple", "an example"},
		"broken with a plain hyphen":    {"an exam-\nple of it", "an example\n of it"},
		"a usual prefix":                {"it is self\ufffe\ncontained", "it is self-contained"},
		"a prefix with a plain hyphen":  {"a non-\ntrivial one", "a non-trivial\n one"},
		"a prefix before a short rest":  {"he is self-\nish of her", "he is selfish\n of her"},
		"a capital":                     {"eine E\ufffe\nMail", "eine E-Mail"},
		"capitals in a heading":         {"INTRO\ufffe\nDUCTION", "INTRODUCTION"},
		"a digit":                       {"UTF\ufffe\n8", "UTF-8"},
		"a chain":                       {"state-of-the-\nart text", "state-of-the-art\n text"},
		"with it elsewhere":             {"open-source, then open\ufffe\nsource", "open-source, then open-source"},
		"with it and without elsewhere": {"co-op, coop, co\ufffe\nop", "co-op, coop, coop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pageText(c.page); got != c.want {
				t.Errorf("%q is read as %q, want %q", c.page, got, c.want)
			}
		})
	}
}
