package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"liminal/internal/capture/proxy"
	"liminal/internal/fault"
	"liminal/internal/id"
	captured "liminal/internal/palace"
	"liminal/internal/remote"
)

// platformOn is the platform on a palace folder. It is reached by its socket there, which
// the system opens to the folder's owner only, so that nobody signs in.
func platformOn(dir string) *remote.Server {
	return remote.Beside("http://127.0.0.1", proxy.Platform(dir))
}

func (p *palace) platform() *remote.Server { return platformOn(p.dir) }

// explained makes what a platform says of a question an error of this command.
func (p *palace) explained(err error) error {
	if _, none := errors.AsType[*remote.Unreachable](err); none {
		return unreachableError{fmt.Errorf("no platform runs on this data folder: liminald dev --data %s starts one. Agents are not affected, and liminald palace list shows what is kept without one", filepath.Dir(p.dir))}
	}
	return withProblems(err)
}

// get asks for one resource.
func (p *palace) get(ctx context.Context, path string, into any) error {
	return p.explained(p.platform().Get(ctx, path, nil, into))
}

// pageOf reads a list until it has enough: most of it, 0 for all.
func pageOf[T any](ctx context.Context, p *palace, path string, query url.Values, most int) (all []T, err error) {
	query.Set("limit", strconv.Itoa(min(max(1, most), 100)))
	if most == 0 {
		query.Set("limit", "100")
	}
	for {
		var page struct {
			Data []T     `json:"data"`
			Next *string `json:"next_cursor"`
		}
		if err := p.explained(p.platform().Get(ctx, path, query, &page)); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if most > 0 && len(all) >= most {
			return all[:most], nil
		}
		if page.Next == nil || *page.Next == "" {
			return all, nil
		}
		query.Set("cursor", *page.Next)
	}
}

// table prints rows with a head.
func (p *palace) table(head string, rows func(row func(cells ...any))) error {
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, head)
	rows(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				_, _ = tab.Write([]byte("\t")) // into memory, as all here
			}
			fmt.Fprint(tab, withoutControls(fmt.Sprint(c)))
		}
		fmt.Fprintln(tab)
	})
	_ = tab.Flush()
	_, err := fmt.Fprint(p.out, harmless(b.String()))
	return err
}

// agentNow is an agent with the history it has now.
type agentNow struct {
	captured.Agent
	Lineage *captured.Lineage `json:"lineage"`
}

func (p *palace) agents(ctx context.Context) error {
	list, err := pageOf[agentNow](ctx, p, "/v1/palace/agents", url.Values{}, p.last)
	if err != nil {
		return err
	}
	numbers := map[string]int{}
	for i, a := range list {
		numbers[a.ID] = a.Number
		var page struct{ Data []captured.Lineage }
		if err := p.get(ctx, "/v1/palace/lineages?agent="+a.ID, &page); err != nil {
			return err
		}
		if len(page.Data) > 0 {
			list[i].Lineage = &page.Data[0]
		}
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"agents": append([]agentNow{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, "no agent yet; liminald palace run -- claude is one")
		return err
	}
	return p.table("AGENT\tNAME\tPROJECT\tOF\tSEEN\tMODEL\tREQUESTS\tBLOCKS\tTOKENS\tLINEAGE", func(row func(...any)) {
		for _, a := range list {
			of := ""
			if a.ParentID != "" {
				of = "?"
				if n, ok := numbers[a.ParentID]; ok {
					of = strconv.Itoa(n)
				}
			}
			l := captured.Lineage{}
			if a.Lineage != nil {
				l = *a.Lineage
			}
			row(a.Number, a.Name, a.Project, of, a.SeenAt.Local().Format(time.DateTime), l.Model, l.Exchanges, l.Length, l.Input+l.Output, l.ID)
		}
	})
}

// agentNumber is the small number of an agent.
func agentNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("%q is no number of an agent; liminald palace agents has them", text)}
	}
	return n, nil
}

// timelineNow is the history of an agent.
type timelineNow struct {
	Agent   captured.Agent   `json:"agent"`
	Lineage captured.Lineage `json:"lineage"`
	Blocks  []captured.Block `json:"blocks"`
}

func (p *palace) timeline(ctx context.Context) error {
	n, err := agentNumber(p.args[0])
	if err != nil {
		return err
	}
	var v timelineNow
	if err := p.get(ctx, "/v1/palace/agents/"+strconv.Itoa(n)+"/timeline", &v); err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, v)
	}
	l := v.Lineage
	began := map[string]string{captured.First: "began", captured.Clear: "began after /clear", captured.Compacted: "began after a summary", captured.Rewind: "began by going back", captured.Apart: "began beside others"}[l.Why]
	if _, err := fmt.Fprintf(p.out, "%s\n", withoutControls(fmt.Sprintf("agent %d (%s): history %s, %s %s; %s, %d tokens", v.Agent.Number, v.Agent.Name, l.ID, began, l.CreatedAt.Local().Format(time.DateTime), count(l.Exchanges, "request"), l.Input+l.Output))); err != nil {
		return err
	}
	return p.table("BLOCK\tTYPE\tTOOL\tTIER\tTOKENS\t\tSAYS", func(row func(...any)) {
		for _, b := range v.Blocks {
			state := ""
			if !b.Active {
				state = "put away"
			}
			row(blockName(b), b.Type, b.Tool, b.Tier, b.Tokens, state, b.Label)
		}
	})
}

