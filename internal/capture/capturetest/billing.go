package capturetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// PrefixCache bills requests for messages as the provider's prompt cache does: a
// prefix of tools, system and messages is written where a request marks it, and read
// by whoever looks for it, from a mark of its own, before it expires. It shares no
// code with what predicts it, so that the one can be held against the other.
//
// The rules are those of the provider's documentation: at most 4 marks; from each,
// 20 blocks are looked back; a prefix below the model's minimum is not kept; it lives
// for 5 minutes or an hour, and anew with each use; models and organisations share
// nothing.
type PrefixCache struct {
	// Now is the clock; nil: the system's.
	Now func() time.Time
	// Minimum is the shortest prefix that is kept of a model, in tokens; nil: 1024.
	Minimum func(model string) int

	mu      sync.Mutex
	entries map[[32]byte]*written
	said    map[string]fingerprint // by the id of the answer
}

// Bill is what a request is charged for, in tokens.
type Bill struct{ Input, Read, Write5m, Write1h int }

// Usage is a bill as the protocol has it.
func (b Bill) Usage(output int) map[string]any {
	return map[string]any{
		"input_tokens": b.Input, "cache_read_input_tokens": b.Read, "cache_creation_input_tokens": b.Write5m + b.Write1h,
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": b.Write5m, "ephemeral_1h_input_tokens": b.Write1h}, "output_tokens": output,
	}
}

const (
	marksAtMost = 4
	lookBack    = 20
)

// written is a prefix that is kept.
type written struct {
	lives   time.Duration
	expires time.Time
}

// piece is a block of a request as the model reads it.
type piece struct {
	role   string // tool, system, or who says it
	sum    [32]byte
	tokens int
	mark   time.Duration // 0: none
}

