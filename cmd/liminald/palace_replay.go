package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/proxy"
	"liminal/internal/id"
	captured "liminal/internal/palace"
	"liminal/internal/remote"
)

const (
	// replayHead is how long a client may take to send the head of a request.
	replayHead = 10 * time.Second
	// replayGrace is how long answers may take to end when the player is stopped.
	replayGrace = 2 * time.Second
)

// replay is a backend that answers with what was recorded (PAL-25).
func (p *palace) replay(ctx context.Context) error {
	o := captured.PlayerOptions{Timing: p.timing, ByTurn: p.match == "turn"}
	if !o.ByTurn && p.match != "history" {
		return usageError{fmt.Errorf("--match %s is none; there are history and turn", p.match)}
	}
	if host, _, err := net.SplitHostPort(p.listen); err != nil || !loopbackHost(host) {
		return usageError{fmt.Errorf("--listen %s is no host:port on a loopback address, as 127.0.0.1:0 is; others must not read what was recorded", p.listen)}
	}
	command := p.args[1:]
	path := ""
	if len(command) > 0 {
		var err error
		if path, err = exec.LookPath(command[0]); err != nil {
			return fmt.Errorf("the command %s cannot be found", command[0])
		}
	}
	list, lineage, err := p.recorded(ctx, p.args[0])
	if err != nil {
		return err
	}
	o.Lineage = lineage
	var played, unknown atomic.Int64
	o.Told = func(r *http.Request, exchange string) {
		if exchange != "" {
			played.Add(1)
			return
		}
		unknown.Add(1)
		fmt.Fprintf(p.err, "%s %s was answered with an error: no such history was recorded\n", withoutControls(r.Method), withoutControls(r.URL.Path))
	}
	player, skipped, err := captured.NewPlayer(ctx, recordedBodies{p.platform()}, list, o)
	for _, s := range skipped {
		fmt.Fprintf(p.err, "not played: %s\n", s)
	}
	if err != nil {
		return p.told(err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.listen)
	if err != nil {
		return err
	}
	token := proxy.NewToken()
	server := &http.Server{Handler: proxy.Guarded(token, player), ReadHeaderTimeout: replayHead}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), replayGrace)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close() // what is under way is only played
		}
	}()
	variable, base := baseURL, proxy.BaseURL(l.Addr().String(), token)
	if slices.ContainsFunc(list, func(r captured.Recorded) bool { return strings.HasPrefix(r.Path, proxy.OpenAIPath+"/") }) {
		variable, base = openAIBase, base+proxy.OpenAIPath+"/v1"
	}
	fmt.Fprintf(p.err, "%s of %s can be answered as they were.\n", count(player.Histories(), "request"), count(len(list)-len(skipped), "exchange"))
	if path != "" {
		err = p.runWith(path, command, behind(p.environ, variable, base))
	} else {
		fmt.Fprintf(p.err, "It plays until it is stopped. The client needs a key of any kind; none is looked at.\n")
		if _, err = fmt.Fprintf(p.out, "export %s=%s\n", variable, base); err == nil {
			select {
			case <-ctx.Done():
			case err = <-failed:
			}
		}
	}
	fmt.Fprintf(p.err, "%s answered, %d not known.\n", count(int(played.Load()), "request"), unknown.Load())
	return err
}

func loopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// recordedBodies reads what was recorded from a platform.
type recordedBodies struct{ *remote.Server }

func (b recordedBodies) Request(ctx context.Context, exchange string) ([]byte, error) {
	return b.Bytes(ctx, "/v1/palace/exchanges/"+exchange+"/request")
}

func (b recordedBodies) Response(ctx context.Context, exchange string) ([]byte, error) {
	return b.Bytes(ctx, "/v1/palace/exchanges/"+exchange+"/response")
}

// recordedExchange is an exchange as the API tells of it.
type recordedExchange struct {
	captured.Exchange
	Asked    http.Header `json:"request_header"`
	Answered http.Header `json:"response_header"`
	Marks    []struct {
		End   int64 `json:"end"`
		After int64 `json:"after_us"`
	} `json:"marks"`
}

// recorded are the exchanges to play, oldest first: of a lineage, or of all lineages of
// an agent; those beside them; and those of its subagents. lineage is the one that was
// named, or the agent's newest.
func (p *palace) recorded(ctx context.Context, name string) (list []captured.Recorded, lineage string, err error) {
	agents, err := pageOf[captured.Agent](ctx, p, "/v1/palace/agents", url.Values{}, 0)
	if err != nil {
		return nil, "", err
	}
	agent, all := "", false
	for _, a := range agents {
		if strconv.Itoa(a.Number) == name {
			agent, all = a.ID, true
		}
	}
	switch {
	case all:
		lineages, err := pageOf[captured.Lineage](ctx, p, "/v1/palace/lineages", url.Values{"agent": {agent}}, 0)
		if err != nil {
			return nil, "", err
		}
		if len(lineages) > 0 {
			lineage = lineages[0].ID
		}
	case !id.Valid(name):
		return nil, "", usageError{fmt.Errorf("%q is neither a lineage nor the number of an agent; liminald palace agents has both", name)}
	default:
		lineage = strings.ToLower(name)
		first, err := pageOf[captured.Exchange](ctx, p, "/v1/palace/exchanges", url.Values{"lineage": {lineage}}, 1)
		if err != nil {
			return nil, "", err
		}
		if len(first) == 0 {
			return nil, "", fmt.Errorf("there is no lineage %s, or nothing of it; liminald palace agents has those there are", lineage)
		}
		agent = first[0].AgentID
	}
	family := map[string]bool{agent: true}
	for range agents { // subagents may have their own
		for _, a := range agents {
			if family[a.ParentID] {
				family[a.ID] = true
			}
		}
	}
	for of := range family {
		some, err := pageOf[captured.Exchange](ctx, p, "/v1/palace/exchanges", url.Values{"agent": {of}}, 0)
		if err != nil {
			return nil, "", err
		}
		for _, e := range some {
			if !all && of == agent && e.LineageID != "" && e.LineageID != lineage {
				continue
			}
			var x recordedExchange
			if err := p.get(ctx, "/v1/palace/exchanges/"+e.ID, &x); err != nil {
				return nil, "", err
			}
			r := captured.Recorded{Exchange: x.Exchange, Heads: captured.Wire{Asked: x.Asked, Answered: x.Answered}}
			for _, m := range x.Marks {
				r.Heads.Marks = append(r.Heads.Marks, capture.Mark{End: m.End, After: m.After})
			}
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil, "", errors.New("nothing of it is kept")
	}
	slices.SortFunc(list, func(a, b captured.Recorded) int { return strings.Compare(a.ID, b.ID) }) // they begin with the time
	return list, lineage, nil
}