// blockName is what a person calls a block.
func blockName(b captured.Block) string {
	if b.DisplayID == nil {
		return b.UUID
	}
	return strconv.Itoa(*b.DisplayID)
}

// blockSaid is a block with what it says.
type blockSaid struct {
	captured.Block
	Content    json.RawMessage `json:"content"`
	FrameTimes []int64         `json:"frames_after_us,omitempty"`
}

// numbered is the number in the name of a block, and what of its UUID is in it.
func numbered(name string) (number, of string, err error) {
	number, of, _ = strings.Cut(name, "-")
	if n, err := strconv.Atoi(number); err != nil || n < 0 {
		return "", "", usageError{fmt.Errorf("%q is no block: it is named by its number, as 42, with the end of its UUID, as 42-7f3a, or by the UUID", name)}
	}
	return number, of, nil
}

// find reads a block by its number, its number with the end of its UUID, which is how
// placeholders name it, or its UUID.
func (p *palace) find(ctx context.Context, name string) (b blockSaid, err error) {
	if id.Valid(name) {
		return b, p.get(ctx, "/v1/palace/blocks/"+name, &b)
	}
	number, of, err := numbered(name)
	if err != nil {
		return b, err
	}
	raw, err := p.platform().Bytes(ctx, "/blocks/"+number)
	if errors.Is(err, fault.NotFound) {
		return b, fmt.Errorf("there is no block %s now; liminald palace timeline AGENT has those there are", number)
	}
	if err != nil {
		return b, p.explained(err)
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, err
	}
	if !strings.HasPrefix(b.UUID, of) && !strings.HasSuffix(strings.ReplaceAll(b.UUID, "-", ""), of) {
		return b, fmt.Errorf("the number %s is another block's now (%s); the block that had it is found by its UUID", number, b.UUID)
	}
	return b, nil
}

func (p *palace) block(ctx context.Context) error {
	if !slices.Contains([]string{"", "raw", "frames"}, p.part) {
		return usageError{fmt.Errorf("--part %s of a block is none; there are raw and frames", p.part)}
	}
	b, err := p.find(ctx, p.args[0])
	if err != nil {
		return err
	}
	switch {
	case p.part != "":
		raw, err := p.platform().Bytes(ctx, "/v1/palace/blocks/"+b.UUID+"/raw")
		if err != nil {
			return p.explained(err)
		}
		if p.part == "frames" {
			return p.blockFrames(b, raw)
		}
		_, err = p.out.Write(raw)
		return err
	case p.json:
		return writeJSON(p.out, b)
	}
	state := "active"
	if !b.Active {
		state = "put away"
	}
	var text strings.Builder
	tab := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(tab, "%s\t%s\n", name, withoutControls(fmt.Sprint(value))) }
	row("block", blockName(b.Block)+", "+b.UUID)
	row("what", strings.Join(slices.DeleteFunc([]string{string(b.Type), b.Role, b.Tool}, func(s string) bool { return s == "" }), ", "))
	row("scope", strings.TrimSuffix(b.Scope+" "+b.Project, " "))
	row("tier", fmt.Sprintf("%s, by %s; %s", b.Tier, b.TierBy, state))
	row("channels", strings.Join(b.Channels, ", "))
	row("size", fmt.Sprintf("%d tokens, %s", b.Tokens, size(int64(b.Size))))
	row("seen", b.CreatedAt.Local().Format(time.DateTime)+", in exchange "+b.ExchangeID)
	_ = tab.Flush() // into memory
	_, err = fmt.Fprintf(p.out, "%s\n%s\n", harmless(text.String()), harmless(wordsOf(b.Content)))
	return err
}

// wordsOf is a block for people: its text where it is one, else its JSON.
func wordsOf(content json.RawMessage) string {
	var v struct{ Type, Text, Thinking string }
	if json.Unmarshal(content, &v) == nil {
		switch {
		case v.Type == "text" && v.Text != "":
			return v.Text
		case v.Type == "thinking" && v.Thinking != "":
			return v.Thinking
		}
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var b strings.Builder
	if err := writeJSON(&b, content); err != nil {
		return string(content)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// each changes blocks, one after the other, and prints what became of them.
func (p *palace) each(ctx context.Context, names []string, method, path string, body any) error {
	var done []captured.Block
	for _, name := range names {
		b, err := p.find(ctx, name)
		if err != nil {
			return err
		}
		var now captured.Block
		if err := p.platform().Do(ctx, method, "/v1/palace/blocks/"+b.UUID+"/"+path, body, &now); err != nil {
			return p.explained(err)
		}
		done = append(done, now)
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"blocks": done})
	}
	return p.table("BLOCK\tTYPE\tTOOL\tTIER\tBY\tSAYS", func(row func(...any)) {
		for _, b := range done {
			row(blockName(b), b.Type, b.Tool, b.Tier, b.TierBy, b.Label)
		}
	})
}

func (p *palace) tier(ctx context.Context) error {
	tier := captured.Tier(strings.ToUpper(p.args[0]))
	if !slices.Contains([]captured.Tier{captured.Short, captured.Medium, captured.Long}, tier) {
		return usageError{fmt.Errorf("%q is no tier; there are SHORT, MEDIUM and LONG", p.args[0])}
	}
	return p.each(ctx, p.args[1:], "PUT", "tier", map[string]any{"tier": tier})
}
