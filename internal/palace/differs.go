package palace

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Difference is where a request and the one before it in its history begin to differ.
type Difference struct {
	Before string `json:"before"` // that exchange
	// Part is what differs first, as a miss says it; "": the request only adds.
	Part string `json:"part"`
	// At is the first character that differs in the JSON of the part, with its keys in
	// order, and Was and Is what stands there, from a little before it.
	At  int    `json:"at"`
	Was string `json:"was"`
	Is  string `json:"is"`
}

// mostShown is how much of two texts is shown where they differ, and contextShown how
// much before it, in bytes.
const (
	mostShown    = 160
	contextShown = 40
)

// Difference compares a request with the one before it.
func (l *Library) Difference(ctx context.Context, v identity.Viewer, id string) (d Difference, err error) {
	e, is, err := l.Request(ctx, v, id)
	if err != nil {
		return d, err
	}
	before, err := l.PalaceExchangeBefore(ctx, v, e)
	if err != nil {
		return d, err
	}
	_, was, err := l.Request(ctx, v, before.ID)
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			err = fault.Wrap(fault.NotFound, err, "The request before this one is not kept, so there is nothing to compare it with.")
		}
		return d, err
	}
	d = differs(was, is)
	d.Before = before.ID
	return d, nil
}

// differs compares two requests, the earlier one first.
func differs(was, is []byte) (d Difference) {
	r := newReader()
	before, now := r.readAsked(was, nil), r.readAsked(is, nil)
	from, to := placesOf(before, was), placesOf(now, is)
	m := view.Compare(promptOf(&capture.Exchange{}, before), promptOf(&capture.Exchange{}, now))
	if m == nil {
		return d
	}
	d.Part = string(m.Cause) + ": " + m.Where
	text := func(body []byte, places []capture.Span) string {
		if m.Part >= len(places) {
			return ""
		}
		return canonicalText(body[places[m.Part].From:places[m.Part].To])
	}
	first, second := text(was, from), text(is, to)
	for d.At < min(len(first), len(second)) && first[d.At] == second[d.At] {
		d.At++
	}
	d.Was, d.Is = shownFrom(first, d.At), shownFrom(second, d.At)
	d.At = utf8.RuneCountInString(strings.ToValidUTF8(first[:d.At], "")) + 1
	return d
}

// placesOf are where the parts of a prompt stand in its body.
func placesOf(a asked, body []byte) (list []capture.Span) {
	for _, p := range a.tools {
		for e := range capture.Elements(body, p.span.From) {
			if v, ok := decoded(body[e.From:e.To]).(map[string]any); ok && v["defer_loading"] != true {
				list = append(list, e)
			}
		}
	}
	for _, p := range a.system {
		if !strings.HasPrefix(p.label, billingLine) {
			list = append(list, p.span)
		}
	}
	for _, p := range a.messages {
		list = append(list, p.span)
	}
	return list
}

// shownFrom is a little of a text, from a little before a place.
func shownFrom(text string, at int) string {
	from := max(0, at-contextShown)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	return strings.ToValidUTF8(text[from:min(len(text), from+mostShown)], "")
}

func canonicalText(raw []byte) string {
	text, _ := json.Marshal(view.Canonical(decoded(raw))) // of what was JSON
	return string(text)
}
