package api

import (
	"context"
	"encoding/json"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/redact"
	"liminal/internal/run"
)

// maxAsked bounds the words a list tells runs and questions apart by, in
// characters.
const maxAsked = 160

// asked are the words that tell runs apart, by their ids: what each was asked,
// of those that are v's to see whole and said something (ISO-01).
func (s *server) asked(ctx context.Context, v identity.Viewer, runs ...run.Run) (map[string]string, error) {
	words := make(map[string]string, len(runs))
	messages := map[string]string{} // the runs of messages, by the messages' ids
	var ids []string
	for _, r := range runs {
		if !whole(v, r) {
			continue
		}
		if said := turnInput(r); said.MessageID != "" {
			messages[said.MessageID] = r.ID
			ids = append(ids, said.MessageID)
		} else if line := s.line(jobWords(r)); line != "" {
			words[r.ID] = line
		}
	}
	if len(ids) == 0 {
		return words, nil
	}
	heads, err := s.Messages.MessageHeads(ctx, v, ids, 2*maxAsked) // what is redacted may be longer
	for id, head := range heads {
		words[messages[id]] = s.line(head)
	}
	return words, err
}

// turnInput is what a turn was asked; of another kind of run it is empty.
func turnInput(r run.Run) (in chat.TurnInput) {
	if r.Kind == run.KindChat {
		_ = json.Unmarshal(r.Input, &in) // not ours: empty
	}
	return in
}

// jobWords are what a run that is no turn was asked.
func jobWords(r run.Run) string {
	in := jobInput(r)
	switch r.Kind {
	case run.KindIngest:
		return in.Path[strings.LastIndexByte(in.Path, '/')+1:]
	case run.KindTool:
		return strings.TrimSpace(in.Tool + " " + run.FormWords(nil, in.Input))
	case run.KindGraph:
		if message, ok := in.Input["message"].(string); ok && message != "" {
			return message
		}
		return run.FormWords(nil, in.Input)
	default: // a proposed change says which it is, and the architect has its time
		return ""
	}
}

// job is what of the inputs of runs that are no turns is told.
type job struct {
	Tool  string         `json:"tool"`
	Path  string         `json:"path"`
	Input map[string]any `json:"input"`
}

func jobInput(r run.Run) (in job) {
	_ = json.Unmarshal(r.Input, &in) // not ours: empty
	return in
}

// given is the input of one's own workflow or tool; nil of other runs.
func (s *server) given(r run.Run) *map[string]any {
	in := jobInput(r).Input
	if in == nil || r.Kind != run.KindGraph && r.Kind != run.KindTool {
		return nil
	}
	if s.Redacted {
		in, _ = redacted(in).(map[string]any)
	}
	return &in
}

// line is the beginning of a text, in one line.
func (s *server) line(text string) string {
	if s.Redacted {
		text = redact.Text(text)
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxAsked {
		return string(runes[:maxAsked-1]) + "…"
	}
	return string(runes)
}

// questions are what runs of v's that wait for a person ask, by the runs' ids:
// the oldest open question of each.
func (s *server) questions(ctx context.Context, v identity.Viewer, runs ...run.Run) (map[string]string, error) {
	asks := map[string]string{}
	for _, r := range runs {
		if r.Status == run.Waiting && whole(v, r) {
			asks[r.ID] = ""
		}
	}
	if len(asks) == 0 {
		return nil, nil
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, "")
	for _, q := range open {
		if said, waits := asks[q.RunID]; waits && said == "" {
			asks[q.RunID] = s.line(q.Message)
		}
	}
	return asks, err
}

// tellApart gives what puts into each of the runs, as it is shown, the words it
// was asked and the question it waits with.
func (s *server) tellApart(ctx context.Context, runs ...run.Run) (func(*Run), error) {
	v := viewerOf(ctx)
	words, err := s.asked(ctx, v, runs...)
	if err != nil {
		return nil, err
	}
	asks, err := s.questions(ctx, v, runs...)
	if err != nil {
		return nil, err
	}
	return func(out *Run) { out.Asked, out.WaitsFor = words[out.ID], asks[out.ID] }, nil
}
