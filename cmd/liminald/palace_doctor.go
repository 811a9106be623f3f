package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"liminal/internal/capture/proxy"
	"liminal/internal/fault"
)

// doctor says what of the capture proxy is off. It changes nothing, and sends nothing
// to a backend but a request without a key for its address alone.
func (p *palace) doctor(ctx context.Context) error {
	status, running := proxy.Ask(ctx, p.dir)
	found := []finding{p.checkProxy(ctx, status, running), checkFolder(p.dir), checkSpool(p.dir, int64(p.conf.Palace.Disk))}
	if running == nil {
		found = append(found, checkKept(status))
	}
	found = append(found, p.checkPlatform(ctx), checkPalace(ctx, p.conf), checkBackend(ctx, "backend", p.conf.Palace.Upstream, "PALACE_UPSTREAM"))
	if lookUp(p.environ, "PALACE_OPENAI_UPSTREAM") != "" { // else nobody may use it, and nothing is sent there
		found = append(found, checkBackend(ctx, "backend of /openai/", p.conf.Palace.OpenAI, "PALACE_OPENAI_UPSTREAM"))
	}
	found = append(found, p.checkClients())
	var err error
	if p.json {
		err = writeJSON(p.out, map[string]any{"version": buildVersion(), "checks": found})
	} else {
		err = printFindings(p.out, found)
	}
	if err != nil {
		return err
	}
	return verdict(found)
}

// checkProxy says who has the port.
func (p *palace) checkProxy(ctx context.Context, s proxy.Status, running error) finding {
	f := finding{Check: "proxy", Health: well}
	switch {
	case running == nil:
		f.Says = fmt.Sprintf("listens on http://%s, process %d, version %s", s.Address, s.PID, s.Version)
		if s.Version != buildVersion() {
			f.Health, f.Hint = warning, "this program is "+buildVersion()+": stop that process, and the command that holds it starts the new one"
		}
	case !errors.Is(running, proxy.ErrNone):
		f.Health, f.Says = ill, running.Error()
	default:
		f.Health, f.Says = off, "none runs; liminald palace run -- COMMAND starts one on "+p.conf.Palace.Address
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.conf.Palace.Address)
		if err != nil {
			f.Health, f.Says = ill, p.conf.Palace.Address+" is taken by a program that is no proxy of this data folder"
			f.Hint = "stop it, or choose another address with PALACE_ADDR"
			break
		}
		_ = l.Close() // never used
	}
	return f
}

// checkFolder says who else may read what is kept.
func checkFolder(dir string) finding {
	f := finding{Check: "folder", Health: well, Says: dir + " is yours only"}
	if runtime.GOOS == "windows" { // which has no such rights
		f.Says = dir
		return f
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		f.Health, f.Says = off, dir+" is made with the first exchange"
		return f
	}
	open := 0
	first := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // a segment that made room
			return nil
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			if open++; first == "" {
				first = path
			}
		}
		return err
	})
	switch {
	case err != nil:
		f.Health, f.Says = ill, fmt.Sprintf("%s cannot be read: %v", dir, err)
		f.Hint = "it must belong to you"
	case open > 0:
		f.Health, f.Says = ill, fmt.Sprintf("others may read %s of it, %s first", count(open, "file"), first)
		f.Hint = "chmod -R go= " + dir
	}
	return f
}

// checkSpool says whether there is room.
func checkSpool(dir string, most int64) finding {
	f := checkSpace(dir)
	f.Check = "disk"
	used := int64(0)
	entries, _ := os.ReadDir(proxy.SpoolDir(dir)) // none: nothing is used
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			used += info.Size()
		}
	}
	f.Says += fmt.Sprintf(" free; the spool has %s of %s (PALACE_DISK)", size(used), size(most))
	if free, err := freeSpace(existing(dir)); err == nil && free < uint64(most-min(used, most)) && f.Health == well {
		f.Health, f.Hint = warning, "the disk is full before the spool is; lower PALACE_DISK, or make room"
	}
	return f
}

