package builtin_test

import (
	"context"
	"reflect"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// keptBlocks is what the capture proxy kept: two blocks past their time.
type keptBlocks struct {
	retired func(deletes, archives []string)
}

func (keptBlocks) DueBlocks(_ context.Context, _ identity.Viewer, after string) (palace.PastTime, error) {
	return palace.PastTime{Delete: []string{"a"}, Archive: []string{"b"}, After: after + "b"}, nil
}

func (s keptBlocks) Retire(_ context.Context, _ identity.Viewer, deletes, archives []string) (deleted, archived int, err error) {
	if s.retired != nil {
		s.retired(deletes, archives)
	}
	return len(deletes), len(archives), nil
}

func (keptBlocks) Question(context.Context, identity.Viewer, string) (q palace.Question, err error) {
	return q, nil
}

func (keptBlocks) Heard(context.Context, identity.Viewer, palace.Question, palace.Reply) (c palace.Classified, more bool, err error) {
	return c, false, nil
}

func (keptBlocks) Consolidation(context.Context, identity.Viewer, string) (q palace.Question, err error) {
	return q, nil
}

func (keptBlocks) Note(context.Context, identity.Viewer, palace.Question, string, []palace.Draft) (int, error) {
	return 0, nil
}

// Requirements: PAL-22
func TestWhatIsDueIsPutAway(t *testing.T) {
	t.Parallel()
	var got [][]string
	p := builtin.Parts{Palace: keptBlocks{retired: func(deletes, archives []string) { got = [][]string{deletes, archives} }}}
	due := must(t, p, "palace.due_v1", &tool.Call{Inputs: map[string]any{"after": "a"}})
	if due["after"] != "ab" || due["more"] != false {
		t.Errorf("due: %v", due)
	}
	out := must(t, p, "palace.retire_v1", &tool.Call{Inputs: map[string]any{"delete": due["delete"], "archive": due["archive"]}})
	if out["deleted"] != 1.0 || out["archived"] != 1.0 || !reflect.DeepEqual(got, [][]string{{"a"}, {"b"}}) {
		t.Errorf("put away: %v, %v", out, got)
	}
}
