package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/view"
)

const (
	rulesWindow     = 100 // blocks
	targetRules     = 1   // ms
	rehearsed       = 100 // histories, of so many blocks each
	targetRehearsed = 2   // s
)

// benchBlocks is a history as a policy sees it.
func benchBlocks(count int, text *prose) (blocks []view.Block) {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	add := func(kind, role string, doc map[string]any) {
		raw, err := json.Marshal(doc)
		if err != nil {
			panic(err) // of texts
		}
		b := view.Block{UUID: fmt.Sprintf("01936f4a-0000-7000-8000-%012x", len(blocks)), Display: len(blocks), Type: kind, Role: role, At: at.Add(time.Duration(len(blocks)) * time.Second), Bytes: len(raw), Tokens: int64(len(raw) / 4)}
		b.Read(raw)
		blocks = append(blocks, b)
	}
	for len(blocks) < count {
		n := len(blocks)
		use := fmt.Sprintf("toolu_%d", n)
		add("User", "user", map[string]any{"type": "text", "text": "Look at the next one."})
		add("ToolUse", "assistant", map[string]any{"type": "tool_use", "id": use, "name": "Read", "input": map[string]any{"file_path": fmt.Sprintf("src/%d.go", n%20)}})
		add("ToolResult", "user", map[string]any{"type": "tool_result", "tool_use_id": use, "content": text.passage(2000)})
		add("Assistant", "assistant", map[string]any{"type": "text", "text": text.sentence()})
	}
	return blocks[:count]
}

// palaceRules measures how long the rules take for a window, and a rehearsal of a policy
// over recorded histories.
func (b *benchmark) palaceRules(ctx context.Context, _ string) error {
	p, text := view.Default(), newProse(13)
	blocks := benchBlocks(rulesWindow, text)
	now := blocks[len(blocks)-1].At
	var took []time.Duration
	for range b.sizes.alone {
		began := time.Now()
		p.Decide(blocks, now, view.Focus{})
		took = append(took, time.Since(began))
	}
	var all []view.Recorded
	for n := range rehearsed {
		r := view.Recorded{Lineage: fmt.Sprint(n), Blocks: benchBlocks(rehearsed, text), Window: 200_000}
		tokens := int64(0)
		for i := range r.Blocks {
			more := r.Blocks[i].Tokens
			if i%4 == 0 { // a request for each thing that is said
				r.Requests = append(r.Requests, view.Sent{Blocks: i + 1, At: r.Blocks[i].At, Model: "m", Read: tokens, Write: more, Output: 200, Unit: 5e-6, Price: view.Price{Read: 0.1, Output: 5}})
			}
			tokens += more
		}
		all = append(all, r)
	}
	live := *p
	live.Mode = view.Live
	began := time.Now()
	for _, r := range all {
		view.Unchanged(r)
		live.Play(r)
	}
	rehearsal := time.Since(began)
	b.report.add(
		row(fmt.Sprintf("rules on %d blocks, p50", rulesWindow), milliseconds(distribution(took).p50), "ms", fmt.Sprintf("%d windows", len(took))).atMost(targetRules),
		row("rehearsal of a policy of views", rehearsal.Seconds(), "s", fmt.Sprintf("%d histories of %d blocks", rehearsed, rehearsed)).atMost(targetRehearsed),
	)
	return ctx.Err()
}

// viewedBody is a request with many results, of about so many bytes, and a plan that sets
// every other one aside.
func viewedBody(size int, agent string) (form string, plan view.Plan) {
	text := newProse(17)
	plan = view.Plan{Client: agent, Lineage: "bench", Policy: "bench", Mode: view.Live, Asked: true}
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"max_tokens":1000,"tools":[{"name":"Read","description":"Reads","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Begin."}`)
	for n := 0; b.Len() < size; n++ {
		use := fmt.Sprintf("toolu_%d", n)
		said := text.passage(2000)
		result := fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, use, said)
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"src/%d.go"}}]},{"role":"user","content":[%s]}`, use, n, result)
		if n%2 == 0 {
			plan.Replace = append(plan.Replace, view.Replacement{Result: use, Sum: view.SumOf([]byte(result)), Block: fmt.Sprintf("%d-7f3a", n), Label: fmt.Sprintf("Read src/%d.go", n), Bytes: len(said), Tokens: int64(len(said) / 4)})
		}
	}
	b.WriteString(`,{"role":"assistant","content":"I have read it."},{"role":"user","content":"%d"}]}`)
	return b.String(), plan
}

// palaceViewed measures what the proxy adds to the first byte where a view is in force.
func (b *benchmark) palaceViewed(ctx context.Context, dir string) (err error) {
	p, err := openPalaceBench(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for _, size := range palaceBodies {
		name := fmt.Sprintf("bench-%d", size.bytes)
		form, plan := viewedBody(size.bytes, "agent:"+name)
		raw, err := json.Marshal(plan)
		if err != nil {
			return err
		}
		views := filepath.Join(p.dir, "views")
		if err := os.MkdirAll(views, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(views, view.FileName(plan.Client)), raw, 0o600); err != nil {
			return err
		}
		bodyOf := func(n int) []byte { return []byte(strings.Replace(form, "%d\"}]}", fmt.Sprintf("%d\"}]}", n), 1)) }
		if err := p.inForce(ctx, name, bodyOf(0)); err != nil {
			return err
		}
		count := max(20, b.sizes.alone/5)
		var firsts [2][]time.Duration
		for n := range count {
			body := bodyOf(n + 1)
			for i, base := range []string{p.direct, p.behind} {
				first, _, err := p.stream(ctx, base, name, body, 0)
				if err != nil {
					return err
				}
				firsts[i] = append(firsts[i], first)
			}
		}
		b.report.add(row(fmt.Sprintf("capture proxy, %d KB, a view in force: added to the first byte, p50", size.bytes>>10),
			milliseconds(distribution(firsts[1]).p50-distribution(firsts[0]).p50), "ms", fmt.Sprintf("%d streams, %d results set aside", count, len(plan.Replace))).atMost(size.target))
	}
	return nil
}

// inForce opens the view, and makes sure that the backend is sent less.
func (p *palaceBench) inForce(ctx context.Context, agent string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.behind+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Palace-Agent", agent)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if sent := resp.Header.Get("X-Asked-Bytes"); sent == fmt.Sprint(len(body)) {
		return fmt.Errorf("no view is in force: the backend was sent all of the %s bytes", sent)
	}
	return nil
}
