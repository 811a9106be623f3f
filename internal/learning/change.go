package learning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/fault"
)

// Bounds of the texts of a case, in bytes, and of what a person writes of their
// clusters, in characters.
const (
	maxQuestion    = maxContext
	maxAnswer      = 16 << 10
	MaxLabel       = 80
	MaxDescription = 300
)

// Clipped is c with its two texts cut to what a case may have.
func (c Case) Clipped() Case {
	c.Question, c.Answer = clip(c.Question, maxQuestion), clip(c.Answer, maxAnswer)
	return c
}

// Checked is a change as a person may make it, its text without blanks around
// it. Invalid: a text that is empty, longer than MaxLesson or of several lines;
// a state that only the gate gives.
func (c LessonChange) Checked() (LessonChange, error) {
	if c.Text != nil {
		text, err := oneLine(*c.Text, "text", 1, MaxLesson)
		if err != nil {
			return c, err
		}
		c.Text = &text
	}
	if c.State != nil && *c.State != LessonActive && *c.State != LessonOff {
		return c, fault.New(fault.Invalid, "A lesson is switched %s or %s.", LessonActive, LessonOff).With(map[string]any{"field": "state"})
	}
	return c, nil
}

// Named gives a cluster words of a person's, which stay; nil leaves one of
// them. Invalid: a label that is empty or too long, or a description too long.
func (c Cluster) Named(label, description *string) (_ Cluster, err error) {
	if label != nil {
		if c.Label, err = oneLine(*label, "label", 1, MaxLabel); err != nil {
			return c, err
		}
	}
	if description != nil {
		if c.Description, err = oneLine(*description, "description", 0, MaxDescription); err != nil {
			return c, err
		}
	}
	c.LabelBy = ByPerson
	return c, nil
}

// oneLine is a text of least to most characters in one line.
func oneLine(text, field string, least, most int) (string, error) {
	text = strings.TrimSpace(text)
	n := utf8.RuneCountInString(text)
	if !utf8.ValidString(text) || n < least || n > most || strings.ContainsFunc(text, unicode.IsControl) {
		return "", fault.New(fault.Invalid, "The %s has to be one line of %d to %d characters.", field, least, most).With(map[string]any{"field": field})
	}
	return text, nil
}
