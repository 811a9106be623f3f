package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

// rounds has a backend ask for a command so often in each turn; each prints something
// that is long enough to be set aside.
func rounds(n int) func(string, []string) (string, map[string]any) {
	var mu sync.Mutex
	i, all := 0, 0
	return func(said string, tools []string) (string, map[string]any) {
		if !slices.Contains(tools, "Bash") {
			return "", nil
		}
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(said, `"tool_result"`) {
			i = 0
		}
		if i++; i > n {
			return "", nil
		}
		all++
		return "Bash", map[string]any{"command": fmt.Sprintf("echo step-%d; seq 1 400", all), "description": "Take a step"}
	}
}

// editor is what changes requests on their way to a backend, once two results are old
// enough, and the same from then on.
type editor struct {
	backend *capturetest.Upstream
	edits   bool
	drops   bool

	mu     sync.Mutex
	frozen []view.Replacement
}

// ServeHTTP implements http.Handler.
func (e *editor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if b, err := view.ReadBody(body); err == nil && e.edits && r.URL.Path == "/v1/messages" {
		body = e.edited(b, r.Header)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	e.backend.ServeHTTP(w, r)
}

func (e *editor) edited(b *view.Body, h http.Header) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frozen == nil {
		var old []view.Replacement
		for _, m := range b.Messages[:b.Closed()] {
			for _, p := range m.Parts {
				if p.Type == "tool_result" {
					old = append(old, view.Replacement{Result: p.ID, Sum: view.SumOf(b.Of(p.Span)), Block: fmt.Sprint(len(old), "-test"), Label: "Bash", Bytes: p.Content.To - p.Content.From})
				}
			}
		}
		if len(old) < 2 {
			return b.Raw
		}
		e.frozen = old
	}
	edits := b.SetAside(e.frozen, false, nil, nil).Edits
	if e.drops {
		more, err := b.DropBlock()
		if err != nil {
			return b.Raw
		}
		edits = append(edits, more...)
		slices.SortFunc(edits, func(a, b view.Edit) int { return a.From - b.From })
		h.Set("Anthropic-Beta", h.Get("Anthropic-Beta")+","+view.Beta)
	}
	out, err := view.Edited(b.Raw, edits)
	if err != nil {
		return b.Raw
	}
	return out
}

// judgements are what a backend found of requests for messages.
func judgements(up *capturetest.Upstream) (requests, refused int, dropped []int) {
	for _, j := range up.Judged() {
		if j.Path != "/v1/messages" {
			continue
		}
		if requests++; j.Problem != "" {
			refused++
		}
		dropped = append(dropped, j.Dropped)
	}
	return requests, refused, dropped
}

// changes plays one turn of six rounds with requests that are changed in three ways, and
// holds it against the table of the study (proxy.md 1.3, E8).
func changes(ctx context.Context, client, program string, env []string) error {
	for _, row := range []struct {
		name              string
		edits, drops      bool
		requests, refused int
		dropped           int
	}{
		{"capture only", false, false, 7, 0, 0},
		{"placeholders, frozen, drop_block", true, true, 7, 0, 2},
		{"placeholders, frozen, no drop_block", true, false, 8, 1, 0},
	} {
		up := &capturetest.Upstream{Next: rounds(6), Binding: &capturetest.Binding{}}
		s, done, err := newStage(ctx, client, program, env, up, &editor{backend: up, edits: row.edits, drops: row.drops})
		if err != nil {
			return err
		}
		cmd := s.claude("Take the steps.")
		out, err := cmd.Output()
		done()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", row.name, err, out)
		}
		requests, refused, dropped := judgements(up)
		fmt.Printf("%-36s %d requests, %d refused, thinking left out %v\n", row.name, requests, refused, dropped)
		if requests != row.requests || refused != row.refused || slices.Max(dropped) != row.dropped || dropped[len(dropped)-1] != row.dropped {
			return fmt.Errorf("%s: not %d requests, %d refused, %d blocks of thinking left out\n%+v", row.name, row.requests, row.refused, row.dropped, up.Judged())
		}
	}
	return nil
}

