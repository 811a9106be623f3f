package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// back is how long a client waits before it comes back to a broken stream.
const back = 100 * time.Millisecond

// manners is how a reader reads.
type manners struct {
	leaveAfter int           // events after which it vanishes once; 0: it stays
	away       time.Duration // for how long
}

// follow reads a run to its end, however often the stream breaks. It returns
// the event it ended with, or nil when ctx ended first.
func (c *Client) follow(ctx context.Context, run string, r *Reader, m manners) *Event {
	for ctx.Err() == nil {
		leg := &Leg{After: r.last(), Began: time.Now()}
		r.Legs = append(r.Legs, leg)
		err := c.read(ctx, run, leg, m.leaveAfter)
		leg.Ended = time.Now()
		if n := len(leg.Events); n > 0 && leg.Events[n-1].ends() {
			return &leg.Events[n-1]
		}
		wait := back
		switch {
		case leg.Left:
			c.tally.count("clients that vanished and came back")
			wait, m.leaveAfter = m.away, 0
		case err != nil:
			c.tally.count("streams that broke")
		default:
			c.tally.count("streams that ended without an end")
		}
		if !pause(ctx, wait) {
			break
		}
	}
	return nil
}

// read is one connection to a run's events.
func (c *Client) read(ctx context.Context, run string, leg *Leg, leaveAfter int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := c.build(ctx, request{method: "GET", path: "/v1/runs/" + run + "/events"})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if leg.After > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(leg.After, 10))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusUnauthorized {
		return c.logIn(ctx)
	}
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
		return fmt.Errorf("%d %s", res.StatusCode, raw)
	}
	return readEvents(res.Body, func(e Event) bool {
		leg.Events = append(leg.Events, e)
		leg.Left = leaveAfter > 0 && len(leg.Events) >= leaveAfter && !e.ends()
		return !leg.Left && !e.ends()
	})
}

// readEvents reads server-sent events until they end or the taker has enough. Pings
// belong to the connection and are left out.
func readEvents(body io.Reader, taker func(Event) bool) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 8<<20)
	var e Event
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			e.Seq, _ = strconv.ParseInt(value, 10, 64) // 0 is an event without a number
		case "event":
			e.Kind = value
		case "data":
			var frame struct {
				Data json.RawMessage
				Node string
			}
			if err := json.Unmarshal([]byte(value), &frame); err != nil {
				return fmt.Errorf("event %s holds %q: %w", e.Kind, short(value), err)
			}
			e.Data, e.Node = frame.Data, frame.Node
		case "":
			e.At = time.Now()
			if whole := e.Kind != "" && e.Kind != "ping" && e.Data != nil; whole && !taker(e) {
				return nil
			}
			e = Event{}
		}
	}
	return lines.Err()
}
