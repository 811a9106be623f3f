package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// promised is what a request that streams its own answer was told before it.
type promised struct{ run, conversation string }

// converse sends a request that streams its own answer, as curl does, and reads
// it into leg. An error without a promise means that its fate is unknown.
func (c *Client) converse(ctx context.Context, r request, leg *Leg) (promised, *Refusal, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := c.build(ctx, r)
	if err != nil {
		return promised{}, nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	*r.tries++
	res, err := c.http.Do(req)
	if err != nil {
		return promised{}, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			return promised{}, nil, err
		}
		_, refused, err := open(res.StatusCode, raw)
		if err == nil && refused == nil {
			err = errors.New("a stream was asked for, and JSON came")
		}
		return promised{}, refused, err
	}
	was := promised{run: res.Header.Get("X-Run-Id"), conversation: res.Header.Get("X-Conversation-Id")}
	return was, nil, readEvents(res.Body, func(e Event) bool {
		leg.Events = append(leg.Events, e)
		return !e.ends()
	})
}

// listen is converse until the platform has taken the question or refused it
// for good. When an earlier try was taken it is given the stream of that run.
func (p *Person) listen(ctx context.Context, t *Turn, reader *Reader, req request) (promised, error) {
	const most = 90
	last := errors.New("never sent")
	for range most {
		leg := &Leg{Began: time.Now()}
		was, refused, err := p.converse(ctx, req, leg)
		leg.Ended = time.Now()
		switch {
		case ctx.Err() != nil:
			return promised{}, ctx.Err()
		case was.run != "":
			reader.Legs = append(reader.Legs, leg)
			return was, nil
		case err != nil:
			p.tally.count("requests of unknown fate")
			last = err
		default:
			if !passes(refused) {
				return promised{}, refused
			}
			p.tally.count("requests told to come again: " + refused.reason())
			last = refused
		}
		if !pause(ctx, 500*time.Millisecond) {
			return promised{}, ctx.Err()
		}
	}
	t.Refused = last.Error()
	return promised{}, last
}

// passes reports whether a refusal is of the kind that time heals.
func passes(r *Refusal) bool {
	return r.Status >= 500 || r.Status == http.StatusConflict || r.Status == http.StatusTooManyRequests
}
