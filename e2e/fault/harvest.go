package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// harvest reads everything a person has, as they would see it in a fresh
// window.
func (p *Person) harvest(ctx context.Context, others []*Person) (*Holding, error) {
	h := &Holding{
		Person: p.name, Conversations: map[string][]Message{}, Runs: map[string]Run{}, Pending: map[string]Question{},
		Documents: map[string]Document{}, Replays: map[string]*Reader{},
	}
	err := errors.Join(
		p.list(ctx, "/v1/conversations", func(c object) error {
			id, _ := c["id"].(string)
			return p.messages(ctx, h, id)
		}),
		p.list(ctx, "/v1/runs", func(o object) error { return keep(o, h.Runs, func(r Run) string { return r.ID }) }),
		p.documents(ctx, h),
		p.list(ctx, "/v1/files", func(o object) error {
			var f File
			err := into(o, &f)
			h.Files = append(h.Files, f)
			return err
		}),
		p.questions(ctx, h),
	)
	if err != nil {
		return h, err
	}
	p.replay(ctx, h)
	return h, p.trespass(ctx, h, others)
}

// keep reads an object as a T and files it under its id.
func keep[T any](o object, all map[string]T, id func(T) string) error {
	var one T
	err := into(o, &one)
	all[id(one)] = one
	return err
}

func (p *Person) messages(ctx context.Context, h *Holding, conversation string) error {
	h.Conversations[conversation] = nil
	return p.list(ctx, "/v1/conversations/"+conversation+"/messages", func(o object) error {
		var m Message
		err := into(o, &m)
		h.Conversations[conversation] = append(h.Conversations[conversation], m)
		return err
	})
}

func (p *Person) questions(ctx context.Context, h *Holding) error {
	data, err := p.insist(ctx, asJSON("GET", "/v1/interrupts", "", nil))
	if err != nil {
		return err
	}
	open, _ := data["data"].([]any)
	for _, item := range open {
		o, _ := item.(object)
		if err := keep(o, h.Pending, func(q Question) string { return q.ID }); err != nil {
			return err
		}
	}
	return nil
}

// documents reads what a person's documents have become. One that came while
// the engine was down is read by the reconciler's next pass, and waited for.
func (p *Person) documents(ctx context.Context, h *Holding) error {
	for until := time.Now().Add(calmDown); ; pause(ctx, again) {
		err := p.list(ctx, "/v1/contexts/"+p.files+"/documents", func(o object) error {
			return keep(o, h.Documents, func(d Document) string { return d.ID })
		})
		if err != nil || time.Now().After(until) || ctx.Err() != nil || !slices.ContainsFunc(slices.Collect(maps.Values(h.Documents)), Document.underWay) {
			return err
		}
	}
}

func (d Document) underWay() bool { return d.Status == "waiting" || d.Status == "reading" }

// replay reads each turn's stream once more, from the beginning.
func (p *Person) replay(ctx context.Context, h *Holding) {
	p.mu.Lock()
	turns := p.turns
	p.mu.Unlock()
	for _, t := range turns {
		if r, ok := h.Runs[t.Run]; !ok || !r.ended() && r.Status != "waiting" {
			continue
		}
		leg := &Leg{Began: time.Now()}
		within, cancel := context.WithTimeout(ctx, requestLimit)
		if err := p.read(within, t.Run, leg, 0); err != nil {
			p.tally.count("replays that broke")
		}
		cancel()
		leg.Ended = time.Now()
		h.Replays[t.Run] = &Reader{Name: "replay", Legs: []*Leg{leg}}
	}
}

// trespass tries to get at what others have.
func (p *Person) trespass(ctx context.Context, h *Holding, others []*Person) error {
	for _, o := range others {
		if o == p {
			continue
		}
		for _, path := range o.doors() {
			h.Tried++
			data, refused, err := p.once(ctx, asJSON("GET", path, "", nil))
			switch {
			case err != nil:
				return fmt.Errorf("%s tries %s: %w", p.name, path, err)
			case refused == nil && wayOnly(data):
			case refused == nil || refused.Status != http.StatusNotFound:
				h.Reached = append(h.Reached, path)
			}
		}
	}
	return nil
}

// wayOnly reports whether a run was shown as administrators see those of others,
// such as the first person here: its way, and nothing that was said.
func wayOnly(data object) bool {
	run, _ := data["run"].(object)
	return run["limited"] == true && run["result"] == nil
}

// doors are paths to what a person has: of their latest turn and file.
func (p *Person) doors() (paths []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range slices.Backward(p.turns) {
		if t.accepted() {
			paths = append(paths, "/v1/runs/"+t.Run, "/v1/runs/"+t.Run+"/events", "/v1/conversations/"+t.Conversation,
				"/v1/conversations/"+t.Conversation+"/messages")
			break
		}
	}
	for _, u := range slices.Backward(p.uploads) {
		if u.Document != "" {
			paths = append(paths, "/v1/documents/"+u.Document, "/v1/documents/"+u.Document+"/text")
			break
		}
	}
	return append(paths, "/v1/contexts/"+p.files)
}
