package fault

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Sentence is one taken apart, for who says it in another language: Text names
// the sentence, with {1}, {2} … where its values stand.
type Sentence struct {
	Text   string   `json:"text" doc:"names the sentence: in English, with {1}, {2} … where its values stand"`
	Values []string `json:"values" doc:"in the order of their places"`
}

var verb = regexp.MustCompile(`%[-+# 0]*\d*(?:\.\d+)?[a-zA-Z%]`)

// Say takes apart what fmt.Sprintf makes of a format with these values; nil where
// the format has no words of its own, so that there is nothing to look up.
func Say(format string, args ...any) *Sentence {
	s := Sentence{Values: []string{}}
	n := 0
	s.Text = verb.ReplaceAllStringFunc(format, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return "%"
		}
		if n++; n > len(args) {
			return "{" + strconv.Itoa(n) + "}"
		}
		if strings.HasSuffix(v, "q") { // each language has its own quotation marks
			v = "%v"
		}
		s.Values = append(s.Values, fmt.Sprintf(v, args[n-1]))
		return "{" + strconv.Itoa(n) + "}"
	})
	if !word.MatchString(s.Text) {
		return nil
	}
	return &s
}

var word = regexp.MustCompile(`[a-zA-Z]`)

// Said is the error's sentence taken apart; nil where it has none of its own.
func (e *Error) Said() *Sentence {
	if e.said == nil {
		return Say(e.format, e.args...)
	}
	return e.said
}

// Saying returns a copy whose sentence was taken apart elsewhere.
func (e *Error) Saying(said *Sentence) *Error {
	c := *e
	c.said = said
	return &c
}
