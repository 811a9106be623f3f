package api

import (
	"context"
	"encoding/json"
	"slices"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// actions are the words of the wire for what may be asked for by a tag; what
// they mean is the artifact's.
var actions = []any{"summarize", "inquire", "compare", "audit"}

// Bounds of what a tagged message brings.
const (
	maxTipTap      = 64 << 10 // bytes of JSON
	maxTipTapDepth = 64
	maxTagged      = knowledge.MaxSetDocuments // documents
)

// Tags are what a message mentions beside its words (CHAT-24, UI-32).
type Tags struct {
	TipTap    *map[string]any `json:"tiptap_json,omitempty" nullable:"true" doc:"the editor's document, at most 64 KB"`
	Documents *[]string       `json:"tagged_doc_ids,omitempty" nullable:"true" doc:"own documents, at most 200"`
	Sets      *[]string       `json:"tagged_set_ids,omitempty" nullable:"true" doc:"own document sets, at most 64"`
	Action    *string         `json:"action,omitempty" nullable:"true" doc:"summarize, inquire, compare or audit; null: found out"`
	WebSearch *bool           `json:"enable_web_search,omitempty" nullable:"true"`
}

// any reports whether something is mentioned.
func (b Tags) any() bool {
	return b.TipTap != nil || len(value(b.Documents)) > 0 || len(value(b.Sets)) > 0 || b.Action != nil || value(b.WebSearch)
}

// tags are a message's tags as inputs of a graph, all of them, always; an
// error when they name what is not the viewer's.
func (s *server) tags(ctx context.Context, v identity.Viewer, b Tags) (map[string]any, error) {
	documents, err := s.ownDocuments(ctx, v, value(b.Documents))
	if err != nil {
		return nil, err
	}
	sets, err := s.ownSets(ctx, v, value(b.Sets))
	if err != nil {
		return nil, err
	}
	fields := map[string]any{
		"tiptap_json": nil, "tagged_doc_ids": documents, "tagged_set_ids": sets,
		"action": nil, "enable_web_search": value(b.WebSearch),
	}
	if b.TipTap != nil {
		fields["tiptap_json"] = *b.TipTap
	}
	if b.Action != nil {
		fields["action"] = *b.Action
	}
	return fields, nil
}

// tag adds what a message mentions to its turn. One that mentions something
// and names no workflow is the assistant's, where there is one: no other
// workflow has to know what a mention is. One without stays as it was. The tags
// have been checked.
func (s *server) tag(ctx context.Context, v identity.Viewer, b Tags, t *chat.NewTurn) error {
	if !b.any() {
		return nil
	}
	fields, err := s.tags(ctx, v, b)
	if err != nil {
		return err
	}
	t.Fields = fields
	if t.WorkflowID == "" {
		t.WorkflowID, err = s.assistant(ctx, v)
	}
	return err
}

// check refuses tags for what they are, before anything is looked up
// (CHAT-25).
func (b Tags) check() error {
	if b.Action != nil && !slices.Contains(actions, any(*b.Action)) {
		return invalidField("action", "The action is summarize, inquire, compare or audit, or null, not %q.", *b.Action)
	}
	if len(value(b.Documents)) > maxTagged || len(value(b.Sets)) > maxNamed {
		return invalidField("tagged_doc_ids", "A message tags at most %d documents and %d sets.", maxTagged, maxNamed)
	}
	for field, list := range map[string][]string{"tagged_doc_ids": value(b.Documents), "tagged_set_ids": value(b.Sets)} {
		if err := uuids(field, list); err != nil {
			return err
		}
	}
	if b.TipTap == nil {
		return nil
	}
	raw, err := json.Marshal(*b.TipTap)
	if err != nil || len(raw) > maxTipTap {
		return invalidField("tiptap_json", "tiptap_json is larger than %d KB.", maxTipTap>>10)
	}
	if depth(*b.TipTap) > maxTipTapDepth {
		return invalidField("tiptap_json", "tiptap_json is nested deeper than %d levels.", maxTipTapDepth)
	}
	return nil
}

func invalidField(field, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).With(map[string]any{"field": field})
}

// depth is how deep a JSON value is nested; a text has none.
func depth(v any) (deepest int) {
	switch x := v.(type) {
	case map[string]any:
		for _, one := range x {
			deepest = max(deepest, depth(one))
		}
	case []any:
		for _, one := range x {
			deepest = max(deepest, depth(one))
		}
	default:
		return 0
	}
	return deepest + 1
}

// ownDocuments are tagged documents, each once; NotFound unless all of them
// are the viewer's own (ISO-11, LG-26).
func (s *server) ownDocuments(ctx context.Context, v identity.Viewer, ids []string) ([]string, error) {
	own := []string{}
	if len(ids) == 0 {
		return own, nil
	}
	found, err := s.Titles.DocumentsByID(ctx, v, ids)
	for _, d := range found {
		own = append(own, d.ID)
	}
	if err == nil && !all(ids, own) {
		err = fault.New(fault.NotFound, "There is no such document, or it is not yours.")
	}
	return own, err
}

func (s *server) ownSets(ctx context.Context, v identity.Viewer, ids []string) ([]string, error) {
	own := []string{}
	if len(ids) == 0 {
		return own, nil
	}
	found, err := s.Sets.SetsByID(ctx, v, ids)
	for _, n := range found {
		own = append(own, n.ID)
	}
	if err == nil && !all(ids, own) {
		err = fault.New(fault.NotFound, "There is no such document set, or it is not yours.")
	}
	return own, err
}

// all reports whether every id is in a list, however it is spelt.
func all(ids, in []string) bool {
	return !slices.ContainsFunc(ids, func(one string) bool { return !slices.Contains(in, id.Canonical(one)) })
}
