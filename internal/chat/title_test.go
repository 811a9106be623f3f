package chat

import (
	"strings"
	"testing"
)

// Requirements: CHAT-13
func TestTitleIsTheFirstMessageCutToFiftyCharacters(t *testing.T) {
	t.Parallel()
	if got := TitleOf("  What\nis  it? "); got != "What is it?" {
		t.Errorf("got %q", got)
	}
	if got := []rune(TitleOf(strings.Repeat("ä", 80))); len(got) != 50 {
		t.Errorf("got %d characters, want 50", len(got))
	}
}
