package insights

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/identity"
)

// QuestionLength is how many characters a question has at most that is
// compared: what is longer is a text, and nobody asks it alike twice.
const QuestionLength = 300

// questions are those that were asked most. Other people's words are told only
// where two of them asked the same; one's own are one's own to see.
func (r *Reader) questions(ctx context.Context, v identity.Viewer, turns []Turn) ([]Question, error) {
	runs := make([]string, 0, min(len(turns), QuestionsMost))
	for _, t := range turns[:min(len(turns), QuestionsMost)] {
		runs = append(runs, t.RunID)
	}
	asked, err := r.store.Asked(ctx, v, runs)
	if err != nil {
		return nil, err
	}
	return top(asked, v.UserID), nil
}

// heard is a question and who asked it.
type heard struct {
	Question
	people map[string]bool
}

func top(asked []Asked, reader string) []Question {
	all := map[string]*heard{}
	for _, a := range asked {
		key := normal(a.Text)
		if key == "" {
			continue
		}
		h := all[key]
		if h == nil {
			h = &heard{Question{Text: strings.Join(strings.Fields(a.Text), " ")}, map[string]bool{}}
			all[key] = h
		}
		h.Times++
		h.people[a.UserID] = true
	}
	var list []Question
	for _, h := range all {
		h.People = len(h.people)
		if h.Times > 1 && (h.People > 1 || h.people[reader]) {
			list = append(list, h.Question)
		}
	}
	slices.SortFunc(list, func(a, b Question) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(b.People, a.People), strings.Compare(a.Text, b.Text))
	})
	return list[:min(len(list), topQuestions)]
}

// normal is what a question is compared by; empty: it is not.
func normal(text string) string {
	if utf8.RuneCountInString(text) > QuestionLength {
		return ""
	}
	line := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	return strings.TrimRightFunc(line, func(c rune) bool { return unicode.IsPunct(c) || unicode.IsSpace(c) })
}
