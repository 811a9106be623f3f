package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longAnswer is how many characters of Markdown the long answer has at least.
const longAnswer = 100_000

// longModel answers what asks for it "at length" with a hundred thousand
// characters over some ten seconds, a question "in one block" with as many in a
// single block of code and a single list, one "briskly" with slowScript's
// sentences in less than half the time, one "without end" with those and then
// nothing until it is stopped, one "bit by bit" with eight of them and the others
// once the file gate is there, and everything else like slowScript.
func longModel(t *testing.T, gate string) []string {
	t.Helper()
	type step map[string]any
	stream := func(pieces []string) (steps []step) {
		for _, piece := range pieces {
			steps = append(steps, step{"text": piece, "chunk": 24}, step{"pause": "50ms"})
		}
		return steps
	}
	var script struct {
		Name    string `json:"name"`
		Answers []any  `json:"answers"`
	}
	if err := json.Unmarshal(slowScript(t), &script); err != nil {
		t.Fatal(err)
	}
	slowly := script.Answers[1].(map[string]any)
	var briskly []any // the same sentences over some three seconds
	for _, s := range slowly["steps"].([]any) {
		if _, paused := s.(map[string]any)["pause"]; paused {
			s = step{"pause": "100ms"}
		}
		briskly = append(briskly, s)
	}
	script.Answers = append([]any{
		script.Answers[0], // what the intent is
		step{"contains": "at length", "steps": stream(manySections())},
		step{"contains": "in one block", "steps": stream(twoBlocks())},
		step{"contains": "briskly", "steps": briskly},
		step{"contains": "without end", "steps": append(slices.Clone(briskly), step{"hang": true})},
		step{"contains": "bit by bit", "steps": slices.Insert(slices.Clone(briskly), 2*8, any(step{"until": gate}))},
	}, script.Answers[1:]...)
	raw, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"MODEL_BACKEND=scripted", "LIMINAL_MODEL_SCRIPT=" + file}
}

const filler = "Records are kept for seven years after the relationship with the customer ends, and longer where a **court** has said so. "

// manySections is an answer of the usual kind, only long: headings,
// paragraphs, lists, tables and code. "End of section N." stands in each once.
func manySections() (pieces []string) {
	for n, size := 1, 0; size < longAnswer; n++ {
		var b strings.Builder
		fmt.Fprintf(&b, "## Section %d\n\n%s%s\n\n- one point\n- another, with `code`\n\n", n, filler, filler)
		switch n % 3 {
		case 0:
			b.WriteString("| What | How long |\n|---|--:|\n| Letters | 6 years |\n| Invoices | 8 years |\n\n")
		case 1:
			b.WriteString("```go\nfunc keep(years int) bool {\n\treturn years < 7 // and no longer\n}\n```\n\n")
		default:
			b.WriteString("> " + filler + "\n\n")
		}
		fmt.Fprintf(&b, "%sEnd of section %d.\n\n", filler, n)
		pieces = append(pieces, b.String())
		size += b.Len()
	}
	return pieces
}

// twoBlocks is the answer that settles nothing for long: one block of code,
// then one list.
func twoBlocks() (pieces []string) {
	pieces = append(pieces, "```json\n")
	for n, size := 0, 0; size < longAnswer/2; size += 700 {
		var b strings.Builder
		for range 10 {
			n++
			fmt.Fprintf(&b, `{"line": %d, "what": "a record that is kept for seven years"},`+"\n", n)
		}
		pieces = append(pieces, b.String())
	}
	pieces = append(pieces, "```\n\n")
	for n, size := 0, 0; size < longAnswer/2; size += 700 {
		var b strings.Builder
		for range 6 {
			n++
			fmt.Fprintf(&b, "- point %d: %s\n", n, filler)
		}
		pieces = append(pieces, b.String())
	}
	return append(pieces, "\nThat is all of it.\n")
}
