package palace

import (
	"context"
	"encoding/json"
	"fmt"

	"liminal/internal/capture"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Sent is what reached the backend where that is not what the client sent.
type Sent struct {
	// Epoch is the number of the one that was in force; 0: none was.
	Epoch  int    `json:"epoch"`
	Client string `json:"-"`
	// Why is view, left or raw: what is in force was sent, a view had been left, or the
	// backend had refused one.
	Why     string `json:"why"`
	Refused string `json:"refused,omitempty"` // what it said then
	Size    int64  `json:"size"`
	Hash    string `json:"sha256"` // "": the request was not kept
	// Raw is what the client's own body should have been charged for, RawUSD what that
	// costs by the list of prices; nil: that cannot be told.
	Raw    *Usage   `json:"raw_usage,omitempty"`
	RawUSD *float64 `json:"raw_usd,omitempty"`
	// Edits make it of the client's body, packed. They are asked for by themselves.
	Edits []byte `json:"-"`
}

// sentOf is what a spool says of what was sent.
func sentOf(s *capture.Sent) (*Sent, error) {
	if s == nil {
		return nil, nil
	}
	raw, err := json.Marshal(s.Edits)
	if err != nil {
		return nil, err
	}
	edits, err := packed(raw)
	return &Sent{Epoch: s.Epoch, Client: s.Client, Why: s.Why, Refused: s.Refused, Size: s.Size, Hash: s.Sum, Edits: edits}, err
}

// Saved is what requests in a view cost, and what the client's own would have.
type Saved struct {
	// Exchanges are those of which both can be told.
	Exchanges int      `json:"exchanges"`
	Paid      *float64 `json:"paid_usd" nullable:"true"`
	Raw       *float64 `json:"raw_usd" nullable:"true"`
	// Low and High are the bounds of Raw, by how far forecasts of the history were off;
	// nil: they were too far off to tell.
	Low  *float64 `json:"low_usd" nullable:"true"`
	High *float64 `json:"high_usd" nullable:"true"`
}

// SavedOf are figures with their bounds.
func SavedOf(exchanges int, paid, raw *float64, off []float64) Saved {
	s := Saved{Exchanges: exchanges, Paid: paid, Raw: raw}
	if r := view.RulerOf(off); r.Holds() && raw != nil {
		low, high := *raw*(1-r.P90), *raw*(1+r.P90)
		s.Low, s.High = &low, &high
	}
	return s
}

// edits are those that make what was sent of an exchange.
func (l *Library) edits(ctx context.Context, v identity.Viewer, id string) (list []view.Edit, err error) {
	raw, err := l.PalaceEdits(ctx, v, id)
	if err == nil {
		raw, err = unpacked(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

// Sent is the body that reached the backend, to the byte.
func (l *Library) Sent(ctx context.Context, v identity.Viewer, id string) (e Exchange, body []byte, err error) {
	if e, body, err = l.Request(ctx, v, id); err != nil || e.Sent == nil {
		return e, body, err
	}
	edits, err := l.edits(ctx, v, id)
	if err == nil {
		body, err = capture.Sent{Edits: edits, Sum: e.Sent.Hash}.Of(body)
	}
	if err != nil {
		return e, nil, fmt.Errorf("what was sent of %s: %w", id, err)
	}
	return e, body, nil
}

// Change is a part of a request that was sent otherwise.
type Change struct {
	// From and To are where it stands in the client's body.
	From int `json:"from"`
	To   int `json:"to"`
	// Message is which of the messages it is in, from 0; -1: it is in none.
	Message int `json:"message"`
	// Result is the tool_use id of a result; "": it is none.
	Result string `json:"result,omitempty"`
	Was    string `json:"was"` // its JSON
	Is     string `json:"is"`
}

// Changes are what of a request was sent otherwise, in order.
func (l *Library) Changes(ctx context.Context, v identity.Viewer, id string) (e Exchange, list []Change, err error) {
	e, body, err := l.Request(ctx, v, id)
	list = []Change{}
	if err != nil || e.Sent == nil {
		return e, list, err
	}
	edits, err := l.edits(ctx, v, id)
	if err != nil {
		return e, nil, err
	}
	b, err := view.ReadBody(body)
	if err != nil {
		return e, nil, err
	}
	for _, d := range edits {
		c := Change{From: d.From, To: d.To, Message: -1, Was: string(body[d.From:d.To]), Is: d.Text}
		for i, m := range b.Messages {
			if d.From < m.From || d.To > m.To {
				continue
			}
			c.Message = i
			for _, p := range m.Parts {
				if p.Type == "tool_result" && p.From <= d.From && d.To <= p.To {
					c.Result = p.ID
				}
			}
		}
		list = append(list, c)
	}
	return e, list, nil
}
