package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Ordeal is one graph in one house.
type Ordeal struct {
	Graph    *Graph `json:"-"`
	Name     string
	Outcome  string // what came of it, in a few words
	Began    int    // by the person
	Runs     int64  // begun in all, as the engine counts
	Quiet    Turns
	Hostile  Turns
	Peace    Taken
	War      Taken
	Gone     time.Duration // from the cancel until no run was open; -1: never
	Idle     time.Duration // until the program rested; -1: never
	Left     int           // runs still open then
	Broken   []string      // the bars that were, in words
	timed    int           // of them, those of time
	Again    bool          // the disk spoiled it: it is measured again, and this row counts for nothing
	refused  *Refusal
	statuses []string // of the runs, with their codes
}

// The bars.
const (
	mostRatio  = 3
	mostMemory = 1 << 30
	mostGone   = 2 * time.Second
	// leastQuiet is the shortest peace that is compared with: below, three times
	// of it would be less than a scheduler's turn on two cores.
	leastQuiet = 20 * time.Millisecond
)

// undergo runs a graph as a new person, number n.
func (h *House) undergo(ctx context.Context, o options, c *Crowd, g *Graph, n int) (*Ordeal, error) {
	t := &Ordeal{Graph: g, Name: g.Name}
	villain, err := newPerson(ctx, h.url, n)
	if err != nil {
		return nil, err
	}
	if !o.write {
		peace := h.measure()
		t.Quiet = c.chat(ctx, o.quiet)
		t.Peace = peace.end()
	}
	war := h.measure()
	v := &Villain{Person: villain, graph: g, made: map[string]string{}}
	writing, cancel := context.WithTimeout(ctx, 30*time.Second)
	err = v.write(writing)
	cancel()
	switch refused := (*Refusal)(nil); {
	case errors.As(err, &refused):
		t.refused = refused
	case err != nil:
		return nil, fmt.Errorf("%s was not written: %w", g.Name, err)
	case o.write:
		t.statuses = []string{"accepted"}
	default:
		h.rage(ctx, o, c, t, v)
	}
	t.War = war.end()
	t.Began = v.started()
	h.judge(o, t)
	return t, nil
}

// rage starts the graph, keeps it at work while the others chat, and cancels
// it.
func (h *House) rage(ctx context.Context, o options, c *Crowd, t *Ordeal, v *Villain) {
	raging, calm := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { v.keep(raging) })
	pause(ctx, o.lead)
	t.Hostile = c.chat(ctx, o.hostile)
	calm()
	wg.Wait()
	if t.Outcome = h.ended(); t.Outcome != "" {
		t.Gone, t.Idle = -1, -1
		return
	}
	t.statuses = v.statuses(ctx)
	t.Runs, _ = h.engine.began(ctx, v.id) // 0 is no more than a gap in the table
	h.calm(ctx, o, t, v)
	if t.Gone >= 0 && o.after > 0 {
		t.Quiet = t.Quiet.with(c.chat(ctx, o.after))
	}
}

// calm cancels everything and waits until nothing is left of it.
func (h *House) calm(ctx context.Context, o options, t *Ordeal, v *Villain) {
	began := time.Now()
	v.cancel(ctx)
	t.Gone, t.Idle = -1, -1
	before, at := h.cpu(), time.Now()
	for time.Since(began) < o.wait && (t.Gone < 0 || t.Idle < 0) && h.ended() == "" {
		if t.Gone < 0 {
			left, err := h.engine.running(ctx, v.id)
			if t.Left = left; err == nil && left == 0 && v.over(ctx) {
				t.Gone = time.Since(began)
			}
		}
		if d := time.Since(at); d >= 300*time.Millisecond {
			now := h.cpu()
			if t.Idle < 0 && (now-before).Seconds() < idle*d.Seconds() {
				t.Idle = max(0, time.Since(began)-d)
			}
			before, at = now, time.Now()
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// idle is the part of a core that a program at rest may take.
const idle = 0.25

func (h *House) cpu() (d time.Duration) {
	for _, pid := range h.pids() {
		d += used(pid)
	}
	return d
}

// judge holds what was measured against the bars and the file.
func (h *House) judge(o options, t *Ordeal) {
	broken := func(format string, args ...any) { t.Broken = append(t.Broken, fmt.Sprintf(format, args...)) }
	if why := h.ended(); why != "" {
		t.Outcome = why
		broken("%s", why)
		return
	}
	want := t.Graph.Expect
	if t.refused != nil {
		t.Outcome = fmt.Sprintf("refused: %s", t.refused)
		if want.Outcome == Done || t.refused.Status/100 != 4 {
			broken("it was refused: %s", t.refused)
		}
		for _, word := range want.Says {
			if !strings.Contains(t.refused.Message, word) {
				broken("the refusal does not name %q", word)
			}
		}
	} else {
		t.Outcome = countOf(t.statuses)
		t.ends(want, broken)
		t.bars(o, broken)
	}
	if t.War.RSS > mostMemory {
		broken("memory %d MiB", t.War.RSS>>20)
	}
}

// ends holds how the runs ended against what was to come of them.
func (t *Ordeal) ends(want Expect, broken func(string, ...any)) {
	if want.Outcome == Refused {
		broken("it was accepted")
	}
	if want.Outcome == Done && slices.ContainsFunc(t.statuses, func(s string) bool { return strings.HasPrefix(s, "failed") }) {
		broken("it should end well")
	}
	for _, s := range t.statuses {
		if strings.HasSuffix(s, "server_error") || strings.HasSuffix(s, "internal") {
			broken("a graph's fault is told as the server's")
			return
		}
	}
}

func (t *Ordeal) bars(o options, broken func(string, ...any)) {
	others := len(t.Broken) // bars that are none of time
	defer func() { t.timed = len(t.Broken) - others }()
	if t.Hostile.Failed > t.Quiet.Failed {
		broken("%d turns of others failed: %s", t.Hostile.Failed, t.Hostile.Why)
		if !strings.Contains(t.Hostile.Why, context.DeadlineExceeded.Error()) {
			others++
		}
	}
	if r := t.ratio(); r > o.mostRatio {
		broken("p95 %.1f times", r)
	}
	switch {
	case t.Gone < 0:
		broken("%d runs outlived the cancel", t.Left)
	case t.Gone > o.mostGone:
		broken("runs for %.1f s after the cancel", t.Gone.Seconds())
	}
	switch {
	case t.Idle < 0:
		broken("no rest after the cancel")
	case t.Idle > o.mostGone:
		broken("busy for %.1f s after the cancel", t.Idle.Seconds())
	}
}

// spoiled reports whether bars of time are all that was broken, in a time for
// most of which the machine's disk stood still.
func (t *Ordeal) spoiled() bool {
	return len(t.Broken) > 0 && len(t.Broken) == t.timed && t.War.Disk.Most()
}

func (t *Ordeal) ratio() float64 {
	return t.Hostile.at(0.95).Seconds() / max(t.Quiet.at(0.95), leastQuiet).Seconds()
}

// countOf counts how runs ended.
func countOf(statuses []string) string {
	n := map[string]int{}
	for _, s := range statuses {
		n[s]++
	}
	var parts []string
	for _, s := range slices.Compact(slices.Sorted(slices.Values(statuses))) {
		parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
	}
	return strings.Join(parts, ", ")
}
