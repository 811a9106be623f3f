package store_test

import (
	"slices"
	"strings"
	"testing"

	"liminal/internal/store"
)

func TestNamesBecomePositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		text  string
		names []string
	}{
		`SELECT 1`:                        {`SELECT 1`, nil},
		`x = @a AND y = @b_2 OR z = @a`:   {`x = ?1 AND y = ?2 OR z = ?1`, []string{"a", "b_2"}},
		`x = 'a@b' AND "c@d" = @e`:        {`x = 'a@b' AND "c@d" = ?1`, []string{"e"}},
		`x = 'it''s @a' || @b || 'open @`: {`x = 'it''s @a' || ?1 || 'open @`, []string{"b"}},
	} {
		for _, mark := range []string{"?", "$"} {
			got, names := store.Positional(text, mark[0])
			if then := strings.ReplaceAll(want.text, "?", mark); got != then || !slices.Equal(names, want.names) {
				t.Errorf("%s became %s with %v, want %s with %v", text, got, names, then, want.names)
			}
		}
	}
}