// newStage is a folder, a backend and an environment of their own.
func newStage(ctx context.Context, client, program string, env []string, up *capturetest.Upstream, backend http.Handler) (s *stage, done func(), err error) {
	scratch, err := os.MkdirTemp("", "liminal-claude-")
	if err != nil {
		return nil, nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	served := &http.Server{Handler: backend, ReadHeaderTimeout: time.Minute}
	go served.Serve(l) //nolint:errcheck // it ends with the program
	s = &stage{ctx: ctx, client: client, program: program, scratch: scratch, up: up}
	s.env = append(slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "SHARED_FS_ROOT=") || strings.HasPrefix(e, "PALACE_")
	}), "HOME="+scratch, "SHARED_FS_ROOT="+filepath.Join(scratch, "data"), "PALACE_UPSTREAM=http://"+l.Addr().String())
	return s, func() {
		if s.platform != nil {
			s.kill(s.platform)
		}
		_ = served.Close()        // as above
		_ = os.RemoveAll(scratch) // the system cleans what is left
	}, os.MkdirAll(filepath.Join(scratch, "work"), 0o700)
}

// history is the last request of the main loop that reached the backend.
func (s *stage) history() (*view.Body, string, error) {
	asked := s.up.Asked()
	for i := len(asked) - 1; i >= 0; i-- {
		session := asked[i].Header.Get("X-Claude-Code-Session-Id")
		b, err := view.ReadBody(asked[i].Body)
		if err == nil && strings.HasPrefix(asked[i].URI, "/v1/messages?") && session != "" && !b.Tools.Empty() {
			return b, "session:" + session, nil
		}
	}
	return nil, "", errors.New("the backend was asked nothing yet")
}

