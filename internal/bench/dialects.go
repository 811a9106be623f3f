package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"liminal/internal/cputime"
)

// targetDialect is what a turn in another protocol may cost, over the same in ours.
const targetDialect = 1.1

// readers are the people of this measurement: enough that none is held to a rate on a
// machine that has nothing else to do.
const readers = 128

// dialectWay is a protocol that a turn is asked for in.
type dialectWay struct {
	path   string
	stream bool // the answer is read as it comes; then first alone counts
	// first and next ask for the first turn of a conversation, and for the second
	// by what came of the first.
	first func() any
	next  func(answer map[string]any) (any, error)
	// cpu and took are of the turns so far.
	cpu  time.Duration
	took []time.Duration
}

func dialectWays() []*dialectWay {
	user := func(text string) map[string]any { return map[string]any{"role": "user", "content": text} }
	resent := func(body map[string]any, said any) (any, error) {
		body["messages"] = []any{user("hello"), map[string]any{"role": "assistant", "content": said}, user("and then?")}
		return body, nil
	}
	asked := func() map[string]any {
		return map[string]any{"model": chatWorkflow, "max_tokens": 1024, "messages": []any{user("hello")}}
	}
	return []*dialectWay{
		{
			path:  "/v1/chat",
			first: func() any { return map[string]any{"message": "hello", "workflow_id": chatWorkflow} },
			next: func(answer map[string]any) (any, error) {
				data, _ := answer["data"].(map[string]any)
				if data["content"] == nil {
					return nil, fmt.Errorf("no answer in %v", answer)
				}
				return map[string]any{"message": "and then?", "workflow_id": chatWorkflow, "conversation_id": data["conversation_id"]}, nil
			},
		},
		{
			path: "/v1/chat/completions", first: func() any { return asked() },
			next: func(answer map[string]any) (any, error) {
				choices, _ := answer["choices"].([]any)
				if len(choices) != 1 {
					return nil, fmt.Errorf("no answer in %v", answer)
				}
				one, _ := choices[0].(map[string]any)
				message, _ := one["message"].(map[string]any)
				return resent(asked(), message["content"])
			},
		},
		{
			path: "/v1/messages", first: func() any { return asked() },
			next: func(answer map[string]any) (any, error) { return resent(asked(), answer["content"]) },
		},
		{path: "/v1/chat", stream: true, first: func() any { return streamed(map[string]any{"message": "hello", "workflow_id": chatWorkflow}) }},
		{path: "/v1/chat/completions", stream: true, first: func() any { return streamed(asked()) }},
		{path: "/v1/messages", stream: true, first: func() any { return streamed(asked()) }},
	}
}

func streamed(body map[string]any) map[string]any {
	body["stream"] = true
	return body
}

// name is the way's in the report.
func (w *dialectWay) name() string {
	if w.stream {
		return w.path + " as a stream"
	}
	return w.path
}

// stretch is how many conversations in a row are of one protocol. A turn leaves work to
// be done after its answer, and how much of it falls on the turn itself depends on how
// long its reader waits: over a stretch all of it falls on those that caused it.
const stretch = 20

// measureDialects takes conversations of two turns in each protocol, in stretches and in
// a changing order, so that what else the machine does falls on all alike.
func (b *benchmark) measureDialects(ctx context.Context) error {
	var people []*reader
	for n := range readers {
		r := &reader{house: b.house, address: fmt.Sprintf("127.0.1.%d:1", n+1)}
		if err := r.signUp(ctx, fmt.Sprintf("dialect%d", n)); err != nil {
			return err
		}
		people = append(people, r)
	}
	ways := dialectWays()
	random := rand.New(rand.NewPCG(1, 1)) // the same order each time
	next := 0
	for done := -b.sizes.warm; done < b.sizes.alone; {
		counts, many := done >= 0, min(stretch, b.sizes.alone-done)
		if !counts {
			many = min(stretch, -done)
		}
		random.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
		for _, way := range ways {
			used := cputime.Process()
			for range many {
				next++
				if err := way.talk(ctx, people[next%readers], counts); err != nil {
					return err
				}
			}
			if counts {
				way.cpu += cputime.Process() - used
			}
		}
		done += many
	}
	cpu, p50 := map[string]float64{}, map[string]float64{}
	for _, way := range ways {
		cpu[way.name()] = milliseconds(way.cpu) / float64(len(way.took))
		p50[way.name()] = milliseconds(distribution(way.took).p50)
	}
	for _, stream := range []bool{false, true} {
		ours, of := (&dialectWay{path: "/v1/chat", stream: stream}).name(), fmt.Sprintf("%d turns each", 2*b.sizes.alone)
		if stream {
			of = fmt.Sprintf("%d turns each", b.sizes.alone)
		}
		b.report.add(row("turn over "+ours+", CPU", cpu[ours], "ms", of), row("turn over "+ours+", p50", p50[ours], "ms", of))
		for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
			theirs := (&dialectWay{path: path, stream: stream}).name()
			b.report.add(
				row("turn over "+theirs+" over /v1/chat, CPU", cpu[theirs]/cpu[ours], "×", of).atMost(targetDialect),
				row("turn over "+theirs+" over /v1/chat, p50", p50[theirs]/p50[ours], "×", of).atMost(targetDialect),
			)
		}
	}
	return nil
}

// talk takes a conversation of two turns.
func (w *dialectWay) talk(ctx context.Context, r *reader, counts bool) error {
	answer, err := w.turn(ctx, r, w.first(), counts)
	if err != nil || w.stream {
		return err
	}
	body, err := w.next(answer)
	if err != nil {
		return err
	}
	_, err = w.turn(ctx, r, body, counts)
	return err
}

func (w *dialectWay) turn(ctx context.Context, r *reader, body any, counts bool) (answer map[string]any, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	req, err := r.request(ctx, http.MethodPost, w.path, "application/json", bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if w.stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	said, err := r.answered(req)
	if counts {
		w.took = append(w.took, time.Since(began))
	}
	switch {
	case err != nil:
		return nil, err
	case w.stream && !bytes.Contains(said, []byte("data: ")):
		return nil, fmt.Errorf("no stream but %s", said)
	case w.stream:
		return nil, nil
	}
	return answer, json.Unmarshal(said, &answer)
}