// Forget drops what is kept, as a provider may at any time.
func (c *PrefixCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// Bill charges a request of an organisation, and keeps what it writes.
func (c *PrefixCache) Bill(organisation string, body []byte) (b Bill, err error) {
	q, err := readQuoted(body)
	if err != nil {
		return b, err
	}
	pieces, err := q.pieces()
	if err != nil {
		return b, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, minimum := time.Now(), 1024
	if c.Now != nil {
		now = c.Now()
	}
	if c.Minimum != nil {
		minimum = c.Minimum(q.Model)
	}
	if c.entries == nil {
		c.entries = map[[32]byte]*written{}
	}
	sums, upTo := make([][32]byte, len(pieces)), make([]int, len(pieces))
	at, total := sha256.Sum256([]byte(organisation+"\x00"+q.Model)), 0
	for i, p := range pieces {
		at = sha256.Sum256(append(at[:], p.sum[:]...))
		total += p.tokens
		sums[i], upTo[i] = at, total
	}
	var marks []int
	for i, p := range pieces {
		if p.mark > 0 && upTo[i] >= minimum {
			marks = append(marks, i)
		}
	}
	hit := -1
	for _, m := range slices.Backward(marks) {
		for i := m; i >= 0 && i > m-lookBack && hit < 0; i-- {
			if e := c.entries[sums[i]]; e != nil && !now.After(e.expires) {
				hit = i
			}
		}
	}
	if hit >= 0 {
		b.Read = upTo[hit]
		e := c.entries[sums[hit]]
		e.expires = now.Add(e.lives)
	}
	done := b.Read
	for _, m := range marks {
		if e := c.entries[sums[m]]; e != nil && !now.After(e.expires) {
			e.expires = now.Add(e.lives)
		} else {
			c.entries[sums[m]] = &written{lives: pieces[m].mark, expires: now.Add(pieces[m].mark)}
		}
		if upTo[m] <= done {
			continue
		}
		if pieces[m].mark == time.Hour {
			b.Write1h += upTo[m] - done
		} else {
			b.Write5m += upTo[m] - done
		}
		done = upTo[m]
	}
	b.Input = total - done
	return b, nil
}

// Organisation is whose a request is: the one of its key.
func Organisation(h http.Header) string {
	sum := sha256.Sum256([]byte(h.Get("X-Api-Key") + h.Get("Authorization")))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// quoted is what the bill of a request depends on.
type quoted struct {
	Model    string
	Tools    []map[string]any
	System   json.RawMessage
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Choice      json.RawMessage `json:"tool_choice"`
	Thinking    json.RawMessage
	Cache       any `json:"cache_control"`
	Diagnostics *struct {
		Before *string `json:"previous_message_id"`
	}
}

func readQuoted(body []byte) (q quoted, err error) {
	err = json.Unmarshal(body, &q)
	return q, err
}

// pieces are the blocks in the order the model reads them. What changes how messages
// are read is part of the first of them.
func (q quoted) pieces() (all []piece, err error) {
	for _, tool := range q.Tools {
		if tool["defer_loading"] == true {
			continue
		}
		all = append(all, pieceOf("tool", tool))
	}
	blocks, err := contents(q.System)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if text, _ := b["text"].(string); strings.HasPrefix(text, "x-anthropic-billing-header:") {
			continue // the provider's own, which no model reads
		}
		all = append(all, pieceOf("system", b))
	}
	how := string(q.Choice) + "\x00" + string(q.Thinking)
	for _, m := range q.Messages {
		if blocks, err = contents(m.Content); err != nil {
			return nil, err
		}
		for _, b := range blocks {
			p := pieceOf(m.Role, b)
			if how != "" {
				p.sum, how = sha256.Sum256(append([]byte(how), p.sum[:]...)), ""
			}
			all = append(all, p)
		}
	}
	if q.Cache != nil && len(all) > 0 && all[len(all)-1].mark == 0 {
		all[len(all)-1].mark = lifetime(q.Cache)
	}
	marks, short := 0, false
	for _, p := range all {
		if p.mark == 0 {
			continue
		}
		if marks++; marks > marksAtMost {
			return nil, errors.New("a maximum of 4 blocks with cache_control may be provided")
		}
		if short && p.mark == time.Hour {
			return nil, errors.New("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		short = short || p.mark != time.Hour
	}
	return all, nil
}

func contents(raw json.RawMessage) (blocks []map[string]any, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var text string
		err = json.Unmarshal(raw, &text)
		return []map[string]any{{"type": "text", "text": text}}, err
	}
	err = json.Unmarshal(raw, &blocks)
	return blocks, err
}

// pieceOf is a block without its mark.
func pieceOf(role string, block map[string]any) (p piece) {
	if mark := block["cache_control"]; mark != nil {
		p.mark = lifetime(mark)
		delete(block, "cache_control")
	}
	raw, _ := json.Marshal(block) // of what was JSON, by the order of its keys
	p.role = role
	p.sum, p.tokens = sha256.Sum256(append([]byte(role+"\x00"), raw...)), Tokens(string(raw))
	return p
}

func lifetime(mark any) time.Duration {
	if m, ok := mark.(map[string]any); ok && m["ttl"] == "1h" {
		return time.Hour
	}
	return 5 * time.Minute
}

// Tokens counts a text roughly as tokenizers do: short words are one token, long
// ones several, and so is each sign.
func Tokens(text string) (n int) {
	run := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if run%5 == 0 {
				n++
			}
			run++
		case r == ' ':
			run = 0
		default:
			n++
			run = 0
		}
	}
	return n
}

// fingerprint is what the provider's diagnostics compare.
type fingerprint struct {
	model                   string
	tools, system, messages [][32]byte
}

// Diagnose compares a request with the one of the answer that it names, as the
// provider's cache diagnostics do; nil: it asks for none, or they do not differ.
func (c *PrefixCache) Diagnose(body []byte, answer string) map[string]any {
	q, err := readQuoted(body)
	if err != nil || q.Diagnostics == nil {
		return nil
	}
	pieces, err := q.pieces()
	if err != nil {
		return nil
	}
	is := fingerprint{model: q.Model}
	for _, p := range pieces {
		switch p.role {
		case "tool":
			is.tools = append(is.tools, p.sum)
		case "system":
			is.system = append(is.system, p.sum)
		default:
			is.messages = append(is.messages, p.sum)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said == nil {
		c.said = map[string]fingerprint{}
	}
	c.said[answer] = is
	if q.Diagnostics.Before == nil {
		return nil
	}
	was, known := c.said[*q.Diagnostics.Before]
	kind := ""
	switch {
	case !known:
		kind = "previous_message_not_found"
	case was.model != is.model:
		kind = "model_changed"
	case !slices.Equal(was.tools, is.tools):
		kind = "tools_changed"
	case !slices.Equal(was.system, is.system):
		kind = "system_changed"
	case len(is.messages) < len(was.messages) || !slices.Equal(was.messages, is.messages[:len(was.messages)]):
		kind = "messages_changed"
	default:
		return nil
	}
	return map[string]any{"cache_miss_reason": map[string]any{"type": kind}}
}
