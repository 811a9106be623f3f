package palace

import (
	"context"
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Transformation is what a backend says it changed of a request before its model read it.
// The only one that is known leaves out a block of thinking; others may come, and are kept
// by what they are called.
type Transformation struct {
	Type   string `json:"type"`
	Path   string `json:"path"`   // messages.1.content.0
	Reason string `json:"reason"` // which check the block failed
}

// ThinkingDropped is the type of those that leave out thinking.
const ThinkingDropped = "thinking_dropped"

// mostTransformed bounds what is kept of one request: an entry is a block of it.
const mostTransformed = 10_000

// transformationsOf reads what a message says of them, whatever form an entry has; told is
// false where it says nothing. It must not fail: tokens stand beside it.
func transformationsOf(raw json.RawMessage) (list []Transformation, told bool) {
	var entries []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &entries) != nil || entries == nil {
		return nil, false
	}
	list = []Transformation{}
	for _, e := range entries[:min(len(entries), mostTransformed)] {
		var doc map[string]any
		_ = json.Unmarshal(e, &doc) // what is no object says nothing
		text := func(name string) string { s, _ := doc[name].(string); return shortened(s) }
		t := Transformation{Type: text("type"), Path: text("path"), Reason: text("reason")}
		if t.Type == "" {
			t.Type = "unknown"
		}
		list = append(list, t)
	}
	return list, true
}

// EpochTokens are those of a request beside the beginning of an epoch.
type EpochTokens struct {
	Exchange string `json:"exchange"`
	Input    int64  `json:"input_tokens"`
	Read     int64  `json:"cache_read_tokens"`
	Write    int64  `json:"cache_write_tokens"`
	// Dropped is how much thinking the backend left out, in blocks.
	Dropped int `json:"thinking_dropped"`
}

// Epochs are those of a lineage, the oldest first, each with what the requests before and
// behind its beginning were charged for (proxy.md E7).
func (l *Library) Epochs(ctx context.Context, v identity.Viewer, lineage string) ([]Epoch, error) {
	list, err := l.PalaceEpochs(ctx, v, lineage)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].First == "" {
			continue
		}
		first, err := l.PalaceExchange(ctx, v, list[i].First)
		if err != nil {
			return nil, err
		}
		if list[i].After, err = epochTokens(first); err != nil {
			return nil, err
		}
		before, err := l.PalaceExchangeBefore(ctx, v, first)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err == nil { // with its wire, which lists do not have
			before, err = l.PalaceExchange(ctx, v, before.ID)
		}
		if err == nil {
			list[i].Before, err = epochTokens(before)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func epochTokens(e Exchange) (*EpochTokens, error) {
	t := &EpochTokens{Exchange: e.ID, Input: e.Usage.Input, Read: e.Usage.Read, Write: e.Usage.Write5m + e.Usage.Write1h}
	w, err := OpenWire(e.Wire)
	for _, one := range w.Transformed {
		if one.Type == ThinkingDropped {
			t.Dropped++
		}
	}
	return t, err
}
