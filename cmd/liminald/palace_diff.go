package main

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/id"
	captured "liminal/internal/palace"
)

// diffNow is what of a request was sent otherwise.
type diffNow struct {
	Epoch   int               `json:"epoch"`
	Why     string            `json:"why"`
	Asked   int64             `json:"request_size"`
	Sent    int64             `json:"sent_size"`
	Changes []captured.Change `json:"changes"`
}

// diff tells what of a request a view sent otherwise than the client did.
func (p *palace) diff(ctx context.Context) error {
	if !id.Valid(p.args[0]) {
		return usageError{fmt.Errorf("%q is no exchange; liminald palace list has their ids, which are whole here", p.args[0])}
	}
	var d diffNow
	if err := p.get(ctx, "/v1/palace/exchanges/"+p.args[0]+"/diff", &d); err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, d)
	}
	if d.Why == "" && len(d.Changes) == 0 {
		_, err := fmt.Fprintf(p.out, "the request was sent as it was, %s\n", size(d.Asked))
		return err
	}
	var heads struct {
		Transformed []captured.Transformation `json:"input_transformations"`
	}
	if err := p.get(ctx, "/v1/palace/exchanges/"+p.args[0], &heads); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d (%s): %s asked, %s sent, %s\n", d.Epoch, d.Why, size(d.Asked), size(d.Sent), count(len(d.Changes), "change"))
	for _, c := range d.Changes {
		where := "outside the messages"
		if c.Message >= 0 {
			where = fmt.Sprintf("message %d", c.Message+1)
		}
		if c.Result != "" {
			where += ", the result of " + c.Result
		}
		fmt.Fprintf(&b, "\n%s, bytes %d to %d\n- %s\n+ %s\n", where, c.From, c.To, shownOf(c.Was), shownOf(c.Is))
	}
	for _, t := range heads.Transformed {
		fmt.Fprintf(&b, "\nthe backend says: %s, %s, %s\n", t.Type, t.Path, t.Reason)
	}
	_, err := fmt.Fprint(p.out, harmless(b.String()))
	return err
}

// mostShown is how much of a changed text is shown at its beginning and at its end, in
// bytes; --json has all of it.
const mostShown = 300

func shownOf(text string) string {
	if len(text) <= 2*mostShown {
		return text
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s … %d bytes … %s", text[:mostShown], len(text)-2*mostShown, text[len(text)-mostShown:]), "")
}
