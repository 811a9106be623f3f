package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"liminal/internal/capture/proxy"
	"liminal/internal/capture/recall"
	"liminal/internal/id"
	"liminal/internal/view"
)

// recall prints what a block says, as an agent gets it at /mcp: the proxy has what is set
// aside in what passed last, and the platform everything that it took in.
func (p *palace) recall(ctx context.Context) error {
	if p.from < 0 || p.bytes < 0 {
		return usageError{errors.New("--from and --bytes count bytes, so neither is less than 0")}
	}
	b, err := p.asideOrKept(ctx, p.args[0])
	if err != nil {
		return err
	}
	n := p.bytes
	if n == 0 {
		n = len(b.Text)
	}
	text, from, to, err := b.Part(p.from, n)
	if err != nil {
		return usageError{err}
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"block": b.Name, "label": b.Label, "text": text, "from": from, "to": to, "size": len(b.Text)})
	}
	if to < len(b.Text) || from > 0 {
		fmt.Fprintf(p.err, "bytes %d to %d of %d\n", from, to, len(b.Text))
	}
	_, err = fmt.Fprintln(p.out, strings.TrimSuffix(harmless(text), "\n"))
	return err
}

// asideOrKept is a block by its name.
func (p *palace) asideOrKept(ctx context.Context, name string) (b recall.Block, err error) {
	without := "no proxy runs on this data folder"
	if !id.Valid(name) {
		if _, _, err := numbered(name); err != nil {
			return b, err
		}
		aside, found, others, err := proxy.Aside(ctx, p.dir, name)
		switch {
		case found:
			return aside, nil
		case err != nil && !errors.Is(err, proxy.ErrNone):
			return b, err
		case err == nil && len(others) > 0:
			without = "of what passed last, these are set aside: " + strings.Join(others, ", ")
		case err == nil:
			without = "nothing is set aside in what passed last"
		}
	}
	kept, err := p.find(ctx, name)
	if none := (unreachableError{}); errors.As(err, &none) {
		return b, unreachableError{fmt.Errorf("block %s is not to be had: %s; and %w", name, without, none.error)}
	}
	if err != nil {
		return b, err
	}
	raw, err := p.platform().Bytes(ctx, "/v1/palace/blocks/"+kept.UUID+"/raw")
	if err != nil {
		return b, p.explained(err)
	}
	return recall.Block{Name: blockName(kept.Block), Label: kept.Label, Text: recalled(raw, kept.Content)}, nil
}

// recalled is what a block says for whom it was said: with the secrets that are masked
// elsewhere. Of an answer that came in events there is its content only.
func recalled(raw []byte, content json.RawMessage) string {
	var result struct {
		Type    string
		Content json.RawMessage
	}
	switch err := json.Unmarshal(raw, &result); {
	case err != nil && !json.Valid(raw):
		return wordsOf(content)
	case err == nil && result.Type == "tool_result":
		return view.Said(result.Content)
	}
	return wordsOf(raw)
}