// checkKept says what the proxy could not keep.
func checkKept(s proxy.Status) finding {
	f := finding{Check: "recording", Health: well, Says: count(int(s.Spool.Exchanges), "exchange") + " since it began, all of them kept"}
	var lost []string
	for why, n := range s.Spool.Lost {
		lost = append(lost, fmt.Sprintf("%d contents are lost: %s", n, whyLost(why)))
	}
	if s.Traffic.FailOpen > 0 {
		lost = append(lost, fmt.Sprintf("%d recordings failed; the log of the proxy says why", s.Traffic.FailOpen))
	}
	if s.Spool.Error != "" {
		lost = append(lost, s.Spool.Error)
	}
	if len(lost) > 0 {
		f.Health, f.Says = warning, strings.Join(lost, "; ")
		f.Hint = "what passed was not affected"
	}
	return f
}

// checkPlatform says whether anybody takes in what is kept, and for whom.
func (p *palace) checkPlatform(ctx context.Context) finding {
	f := finding{Check: "platform", Health: well}
	var s struct{ Agents, Exchanges, Blocks int }
	err := p.told(p.platform().Get(ctx, "/v1/palace/stats", nil, &s))
	switch _, none := errors.AsType[unreachableError](err); {
	case err == nil:
		f.Says = fmt.Sprintf("takes in: %s, %s, %s", count(s.Agents, "agent"), count(s.Exchanges, "exchange"), count(s.Blocks, "block"))
	case none:
		f.Health, f.Says = off, "none runs on this data folder, so there are no agents, timelines and blocks to look at"
		f.Hint = "liminald dev --data " + filepath.Dir(p.dir)
	case errors.Is(err, fault.Conflict):
		f.Health, f.Says = warning, "there is no account that what is kept would belong to; it waits"
		f.Hint = "make the first account on the platform's page, or name one with PALACE_OWNER"
	default:
		f.Health, f.Says = ill, err.Error()
	}
	return f
}

// checkBackend asks a backend for its address alone, without a key: any answer does.
func checkBackend(ctx context.Context, what, upstream, setting string) finding {
	f := finding{Check: what, Health: well}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	u, err := url.Parse(upstream)
	if err == nil {
		var req *http.Request
		if req, err = http.NewRequestWithContext(ctx, http.MethodHead, u.Scheme+"://"+u.Host+"/", nil); err == nil {
			var resp *http.Response
			if resp, err = http.DefaultTransport.RoundTrip(req); err == nil {
				_ = resp.Body.Close() // of a HEAD
				f.Says = fmt.Sprintf("%s answers (%d)", u.Redacted(), resp.StatusCode)
				return f
			}
		}
	}
	f.Health, f.Says, f.unreachable = ill, fmt.Sprintf("%s cannot be reached: %v", upstream, err), true
	f.Hint = "check " + setting + ", and HTTPS_PROXY where the way out is by a proxy"
	return f
}

// checkClients says what a client started here would have turned off, or lead past us.
func (p *palace) checkClients() finding {
	f := finding{Check: "Claude Code", Health: well, Says: "defers the tools of MCP servers behind us as it does without (run and env set ENABLE_TOOL_SEARCH=true)"}
	if set := lookUp(p.environ, "ENABLE_TOOL_SEARCH"); set != "" && set != "true" {
		f.Health, f.Says = warning, "ENABLE_TOOL_SEARCH="+set+" is set here, and run leaves it so: tools of MCP servers may all be sent with each request"
		f.Hint = "unset it"
	}
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"} {
		if lookUp(p.environ, name) != "" {
			f.Health, f.Says = warning, name+" is set here: Claude Code asks that cloud, and nothing passes the proxy"
			f.Hint = "unset it to have its exchanges kept"
		}
	}
	return f
}
