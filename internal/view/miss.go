package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Cause is why what had been kept was not read.
type Cause string

// The causes. Those from Compact on begin another history.
const (
	ToolsChanged        Cause = "tools"
	SystemChanged       Cause = "system"
	MessageChanged      Cause = "message"
	SettingsChanged     Cause = "settings" // a member of the body beside those
	ModelChanged        Cause = "model"
	OrganisationChanged Cause = "organisation"
	Idle                Cause = "idle"         // longer than it lives
	LookedTooFar        Cause = "lookback"     // more than 20 blocks since the last mark
	Unmarked            Cause = "unmarked"     // the request marks nothing
	HeaderChanged       Cause = "header"       // a beta, say
	ContextEdited       Cause = "context_edit" // the provider took something out of the context
	EpochOpened         Cause = "epoch"        // our own
	UpstreamMissed      Cause = "upstream"     // the same and warm: the provider has lost it
	NotTold             Cause = "unknown"
	AfterCompact        Cause = "compact"
	AfterClear          Cause = "clear"
	AfterRewind         Cause = "rewind"
)

// Miss is what was not read although it had been kept.
type Miss struct {
	Cause Cause
	Where string // in a few words, without what anybody said
	// Tokens is how many were not read again.
	Tokens int64
	// Part is the first that differs, by its place in the request and in the one
	// before; -1: none does.
	Part int
}

// Before is the request before in a lineage, and how many tokens were kept behind it.
type Before struct {
	Prompt
	Kept int64
}

// A miss is worth being told from so many tokens, and from this share of the request.
const (
	leastMissed = 500
	leastShare  = 0.05
)

// missedTokens is how many tokens that were kept a request did not read; 0: too few to tell.
func missedTokens(kept int64, b Billed) int64 {
	n := min(kept, b.Total()) - b.Read
	if n < leastMissed || float64(n) < leastShare*float64(b.Total()) {
		return 0
	}
	return n
}

// Begun is the miss of a request that begins another history, for a reason; nil: there
// is none worth telling.
func Begun(kept int64, why Cause, b Billed) *Miss {
	if n := missedTokens(kept, b); n > 0 {
		return &Miss{Cause: why, Where: "another history began", Tokens: n, Part: -1}
	}
	return nil
}

// Explain says why a request read less than the one before it in its lineage had kept;
// nil: it did not. f is its forecast; edited tells that the provider took something out
// of its context.
func Explain(before Before, now Prompt, f Forecast, b Billed, edited bool) *Miss {
	n := missedTokens(before.Kept, b)
	if n == 0 {
		return nil
	}
	m := &Miss{Tokens: n, Part: -1}
	is := func(c Cause, where string, args ...any) *Miss {
		m.Cause, m.Where = c, fmt.Sprintf(where, args...)
		return m
	}
	warm := f.Read-b.Read >= n/2
	switch {
	case now.Epoch != before.Epoch:
		return is(EpochOpened, "epoch %d", now.Epoch)
	case now.Model != before.Model:
		return is(ModelChanged, "%s, before that %s", now.Model, before.Model)
	case now.Organisation != before.Organisation:
		return is(OrganisationChanged, "the key of another organisation")
	case warm && edited:
		return is(ContextEdited, "context_management")
	case warm && !maps.Equal(now.Headers, before.Headers):
		return is(HeaderChanged, "%s", changedHeaders(before.Headers, now.Headers))
	case warm && !maps.Equal(now.Settings, before.Settings):
		return is(SettingsChanged, "%s", strings.Join(changedNames(before.Settings, now.Settings), ", "))
	case warm:
		return is(UpstreamMissed, "identical and warm")
	}
	last, lives := before.lastMark()
	if idle := now.At.Sub(before.At); last >= 0 && idle > lives {
		return is(Idle, "%s since the request before, kept for %s", shortTime(idle), shortTime(lives))
	}
	if d := compare(before.Prompt, now, last); d != nil {
		d.Tokens = n
		return d
	}
	if list := changedNames(before.Settings, now.Settings); slices.ContainsFunc(list, partOfPrefix) {
		return is(SettingsChanged, "%s", strings.Join(list, ", "))
	}
	marks := now.marks()
	if len(marks) == 0 {
		return is(Unmarked, "no cache_control")
	}
	next := slices.IndexFunc(marks, func(i int) bool { return i >= last })
	if next >= 0 && marks[next]-last >= lookBack {
		return is(LookedTooFar, "%d blocks since the last mark, of which %d are looked back", marks[next]-last, lookBack)
	}
	return is(NotTold, "the same, and not known to be kept")
}