// aside has the platform set all results of the agent aside at the next turn, as its
// person would, and waits until the proxy has the plan for that.
func (s *stage) aside() error {
	_, client, err := s.history()
	if err != nil {
		return err
	}
	if _, err := s.taken(); err != nil {
		return err
	}
	var timeline struct {
		Lineage struct{ ID string }
		Blocks  []struct {
			UUID string
			Type string `json:"block_type"`
		}
	}
	if err := s.ask("GET", "/v1/palace/agents/1/timeline", nil, &timeline); err != nil {
		return err
	}
	n := 0
	for _, b := range timeline.Blocks {
		if b.Type != "ToolResult" {
			continue
		}
		n++
		if err := s.ask("PUT", "/v1/palace/blocks/"+b.UUID+"/keep", map[string]any{"keep": false}, &struct{}{}); err != nil {
			return err
		}
	}
	if err := s.ask("POST", "/v1/palace/lineages/"+timeline.Lineage.ID+"/epoch", map[string]any{"open": true}, &struct{}{}); err != nil {
		return err
	}
	file := filepath.Join(s.scratch, "data", "palace", "views", view.FileName(client))
	for {
		raw, err := os.ReadFile(file)
		if err == nil {
			s.plan = view.Plan{}
			err = json.Unmarshal(raw, &s.plan)
		}
		if err == nil && s.plan.Asked && len(s.plan.Replace) == n {
			return nil
		}
		select {
		case <-s.ctx.Done():
			return fmt.Errorf("the platform made no plan of %d results: %s (%w)", n, raw, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// asideAre checks how many results are set aside in the last request.
func (s *stage) asideAre(n int) error {
	b, _, err := s.history()
	if err != nil {
		return err
	}
	got := 0
	for _, m := range b.Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_result" && strings.HasPrefix(view.Said(b.Of(p.Content)), "[palace: block ") {
				got++
			}
		}
	}
	if got != n {
		return fmt.Errorf("%d results are set aside, not %d", got, n)
	}
	return nil
}

// viewed plays a session in which a view begins, something is asked back from it, and
// proxy and platform are killed while it is in force.
func viewed(ctx context.Context, client, program string, env []string) error {
	up := &capturetest.Upstream{Next: rounds(3), Binding: &capturetest.Binding{}, Cache: &capturetest.PrefixCache{}}
	s, done, err := newStage(ctx, client, program, env, up, up)
	if err != nil {
		return err
	}
	defer done()
	if err := s.platformUp("127.0.0.1:0"); err != nil {
		return err
	}
	policy := map[string]any{"kind": "policy.palace", "mode": view.Live, "keep": map[string]any{"turns": 0}, "epoch": map[string]any{"min_tokens": 1, "margin": 0.5, "context": 0.7}}
	if err := s.ask("POST", "/v1/artifacts", map[string]any{"type": "policy.palace", "name": "default", "schema": policy}, &struct{}{}); err != nil {
		return err
	}
	if out, err := s.claude("Take the steps.").Output(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := s.aside(); err != nil {
		return err
	}
	if out, err := s.claude("--continue", "Take three more.").Output(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := s.asideAre(3); err != nil {
		return err
	}
	requests, refused, dropped := judgements(up)
	fmt.Printf("a view began at the second turn: %d requests, %d refused, thinking left out %v\n", requests, refused, dropped)
	if err := s.recalled(); err != nil {
		return err
	}
	if err := s.killsInView(3); err != nil {
		return err
	}
	if _, refused, _ = judgements(up); refused != 0 {
		return fmt.Errorf("%d requests were refused: %+v", refused, up.Judged())
	}
	all, err := s.taken()
	if err != nil {
		return err
	}
	if err := s.sentWholly(all); err != nil {
		return err
	}
	return s.saved()
}

// saved tells what the session cost in its view, and what it would have without.
func (s *stage) saved() error {
	var seen struct {
		Saved struct {
			Exchanges int
			Paid      *float64 `json:"paid_usd"`
			Raw       *float64 `json:"raw_usd"`
			Low       *float64 `json:"low_usd"`
			High      *float64 `json:"high_usd"`
		}
	}
	if err := s.ask("GET", "/v1/palace/lineages/"+s.plan.Lineage+"/view", nil, &seen); err != nil {
		return err
	}
	f := seen.Saved
	if f.Exchanges == 0 || f.Paid == nil || f.Raw == nil || f.Low == nil {
		return fmt.Errorf("the ledger cannot tell what the view saved: %+v", f)
	}
	fmt.Printf("%d requests in the view cost $%.4f; without it they would have cost $%.4f (%.4f to %.4f)\n", f.Exchanges, *f.Paid, *f.Raw, *f.Low, *f.High)
	return nil
}

// recalled has the agent ask back what is set aside.
func (s *stage) recalled() error {
	next := s.up.Next
	defer func() { s.up.Next = next }()
	var got string
	var tools []string
	s.up.Next = func(said string, names []string) (string, map[string]any) {
		if !slices.Contains(names, "Bash") {
			return "", nil
		}
		if tools = names; strings.Contains(said, `"tool_result"`) {
			got = said
			return "", nil
		}
		return view.RecallTool, map[string]any{"block": s.plan.Replace[1].Block}
	}
	if out, err := s.claude("--continue", "What was the second step?").Output(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if !strings.Contains(got, "step-2") || !strings.Contains(got, `399\n400`) {
		return fmt.Errorf("what was set aside did not come back: %.300q; the client has the tools %v", got, tools)
	}
	fmt.Printf("the agent asked a result back, and got its %d bytes\n", len(got))
	return nil
}

// killsInView kills what serves an agent in the middle of a stream, while a view is in
// force.
func (s *stage) killsInView(aside int) error {
	for _, one := range []struct {
		what string
		do   func() error
	}{
		{"proxy and platform in one", func() error { s.kill(s.platform); return nil }},
		{"the proxy", func() error {
			pid, err := s.proxyID()
			if err == nil {
				err = syscall.Kill(pid, syscall.SIGKILL)
			}
			return err
		}},
		{"the platform", func() error { s.kill(s.platform); s.up.Release(); return nil }},
	} {
		before := len(s.up.Asked())
		s.up.Fail(capturetest.FallsSilent)
		cmd := s.claude("--continue", "Go on, whatever happens to "+one.what+".")
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			return err
		}
		for len(s.up.Asked()) == before {
			select {
			case <-s.ctx.Done():
				return fmt.Errorf("the client asked nothing: %w\n%s", s.ctx.Err(), out.String())
			case <-time.After(20 * time.Millisecond):
			}
		}
		time.Sleep(500 * time.Millisecond) // the stream has begun
		if err := one.do(); err != nil {
			return err
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s was killed, and the client failed: %w\n%s", one.what, err, out.String())
		}
		if err := s.asideAre(aside); err != nil {
			return fmt.Errorf("after %s was killed: %w", one.what, err)
		}
		if s.platform.ProcessState != nil {
			if err := s.platformUp("off"); err != nil {
				return err
			}
		}
		fmt.Printf("%s killed while a view was in force: the client ended well, and the view stayed\n", one.what)
	}
	return nil
}

// sentWholly checks that what the backend was asked can be made of what is kept.
func (s *stage) sentWholly(all []exchangeSeen) error {
	seen := map[string]int{}
	changed := 0
	for _, e := range all {
		sum := e.Request.Sum
		if e.Sent != nil {
			changed++
			sum = e.Sent.Sum
		}
		seen[sum]++
	}
	for i, a := range s.up.Asked() {
		if seen[a.Sum()]--; seen[a.Sum()] < 0 {
			return fmt.Errorf("request %d is not kept as the backend had it", i+1)
		}
	}
	fmt.Printf("all %d requests are kept as the client sent them and as the backend had them; %d of them differ\n", len(all), changed)
	return nil
}
