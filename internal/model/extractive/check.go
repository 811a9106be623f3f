package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// Bounds of a check.
const (
	maxChecked = 40 // sentences of the text
	maxClosest = 2  // quotes for each
	alsoClose  = 0.8
)

// check shows, for each sentence of a text, what the documents say about the
// same. Whether they agree is for the reader to see.
func (t turn) check(w *writer) error {
	source := cmp.Or(t.material["source_text"], t.question)
	claims := claimsOf(source)
	switch {
	case len(t.passages) == 0:
		return w.say(t.say.noSource)
	case len(claims) == 0:
		return w.say(t.say.noClaims)
	}
	if err := w.say(t.say.checking); err != nil {
		return err
	}
	m, n, silent := knowledge.MatterOf(t.passages), &notes{}, 0
	for i, claim := range claims[:min(len(claims), maxChecked)] {
		if err := w.say(fmt.Sprintf("\n\n%d. “%s”", i+1, escapeMarkdown(claim))); err != nil {
			return err
		}
		found, err := t.closestTo(w, n, m, claim)
		if err != nil {
			return err
		}
		if !found {
			silent++
		}
	}
	if more := len(claims) - maxChecked; more > 0 {
		if err := w.say("\n\n" + fmt.Sprintf(t.say.moreClaims, more)); err != nil {
			return err
		}
	}
	if err := w.say("\n\n" + fmt.Sprintf(t.say.tally, min(len(claims), maxChecked)-silent, min(len(claims), maxChecked))); err != nil {
		return err
	}
	return t.web(w)
}

// closestTo quotes what comes closest to a sentence, or says that nothing
// does.
func (t turn) closestTo(w *writer, n *notes, m *knowledge.Matter, claim string) (bool, error) {
	quotes := m.Closest(claim, t.manner.closest)
	if len(quotes) == 0 || quotes[0].Rating < knowledge.Near {
		quotes = t.rowsOn(claim)
	}
	if len(quotes) == 0 {
		return false, w.say("\n\n   " + t.say.silent)
	}
	var said strings.Builder
	for i, q := range quotes {
		if i > 0 && q.Rating < max(knowledge.Near, alsoClose*quotes[0].Rating) {
			break
		}
		if err := w.say("\n\n"); err != nil {
			return true, err
		}
		if err := t.quote(w, n, q, false); err != nil {
			return true, err
		}
		if err := w.say("\n\n— " + t.place(q)); err != nil {
			return true, err
		}
		said.WriteString(q.Text + "\n")
	}
	if here, there := figures(claim), figures(said.String()); differ(here, there) {
		return true, w.say("\n\n*" + t.say.sideBySide + "* " + fmt.Sprintf(t.say.hereThere, strings.Join(here, ", "), strings.Join(there, ", ")))
	}
	return true, nil
}

// courtesy is what a letter begins and ends with.
var courtesy = pattern("courtesy")

// request begins a sentence that asks for the check.
var request = pattern("request")

// requests reports whether a sentence only says what is to be done with the
// text: "Is this in line with our policy?"
func requests(claim string) bool {
	return request.MatchString(claim) && slices.ContainsFunc(asked(flat.Replace(strings.ToLower(claim))), func(w wanted) bool {
		return w.action == doCheck && w.plain
	})
}

// claimsOf are the sentences of a text that state something: no headings, no
// courtesy.
func claimsOf(text string) []string {
	var out []string
	for _, s := range words.Sentences(text) {
		claim := knowledge.Fold(text[s.Start:s.End])
		if s.Form == words.Heading || s.Form == words.Fence || contentWords(claim) < 2 && len(strings.Fields(claim)) < 4 || contentWords(claim) < 1 || strings.HasSuffix(claim, ":") && s.Form == words.Prose {
			continue
		}
		if requests(claim) {
			continue
		}
		if courtesy.MatchString(claim) && contentWords(claim) < 6 {
			continue
		}
		out = append(out, strings.TrimLeft(claim, "-*+•◦‣▪– \t"))
	}
	return out
}
