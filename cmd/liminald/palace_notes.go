package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"liminal/internal/id"
	captured "liminal/internal/palace"
)

// classified lists what models were asked about histories, and what came of it.
func (p *palace) classified(ctx context.Context) error {
	q := url.Values{}
	if len(p.args) > 0 {
		n, err := agentNumber(p.args[0])
		if err != nil {
			return err
		}
		var v timelineNow
		if err := p.get(ctx, "/v1/palace/agents/"+strconv.Itoa(n)+"/timeline", &v); err != nil {
			return err
		}
		q.Set("lineage", v.Lineage.ID)
	}
	list, err := pageOf[captured.Classified](ctx, p, "/v1/palace/classifications", q, p.last)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"classifications": append([]captured.Classified{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, "no model was asked; classifier.by of policy.palace says whether one is")
		return err
	}
	return p.table("AT\tMODEL\tBLOCKS\tTOOK\tOUTCOME\tSAYS", func(row func(...any)) {
		for _, c := range list {
			says := c.Answer
			if c.Refused != "" {
				says = c.Refused
			}
			row(c.At.Local().Format(time.DateTime), c.Model, len(c.Blocks), (time.Duration(c.Took) * time.Microsecond).Round(time.Millisecond), c.Outcome, says)
		}
	})
}

// notes lists what models propose to keep, and keeps or dismisses it.
func (p *palace) notes(ctx context.Context) error {
	if len(p.args) > 0 {
		return p.decide(ctx, p.args[0], p.args[1:])
	}
	list, err := pageOf[captured.Note](ctx, p, "/v1/palace/notes", url.Values{}, p.last)
	if err != nil {
		return err
	}
	return p.shownNotes(list)
}

// decide says of notes what becomes of them.
func (p *palace) decide(ctx context.Context, do string, notes []string) error {
	if do != "keep" && do != "dismiss" || len(notes) == 0 {
		return usageError{fmt.Errorf("notes %s is nothing to do; notes keep ID and notes dismiss ID are", do)}
	}
	var done []captured.Note
	for _, note := range notes {
		if !id.Valid(note) {
			return usageError{fmt.Errorf("%q is no note; liminald palace notes has them", note)}
		}
		var now captured.Note
		if err := p.platform().Do(ctx, http.MethodPost, "/v1/palace/notes/"+note+"/"+do, nil, &now); err != nil {
			return p.explained(err)
		}
		done = append(done, now)
	}
	return p.shownNotes(done)
}

func (p *palace) shownNotes(list []captured.Note) error {
	if p.json {
		return writeJSON(p.out, map[string]any{"notes": append([]captured.Note{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, "no note; notes.propose of policy.palace says whether a model proposes any")
		return err
	}
	return p.table("NOTE\tAT\tSTATE\tBLOCKS\tSAYS", func(row func(...any)) {
		for _, n := range list {
			row(n.ID, n.MadeAt.Local().Format(time.DateTime), n.State, len(n.Blocks), n.Says)
		}
	})
}
