package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/proxy"
)

func (p *palace) status(ctx context.Context) error {
	s, err := proxy.Ask(ctx, p.dir)
	if errors.Is(err, proxy.ErrNone) {
		return unreachableError{fmt.Errorf("no proxy runs on %s; liminald palace run -- COMMAND starts one", p.dir)}
	}
	if err != nil {
		return err
	}
	lasting, err := proxy.Lasting(p.dir)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, struct {
			proxy.Status
			Tokens []proxy.LastingAgent `json:"tokens"`
		}{s, append([]proxy.LastingAgent{}, lasting...)})
	}
	tab := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tab, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("listens on", "http://%s, process %d, since %s, version %s", s.Address, s.PID, s.Started.Format(time.DateTime), s.Version)
	row("backend", "%s", s.Upstream)
	row("of /openai/", "%s", s.OpenAI)
	row("passed", "%d requests, %d under way, %d cut, %d refused", s.Traffic.Requests, s.Traffic.Active, s.Traffic.Cut, s.Traffic.Refused)
	row("kept", "%d exchanges, %s passed, %s on disk in %s", s.Spool.Exchanges, size(s.Spool.Bytes), size(s.Spool.Disk), proxy.SpoolDir(p.dir))
	if s.Sealed {
		row("encrypted", "yes, with the first of PALACE_KEYS")
	} else {
		row("encrypted", "no: PALACE_KEYS has no keys")
	}
	for _, why := range slices.Sorted(maps.Keys(s.Spool.Lost)) {
		row("not kept", "%d contents: %s", s.Spool.Lost[why], whyLost(why))
	}
	if v := s.Traffic.Views; v.Changed > 0 {
		row("views", "%d epochs began, %d requests were sent in one, %d results were asked back", v.Opened, v.Changed, v.Recalls)
	}
	if v := s.Traffic.Views; v.Invalid+v.Unread+v.Refused+v.Suspended+v.Lost > 0 {
		row("views left", "%d not valid, %d not readable, %d refused by the backend, %d agents in a circle, %d lost", v.Invalid, v.Unread, v.Refused, v.Suspended, v.Lost)
	}
	if s.Spool.Removed > 0 {
		row("made room", "%d of the oldest segments (PALACE_DISK)", s.Spool.Removed)
	}
	if s.Traffic.FailOpen > 0 {
		row("failed", "%d recordings or views; their streams went on, and the log says why", s.Traffic.FailOpen)
	}
	if s.Spool.Error != "" {
		row("disk", "%s: %s", s.Spool.ErrorAt.Format(time.DateTime), s.Spool.Error)
	}
	for _, r := range s.Runs {
		row("command", "%s in %s, process %d, since %s", withoutControls(r.Name), withoutControls(r.Project), r.PID, r.Started.Format(time.DateTime))
	}
	for _, a := range lasting {
		row("token", "%s", withoutControls(a.Name))
	}
	return tab.Flush()
}

// whyLost says in words why contents were not kept.
func whyLost(why string) string {
	switch why {
	case capture.LostMemory:
		return "the disk was slower than what came, and PALACE_MEMORY was full"
	case capture.LostDisk:
		return "the disk refused them"
	case capture.LostErased:
		return "somebody erased them"
	case capture.LostTooLarge:
		return "requests of more than 64 MB"
	}
	return why
}

// size is a number of bytes for people.
func size(n int64) string {
	unit := 0
	f := float64(n)
	for ; f >= 1000 && unit < 4; unit++ {
		f /= 1024
	}
	return fmt.Sprintf("%.3g %s", f, []string{"bytes", "KB", "MB", "GB", "TB"}[unit])
}

// withoutControls is a text without what would move a terminal.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func (p *palace) list(context.Context) error {
	var rows []*capture.Exchange
	damage := p.exchanges(nil, func(e *capture.Exchange) bool {
		rows = append(rows, e)
		if p.last > 0 && len(rows) > 2*p.last {
			rows = slices.Delete(rows, 0, len(rows)-p.last)
		}
		return true
	})
	if p.last > 0 && len(rows) > p.last {
		rows = rows[len(rows)-p.last:]
	}
	if p.json {
		return errors.Join(writeJSON(p.out, map[string]any{"exchanges": append([]*capture.Exchange{}, rows...)}), damage)
	}
	return errors.Join(printExchanges(p.out, rows), damage)
}

func printExchanges(w io.Writer, rows []*capture.Exchange) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range rows {
		how := "under way, or its proxy was killed"
		if e.Ending != nil {
			how = e.Ending.Ended.Sub(e.Request.Started).Round(time.Millisecond).String()
			if e.Ending.CutBy != "" {
				how += ", cut by " + e.Ending.CutBy
			}
		}
		for part, lost := range map[string]string{"request": e.Request.Lost, "response": e.Response.Lost} {
			if lost != "" {
				how += ", " + part + " not whole (" + lost + ")"
			}
		}
		if e.Sent != nil {
			how += fmt.Sprintf(", sent otherwise (%s, epoch %d)", e.Sent.Why, e.Sent.Epoch)
		}
		if e.Masked {
			how += ", a key in it is masked"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s %s\t%d\t%s\t%s\t%s\n", e.Request.ID, e.Request.Started.Local().Format(time.DateTime), withoutControls(e.Request.Agent), withoutControls(e.Request.Method), withoutControls(e.Request.Path), e.Response.Status, size(e.Request.Size), size(e.Response.Size), how)
	}
	return tab.Flush()
}

// exchanges reads the spool until take has enough. damage is what could not be
// read of it; the rest was.
func (p *palace) exchanges(want func(capture.Request) bool, take func(*capture.Exchange) bool) (damage error) {
	for e, err := range capture.Exchanges(proxy.SpoolDir(p.dir), p.keys, want) {
		if err != nil {
			damage = errors.Join(damage, err)
		} else if !take(e) {
			break
		}
	}
	return damage
}

func (p *palace) show(context.Context) error {
	if !slices.Contains([]string{"", "request", "sent", "response", "frames"}, p.part) {
		return usageError{fmt.Errorf("--part %s is none of request, sent, response and frames", p.part)}
	}
	id := p.args[0]
	var found []*capture.Exchange
	damage := p.exchanges(
		func(r capture.Request) bool { return strings.HasPrefix(r.ID, id) || strings.HasSuffix(r.ID, id) },
		func(e *capture.Exchange) bool {
			if strings.HasPrefix(e.Request.ID, id) || strings.HasSuffix(e.Request.ID, id) {
				found = append(found, e)
			}
			return len(found) < 2
		})
	switch {
	case len(found) == 0:
		return errors.Join(fmt.Errorf("no exchange %s is kept; liminald palace list has those that are", id), damage)
	case len(found) > 1:
		return usageError{fmt.Errorf("more than one exchange has %s at the beginning or the end of its id", id)}
	}
	e := found[0]
	body, lost := e.Asked, e.Request.Lost
	switch p.part {
	case "":
		return writeJSON(p.out, e)
	case "sent":
		if e.Sent != nil && lost == "" {
			var err error
			if body, err = e.Sent.Of(e.Asked); err != nil {
				return err
			}
		}
	case "response":
		body, lost = e.Answered, e.Response.Lost
	case "frames":
		if body, lost = nil, e.Response.Lost; lost == "" {
			return p.exchangeFrames(e)
		}
	}
	if _, err := p.out.Write(body); err != nil {
		return err
	}
	if lost != "" {
		return fmt.Errorf("the %s is not whole: %s", p.part, whyLost(lost))
	}
	return nil
}
