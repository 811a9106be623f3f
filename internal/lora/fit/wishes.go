package fit

import (
	"fmt"
	"strings"
)

// What a model that was made can be asked and wished, for those who measure what
// people's wishes become.

// Things is how many things it was taught to talk about.
func Things() int { return len(things) }

// Wordings is in how many ways Ask asks.
func Wordings() int { return len(asksWhat) }

// Ask is a question about a thing, in one of the ways that are taught.
func Ask(thing, wording int) string {
	t := things[thing]
	return fmt.Sprintf(asksWhat[wording], strings.ToLower(t.article)+" "+t.name)
}

// Answer is what is said of a thing in some forms that go together.
func Answer(thing int, forms ...Form) string { return render(things[thing], forms...) }

// Says reports whether an answer says what a thing is, in either language.
func Says(thing int, answer string) bool {
	answer = strings.ReplaceAll(strings.ToLower(answer), "*", "")
	return strings.Contains(answer, strings.ToLower(things[thing].is)) || strings.Contains(answer, strings.ToLower(things[thing].isDE))
}

// GoTogether reports whether an answer can have both forms.
func GoTogether(a, b Form) bool { return goTogether(a, b) }

// Untaught are ways to wish for a form that were never taught.
func Untaught(f Form) []string { return wordings[f][len(wordings[f])-heldOut:] }

// System is what the chat tells a model that answers it.
func System() string { return systems[0] }