func partOfPrefix(name string) bool {
	return name == "tool_choice" || name == "thinking" || name == "speed"
}

// lastMark is the last part with a mark, and how long what ends there is kept.
func (p Prompt) lastMark() (at int, lives time.Duration) {
	marks := p.marks()
	if len(marks) == 0 {
		return -1, 0
	}
	at = marks[len(marks)-1]
	return at, p.Parts[at].Mark
}

// Compare is the first part of a request that is another in the next one, as the cause
// of a miss; nil: all of it begins the next one.
func Compare(before, now Prompt) *Miss { return compare(before, now, len(before.Parts)-1) }

// compare looks at the parts up to one.
func compare(before, now Prompt, last int) *Miss {
	for i := 0; i <= last; i++ {
		if i < len(now.Parts) && now.Parts[i].Key == before.Parts[i].Key && now.Parts[i].Section == before.Parts[i].Section {
			continue
		}
		return (&Miss{Part: i}).differs(before, now)
	}
	return nil
}

// differs says what of the request is another than before, from m.Part on.
func (m *Miss) differs(before, now Prompt) *Miss {
	section := before.Parts[m.Part].Section
	if m.Part < len(now.Parts) {
		section = min(section, now.Parts[m.Part].Section)
	}
	switch section {
	case InTools:
		m.Cause, m.Where = ToolsChanged, changedTools(before, now)
	case InSystem:
		m.Cause, m.Where = SystemChanged, fmt.Sprintf("block %d", 1+m.Part-sectionStart(before, InSystem))
	default:
		m.Cause = MessageChanged
		if m.Part >= len(now.Parts) {
			m.Where = fmt.Sprintf("%d blocks fewer", len(before.Parts)-len(now.Parts))
			break
		}
		part := now.Parts[m.Part]
		block := 1
		for i := m.Part - 1; i >= 0 && now.Parts[i].Section == InMessages && now.Parts[i].Message == part.Message; i-- {
			block++
		}
		m.Where = fmt.Sprintf("message %d, block %d (%s)", part.Message, block, part.Name)
	}
	return m
}

// sectionStart is the first part of a section.
func sectionStart(p Prompt, s Section) int {
	for i, part := range p.Parts {
		if part.Section >= s {
			return i
		}
	}
	return len(p.Parts)
}

// mostNamed is how many tools or values are named.
const mostNamed = 6

// changedTools says which of two lists differ.
func changedTools(before, now Prompt) string {
	list := func(p Prompt) (names []string, keys map[string]string) {
		keys = map[string]string{}
		for _, part := range p.Parts[:sectionStart(p, InSystem)] {
			names = append(names, part.Name)
			keys[part.Name] = part.Key
		}
		return names, keys
	}
	wasNames, was := list(before)
	isNames, is := list(now)
	var out []string
	for _, name := range isNames {
		if key, there := was[name]; !there {
			out = append(out, "+"+name)
		} else if key != is[name] {
			out = append(out, "~"+name)
		}
	}
	for _, name := range wasNames {
		if _, there := is[name]; !there {
			out = append(out, "-"+name)
		}
	}
	if len(out) == 0 {
		return "in another order"
	}
	return listSome(out)
}

func listSome(list []string) string {
	if len(list) > mostNamed {
		return strings.Join(list[:mostNamed], " ") + fmt.Sprintf(" and %d more", len(list)-mostNamed)
	}
	return strings.Join(list, " ")
}

// changedNames are the names whose values differ, in order.
func changedNames(before, now map[string]string) (list []string) {
	for name, value := range now {
		if before[name] != value {
			list = append(list, name)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// changedHeaders says which values of headers came and went.
func changedHeaders(before, now map[string]string) string {
	var out []string
	for _, name := range changedNames(before, now) {
		values := func(of string) []string {
			return strings.FieldsFunc(of, func(r rune) bool { return r == ',' || r == ' ' })
		}
		was, is := values(before[name]), values(now[name])
		var list []string
		for _, value := range is {
			if !slices.Contains(was, value) {
				list = append(list, "+"+value)
			}
		}
		for _, value := range was {
			if !slices.Contains(is, value) {
				list = append(list, "-"+value)
			}
		}
		out = append(out, name+" "+listSome(list))
	}
	return strings.Join(out, "; ")
}

// shortTime is a time without what nobody reads of it: 5m, 1h, 12m31s.
func shortTime(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
