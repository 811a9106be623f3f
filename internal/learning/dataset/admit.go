package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"liminal/internal/redact"
)

// Reason is why a case, or a part of it, is not trained with.
type Reason string

// The reasons.
const (
	Withheld   Reason = "withheld"   // TRAIN-13
	Excluded   Reason = "excluded"   // the person said so
	Foreign    Reason = "foreign"    // somebody else's
	Untrusted  Reason = "untrusted"  // made with text from the web, and not corrected
	Superseded Reason = "superseded" // the person said something else of the same answer later
	Duplicate  Reason = "duplicate"  // nearly the same as a newer one
	Short      Reason = "short"      // the target
	Long       Reason = "long"       // the target
	NoPrompt   Reason = "no_prompt"  // nothing is known of what it answers
	Budget     Reason = "budget"     // tokens of the plan
)

// admit sorts the cases and leaves out what may not be trained with; the texts
// of those it keeps have no personal data and no secrets.
func (m *maker) admit(cases []Case) []Case {
	cases = slices.Clone(cases)
	slices.SortFunc(cases, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	m.of = map[string]int{}
	latest := map[[2]string]int64{}
	foreign := func(c Case) bool { return !m.o.Shared && m.o.Owner != "" && c.UserID != m.o.Owner }
	for _, c := range cases {
		if foreign(c) {
			continue // nor does it take the place of what its owner said
		}
		m.of[hourOf(c)]++
		latest[about(c)] = c.ID
	}
	var kept []Case
	for _, c := range cases {
		switch {
		case foreign(c):
			m.left[Foreign]++
		case latest[about(c)] != c.ID:
			m.left[Superseded]++
		case c.Withheld:
			m.left[Withheld]++
		case c.Excluded:
			m.left[Excluded]++
		case c.Score > 0 && c.Untrusted && c.Corrected == "":
			m.left[Untrusted]++
		default:
			if n := m.of[hourOf(c)]; m.o.Hourly > 0 && n > m.o.Hourly {
				m.damped++
			}
			kept = append(kept, m.clean(c))
		}
	}
	return kept
}

// about is the answer an event is of (TRAIN-04).
func about(c Case) [2]string { return [2]string{c.ConversationID, c.MessageID} }

// hourOf is the person and the hour of an event.
func hourOf(c Case) string { return fmt.Sprintf("%s %d", c.UserID, c.CreatedAt.Unix()/3600) }

// clean takes personal data and secrets out of all texts of a case.
func (m *maker) clean(c Case) Case {
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		c.Turns[i].Content = m.redact(c.Turns[i].Content)
	}
	c.ContextText, c.Corrected, c.Answer = m.redact(c.ContextText), m.redact(c.Corrected), m.redact(c.Answer)
	return c
}

func (m *maker) redact(text string) string {
	clean := redact.Text(text)
	if clean != text {
		m.redacted++
	}
	return strings.TrimSpace(clean)
}

// rows are the answers to imitate: corrections (PREF-04), and answers that were
// liked as they are.
func (m *maker) rows(cases []Case) []Row {
	var rows []Row
	for _, c := range cases {
		target := c.Corrected
		if target == "" && c.Score > 0 {
			target = c.Answer
		}
		if target == "" {
			continue // an answer that was disliked, with no better one: see unpaired
		}
		prompt, tokens, why := m.fit(c, target)
		if why != "" {
			m.left[why]++
			continue
		}
		rows = append(rows, Row{
			Prompt: prompt, Target: target, Weight: m.weight(c), Context: c.ContextText, ConversationID: c.ConversationID, MessageID: c.MessageID,
			EventID: c.ID, UserID: c.UserID, Tokens: tokens, at: c.CreatedAt, asked: prompt[len(prompt)-1].Content,
		})
	}
	return rows
}

// fit is what stood before an answer, cut from its old end until it has room
// with all of the targets (TRAIN-02, TRAIN-04). tokens are those of the prompt
// and of all targets.
func (m *maker) fit(c Case, targets ...string) (prompt []Turn, tokens int, why Reason) {
	turns := c.Turns[max(0, len(c.Turns)-m.o.Turns):]
	turns = slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool { return t.Content == "" })
	if c.ContextText != "" && !slices.ContainsFunc(turns, func(t Turn) bool { return strings.Contains(t.Content, c.ContextText) }) {
		turns = append(turns, Turn{"user", c.ContextText})
	}
	if len(turns) == 0 {
		return nil, 0, NoPrompt
	}
	longest := 0
	for _, target := range targets {
		_, n := m.o.Tokens(nil, target)
		switch {
		case n < m.o.LeastTarget:
			return nil, 0, Short
		case n > m.o.MostTarget:
			return nil, 0, Long
		}
		tokens += n
		longest = max(longest, n)
	}
	size := func(prompt []Turn) int { n, _ := m.o.Tokens(prompt, ""); return n }
	room := m.o.MostRow - longest
	from := sort.Search(len(turns)-1, func(i int) bool { return size(turns[i:]) <= room })
	prompt = turns[from:]
	if len(prompt) == 1 && size(prompt) > room {
		if prompt = shortened(prompt[0], room, size); prompt == nil {
			return nil, 0, Long
		}
	}
	return prompt, tokens + len(targets)*size(prompt), ""
}

// shortened is a turn without its beginning, so much of it as has room; nil when
// nothing has.
func shortened(t Turn, room int, size func([]Turn) int) []Turn {
	text := t.Content
	at := func(i int) string {
		for i < len(text) && !utf8.RuneStart(text[i]) {
			i++
		}
		return text[i:]
	}
	from := sort.Search(len(text), func(i int) bool { return size([]Turn{{t.Role, at(i)}}) <= room })
	if rest := strings.TrimSpace(at(from)); rest != "" {
		return []Turn{{t.Role, rest}}
	}
	return nil
}
