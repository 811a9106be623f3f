package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

const session = "0b5e1f0a-aaaa-bbbb-cccc-000000000001"

// talk is a client that asks through a proxy, and runs the tools that it is asked to.
type talk struct {
	*rig
	capturetest.History
	up     *capturetest.Upstream
	client *http.Client
	says   func(n int, u capturetest.Use) string // a tool; nil: something long
	ran    int
	uses   []capturetest.Use

	answers [][]byte // of messages
}

func talking(t *testing.T, up *capturetest.Upstream) *talk {
	t.Helper()
	k := &talk{rig: through(t, up, nil), up: up, client: plainClient(t)}
	k.Model, k.Tools, k.Thinks = "m", []string{"Read", view.RecallTool}, true
	return k
}

// calls has the backend ask for a tool so often in each turn.
func calls(n int, input func(i int) map[string]any) func(string, []string) (string, map[string]any) {
	i := 0
	return func(said string, _ []string) (string, map[string]any) {
		if !strings.Contains(said, `"tool_result"`) {
			i = 0
		}
		if i++; i > n {
			return "", nil
		}
		return "Read", input(i)
	}
}

func file(i int) map[string]any { return map[string]any{"file_path": fmt.Sprintf("src/%d.go", i)} }

// post sends what the client has.
func (k *talk) post(path string) (status int, answer []byte) {
	k.t.Helper()
	resp := ask(k.t, k.client, "POST", k.base+path, k.Body(), http.Header{"Content-Type": {"application/json"}, "X-Claude-Code-Session-Id": {session}, "Anthropic-Beta": {"a-2026-01-01"}})
	return resp.StatusCode, whole(k.t, resp)
}

// turn says something, and goes on until the model has said all.
func (k *talk) turn(text string) {
	k.t.Helper()
	k.Says(text)
	for {
		status, answer := k.post("/v1/messages?beta=true")
		if status != 200 {
			k.t.Fatalf("%d %s", status, answer)
		}
		k.answers = append(k.answers, answer)
		uses, err := k.Answered(answer)
		if err != nil {
			k.t.Fatal(err)
		}
		if len(uses) == 0 {
			return
		}
		var results []capturetest.Result
		for _, u := range uses {
			k.ran++
			text := fmt.Sprintf("%d: ", k.ran) + strings.Repeat("what a file says, ", 80)
			if k.says != nil {
				text = k.says(k.ran, u)
			}
			results = append(results, capturetest.Result{ID: u.ID, Text: text})
		}
		k.uses = append(k.uses, uses...)
		k.Ran(results...)
	}
}

// plan writes what is to be set aside: the results of some calls.
func (k *talk) plan(change func(*view.Plan), uses ...capturetest.Use) {
	k.t.Helper()
	key := "session:" + session
	p := view.Plan{Client: key, Lineage: "l", Policy: "p", Mode: view.Live, Replace: []view.Replacement{}}
	b, err := view.ReadBody(k.Body())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, u := range uses {
		for _, m := range b.Messages {
			for _, part := range m.Parts {
				if part.Type == "tool_result" && part.ID == u.ID {
					said := view.Said(b.Of(part.Content))
					p.Replace = append(p.Replace, view.Replacement{Result: u.ID, Sum: view.SumOf(b.Of(part.Span)), Block: u.ID[len(u.ID)-2:] + "-7f3a", Label: "Read " + fmt.Sprint(u.Input["file_path"]), Bytes: len(said), Tokens: int64(len(said) / 4)})
				}
			}
		}
	}
	if change != nil {
		change(&p)
	}
	raw, err := json.Marshal(p)
	if err == nil {
		err = makeFolder(filepath.Join(k.dir, "views"))
	}
	if err == nil {
		err = writeWhole(filepath.Join(k.dir, "views", view.FileName(key)), raw)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

func asked(p *view.Plan) { p.Asked = true }
func pays(p *view.Plan)  { p.Pays = true }

// again puts a new proxy in the place of the one before, as after a kill.
func (k *talk) again() {
	k.proxy.View(k.dir, k.proxy.viewer.keys)
}

func (k *talk) epochs() (list []view.Epoch) {
	k.t.Helper()
	raw, err := os.ReadFile(filepath.Join(k.dir, "epochs", view.FileName("session:"+session)))
	if err != nil {
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		k.t.Fatal(err)
	}
	return list
}

// last is the newest request that reached the backend.
func (k *talk) last() capturetest.Asked { a := k.up.Asked(); return a[len(a)-1] }

// judged is what the backend found: requests, refusals, and how much thinking was left
// out of each.
func judged(up *capturetest.Upstream) (n, refused int, dropped []int) {
	for _, j := range up.Judged() {
		if n++; j.Problem != "" {
			refused++
		}
		dropped = append(dropped, j.Dropped)
	}
	return n, refused, dropped
}

func bindingUpstream(n int) *capturetest.Upstream {
	return &capturetest.Upstream{Binding: &capturetest.Binding{}, Next: calls(n, file)}
}
