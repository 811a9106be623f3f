package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"liminal/internal/grounding"
	"liminal/internal/model"
)

// mostChecked bounds the answer of a model about one sentence, in tokens.
const mostChecked = 400

// RecordedCheck answers as a language model did that was asked about the sentences
// of a set, each once as it is and once with what is planted in it. A set without
// a record is an error that says so.
func RecordedCheck(dir, set string) (func(world, sentence string, a grounding.Asking) (string, bool), error) {
	name := filepath.Join(dir, set+".checked.jsonl")
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("no answers of a model are kept for the set %q: %w", set, err)
	}
	defer func() { _ = f.Close() }()
	type key struct{ world, text string }
	answers := map[key]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var one struct{ World, Text, Answer string }
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		answers[key{one.World, one.Text}] = one.Answer
	}
	return func(world, sentence string, _ grounding.Asking) (string, bool) {
		answer, ok := answers[key{world, sentence}]
		return answer, ok
	}, lines.Err()
}

// CheckBy asks a model about each sentence as the gate of an agent does.
func CheckBy(ctx context.Context, m model.Model) func(world, sentence string, a grounding.Asking) (string, bool) {
	return func(_, _ string, a grounding.Asking) (string, bool) {
		req := model.Request{Task: "check", System: grounding.Instruction(), MaxTokens: mostChecked, Messages: model.ByTurns(a.Turns()...)}
		var said strings.Builder
		for event, err := range m.Stream(ctx, req) {
			if err != nil {
				return "", false
			}
			if event.Type == model.TextDelta {
				said.WriteString(event.Text)
			}
		}
		return said.String(), true
	}
}
