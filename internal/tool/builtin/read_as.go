package builtin

import (
	"strings"

	"liminal/internal/knowledge"
	textwords "liminal/internal/words"
)

// readAs is mistyped words as data.
func readAs(list []knowledge.ReadAs) []any {
	out := make([]any, 0, len(list))
	for _, r := range list {
		out = append(out, map[string]any{"word": r.Word, "as": r.As})
	}
	return out
}

// mistyped are words by what they were read as, of data.
func mistyped(given []any) []knowledge.ReadAs {
	var list []knowledge.ReadAs
	for _, e := range given {
		one, _ := e.(map[string]any)
		word, _ := one["word"].(string)
		as, _ := one["as"].(string)
		if word != "" && as != "" {
			list = append(list, knowledge.ReadAs{Word: word, As: as})
		}
	}
	return list
}

// respelled is a question with the words in it that were read as others.
func respelled(question string, given []any) string {
	for _, r := range mistyped(given) {
		for _, w := range textwords.Split(question) {
			if question[w.Start:w.End] == r.Word {
				question = question[:w.Start] + r.As + question[w.End:]
				break
			}
		}
	}
	return question
}

// readAsNote is what an answer says of words that were taken for others; "" when
// there are none.
func readAsNote(given []any, german bool) string {
	begins, between, open, shut := "Read ", " as ", "“", "”"
	if german {
		begins, between, open, shut = "Gelesen wurde ", " als ", "„", "“"
	}
	var read []string
	for _, r := range mistyped(given) {
		read = append(read, open+r.Word+shut+between+open+r.As+shut)
	}
	if len(read) == 0 {
		return ""
	}
	return begins + strings.Join(read, ", ") + "."
}
