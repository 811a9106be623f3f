package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"liminal/internal/capture"
	"liminal/internal/id"
)

// palaceOwner is whose the capture proxy of the house is: the one whose things the walls
// are tried on.
const palaceOwner = "ada-walls-1@example.org"

// captured has an agent of the person's say something behind the capture proxy, and
// gives the exchange, the history and a block of it. Where the proxy is not theirs they
// have none, and ids of nothing are tried.
func (p *person) captured() (exchange, lineage, block string) {
	if p.email != palaceOwner || p.t.house.deployment != onEmbedded {
		return id.New(), id.New(), id.New()
	}
	spool, err := capture.Open(capture.Options{Dir: filepath.Join(p.t.house.dir, "data", "palace", "spool"), Memory: 1 << 20, Disk: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	p.t.must(err)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"` + mark + `"}]}`)
	exchange = id.New()
	r := spool.Begin(capture.Request{ID: exchange, Agent: mark, Project: mark, Started: time.Now(), Method: http.MethodPost, Path: "/v1/messages", Size: int64(len(body)), Header: http.Header{"X-Claude-Code-Session-Id": {id.New()}}}, body)
	r.Answer(http.StatusOK, http.Header{"Content-Type": {"application/json"}})
	r.Chunk([]byte(`{"type":"message","model":"m","content":[{"type":"text","text":"` + mark + `"}]}`))
	r.End(capture.Ending{Ended: time.Now(), Complete: true})
	p.t.must(spool.Close(context.Background()))
	p.t.wait(30*time.Second, func() bool { return p.do("GET", "/v1/palace/exchanges/"+exchange, nil).ok() })
	view := p.need("GET", "/v1/palace/agents/1/timeline", nil)
	of, _ := view.data["lineage"].(object)
	lineage = fmt.Sprint(of["id"])
	list, _ := view.data["blocks"].([]any)
	if len(list) == 0 {
		p.t.must(fmt.Errorf("what %s said behind the capture proxy has no blocks", p.name))
	}
	first, _ := list[0].(object)
	return exchange, lineage, fmt.Sprint(first["uuid"])
}

// unnoted is the id of a note that nobody has: only a model proposes any, and here is
// none. The wall of package api is tried on real ones.
func unnoted() string { return id.New() }
