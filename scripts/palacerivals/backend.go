package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// backend speaks Anthropic's Messages API. Each piece of its text says when it was
// sent, and it remembers what it was asked, and what it said.
type backend struct {
	n    atomic.Int64
	mu   sync.Mutex
	kept map[string]*exchange
}

type exchange struct{ asked, answered [sha256.Size]byte }

var marked = regexp.MustCompile(`mark-(\d+)-every-(\d+)-end`)

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	found := marked.FindSubmatch(body)
	if found == nil || !strings.HasSuffix(r.URL.Path, "/messages") {
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"Not found"}}`, http.StatusNotFound)
		return
	}
	pause, _ := strconv.Atoi(string(found[2])) // digits
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	sum := sha256.New()
	send := func(event string, v any) {
		data, _ := json.Marshal(v)
		text := fmt.Sprintf("event: %s\ndata: %s\n\n", event, data)
		_, _ = io.WriteString(sum, text)
		_, _ = io.WriteString(w, text) // whoever asks may be gone
		_ = http.NewResponseController(w).Flush()
	}
	send("message_start", map[string]any{"type": "message_start", "message": map[string]any{"id": "msg_01invented", "type": "message", "role": "assistant", "model": "claude-invented", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 12, "cache_creation_input_tokens": 13000, "cache_read_input_tokens": 0, "output_tokens": 1}}})
	send("content_block_start", map[string]any{"type": "content_block_start", "index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
	for n := range chunks {
		if n > 0 {
			time.Sleep(time.Duration(pause))
		}
		send("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": fmt.Sprintf("at-%d. ", time.Now().UnixNano())}})
	}
	send("content_block_stop", map[string]any{"type": "content_block_stop", "index": 0})
	send("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 80}})
	x := &exchange{asked: sha256.Sum256(body)}
	last := "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	_, _ = io.WriteString(sum, last)
	sum.Sum(x.answered[:0])
	b.mu.Lock()
	if b.kept == nil {
		b.kept = map[string]*exchange{}
	}
	b.kept[string(found[1])] = x
	b.mu.Unlock()
	_, _ = io.WriteString(w, last) // as above
}

// answer is one stream as it reached the client.
type answer struct {
	first          time.Duration
	late           []time.Duration
	asked, changed bool // the bytes of the request, and of the answer, are others
}

var sentAt = regexp.MustCompile(`at-(\d{19})\.`)

// ask asks for one stream, and holds what came against what was sent.
func (b *backend) ask(ctx context.Context, t *target, pause time.Duration) (a answer, err error) {
	mark := strconv.FormatInt(b.n.Add(1), 10)
	body := request(mark, pause)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	for name, values := range t.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 2000)) // of an error
		return a, fmt.Errorf("%s: %s", resp.Status, raw)
	}
	sum, ended := sha256.New(), false
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if a.first == 0 {
			a.first = time.Since(began)
		}
		_, _ = sum.Write(line)
		for _, m := range sentAt.FindAllSubmatch(line, -1) {
			at, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
			a.late = append(a.late, time.Since(time.Unix(0, at)))
		}
		ended = ended || bytes.Contains(line, []byte(`"message_stop"`))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return a, err
		}
	}
	if !ended || len(a.late) != chunks {
		return a, fmt.Errorf("the stream had %d chunks of %d, and its end: %v", len(a.late), chunks, ended)
	}
	b.mu.Lock()
	x := b.kept[mark]
	delete(b.kept, mark)
	b.mu.Unlock()
	if x == nil {
		return a, errors.New("the backend was not asked")
	}
	a.asked, a.changed = sha256.Sum256(body) != x.asked, !bytes.Equal(sum.Sum(nil), x.answered[:])
	return a, nil
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce, DisableCompression: true}}

// request is one as an agent in the middle of its work sends it.
func request(mark string, pause time.Duration) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":"claude-invented","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"You are kind.","cache_control":{"type":"ephemeral"}}],"metadata":{"user_id":"nobody"},"messages":[{"role":"user","content":"mark-%s-every-%d-end"}`, mark, pause.Nanoseconds())
	for n := 1; b.Len() < bodySize; n++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%022d","name":"Read","input":{"file_path":"/src/%d.go"}}]},{"role":"user","content":[{"tool_use_id":"toolu_%022d","type":"tool_result","content":%q}]}`, n, n, n, strings.Repeat(fmt.Sprintf("line %d of a file; ", n), 60))
	}
	b.WriteString(`],"tools":[{"name":"Read","description":"Reads a file","input_schema":{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}}]}`)
	return b.Bytes()
}

// figures are what was seen of a target.
type figures struct {
	firsts, lates   []time.Duration
	cut             int
	asked, answered compared
	cpu             time.Duration // a request
}

// compared counts those that came whole, and those of them with other bytes.
type compared struct{ whole, other int }

func (c *compared) add(other bool) {
	c.whole++
	if other {
		c.other++
	}
}

func (f *figures) add(a answer, err error) {
	if err != nil {
		f.cut++
		return
	}
	f.firsts, f.lates = append(f.firsts, a.first), append(f.lates, a.late...)
	f.asked.add(a.asked)
	f.answered.add(a.changed)
}

func (f *figures) late(percent int) time.Duration  { return quantile(f.lates, percent) }
func (f *figures) first(percent int) time.Duration { return quantile(f.firsts, percent) }

// burst asks for streams at once, and measures the processor time of the server.
func (f *figures) burst(ctx context.Context, b *backend, t *target, count int) {
	before := t.server.cpu()
	var mu sync.Mutex
	var wait sync.WaitGroup
	var next atomic.Int64
	for range atOnce {
		wait.Go(func() {
			for next.Add(1) <= int64(count) {
				a, err := b.ask(ctx, t, 0)
				mu.Lock()
				if err != nil {
					f.cut++
				} else {
					f.asked.add(a.asked)
					f.answered.add(a.changed)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	f.cpu = (t.server.cpu() - before) / time.Duration(count)
}
