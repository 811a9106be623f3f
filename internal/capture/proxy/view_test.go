package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/capture"
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

// palace.md, 1.2: nothing is changed by default
func TestInShadowNothingIsChangedAndNothingIsRead(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(3))
	k.turn("Read the files.")
	k.plan(func(p *view.Plan) { p.Mode, p.Asked, p.Pays = view.Shadow, true, true }, k.uses...)
	k.turn("And again.")
	for _, e := range k.kept() {
		if e.Sent != nil {
			t.Errorf("%+v", e.Sent)
		}
	}
	if k.epochs() != nil || k.proxy.Counts().Views != (ViewCounts{}) || len(k.proxy.viewer.clients) != 1 {
		t.Errorf("%v %+v", k.epochs(), k.proxy.Counts())
	}
}

// palace.md, 7: Opening
func TestAnEpochBeginsWithATurnAndStays(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(3)
	k := talking(t, up)
	k.turn("Read the files.")
	k.plan(nil, k.uses[0], k.uses[1]) // it does not pay, nobody asked, and the cache is warm
	k.turn("Once more.")
	if k.epochs() != nil {
		t.Fatalf("%+v", k.epochs())
	}
	k.plan(pays, k.uses[0], k.uses[1])
	mid := k.Len()
	k.turn("Now it pays.")
	list := k.epochs()
	if len(list) != 1 || list[0].Why != view.Pays || len(list[0].Replace) != 2 || list[0].At != mid+1 || !list[0].Recall {
		t.Fatalf("%+v", list)
	}
	// Whatever the plan says now, the set stays until a turn begins.
	sent := k.last()
	if n := bytes.Count(sent.Body, []byte("[palace: block ")); n != 2 || !bytes.Contains(sent.Body, []byte(`mcp__palace__recall {\"block\":\"`)) {
		t.Errorf("%d are set aside: %s", n, sent.Body)
	}
	if got := strings.Join(sent.Header.Values("Anthropic-Beta"), ","); got != "a-2026-01-01,"+view.Beta {
		t.Errorf("betas %s", got)
	}
	if status, _ := k.post("/v1/messages/count_tokens"); status != 200 || bytes.Count(k.last().Body, []byte("[palace: block ")) != 2 {
		t.Errorf("another body is counted: %s", k.last().Body)
	}
	k.again() // killed and started anew
	k.plan(pays, k.uses[0], k.uses[1])
	k.turn("And on.")
	if n := bytes.Count(k.last().Body, []byte("[palace: block ")); n != 2 {
		t.Errorf("after a restart %d are set aside", n)
	}
	k.plan(asked, k.uses[2], k.uses[3])
	k.turn("A person says so.")
	if list = k.epochs(); len(list) != 2 || list[1].Number != 2 || list[1].Why != view.Ordered || len(list[1].Replace) != 4 {
		t.Errorf("%+v", list)
	}
	_, refused, dropped := judged(up)
	if refused != 0 {
		t.Errorf("refused: %v", up.Judged())
	}
	t.Logf("thinking dropped: %v", dropped)
	all := k.kept()
	for i, a := range up.Asked() {
		got := all[i].Asked
		if s := all[i].Sent; s != nil {
			body, err := s.Of(all[i].Asked)
			if err != nil || s.Client != "session:"+session || s.Epoch == 0 || s.Size != int64(len(body)) {
				t.Fatalf("%v %+v", err, s)
			}
			got = body
		}
		if !bytes.Equal(got, a.Body) {
			t.Fatalf("what is kept of %d does not make what was sent", i)
		}
	}
}

// Nothing is sent before what it follows is on the disk.
func TestAnEpochThatCannotBeWrittenDoesNotBegin(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	if err := os.WriteFile(filepath.Join(k.dir, "epochs"), nil, 0o600); err != nil { // no folder can be there
		t.Fatal(err)
	}
	k.turn("Go on.")
	if bytes.Contains(k.last().Body, []byte("[palace:")) || k.proxy.Counts().Views.Opened != 0 {
		t.Errorf("%s", k.last().Body)
	}
}

// A cache that is cold is written anew anyway.
func TestAnEpochBeginsWhenTheCacheIsCold(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*talk){
		"idle": func(k *talk) {
			now := k.proxy.viewer.now()
			k.proxy.viewer.now = func() time.Time { return now.Add(6 * time.Minute) }
		},
		"model": func(k *talk) { k.Model = "n" },
		"tools": func(k *talk) { k.Tools = append(k.Tools, "Bash") },
		"warm":  func(*talk) {},
	} {
		k := talking(t, bindingUpstream(2))
		k.turn("Read the files.")
		k.plan(nil, k.uses...)
		k.turn("Go on.") // the model and the tools are known from here on
		change(k)
		k.turn("And on.")
		if list := k.epochs(); name != "warm" && (len(list) != 1 || list[0].Why != view.Cold) || name == "warm" && list != nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// proxy.md: E5
func TestARequestThatIsRefusedForItsViewIsSentOnceMoreAsItWas(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(2)
	var refused [][]byte
	var mu sync.Mutex
	strict := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		if bytes.Contains(b.Bytes(), []byte("[palace:")) {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, b.Bytes())
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block."}}`))
			return
		}
		r.Body = &passing{&b, http.NoBody}
		up.ServeHTTP(w, r)
	})
	k := &talk{rig: through(t, strict, nil), up: up, client: plainClient(t)}
	k.Model, k.Tools, k.Thinks = "m", []string{"Read"}, true
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	k.plan(asked, k.uses...)
	k.turn("And on.")
	list := k.epochs()
	if len(refused) != 1 || len(list) != 1 || !strings.Contains(list[0].Ended, "signature") || list[0].EndedAt == nil || k.proxy.Counts().Views.Refused != 1 {
		t.Fatalf("%d refused, %+v", len(refused), list)
	}
	body := k.last().Body
	if bytes.Contains(body, []byte("[palace:")) || !bytes.Contains(body, []byte("drop_block")) {
		t.Errorf("after a view was left: %s", body)
	}
	why := ""
	for _, e := range k.kept() {
		if e.Sent != nil {
			why += e.Sent.Why + " "
			if body, err := e.Sent.Of(e.Asked); err != nil || bytes.Contains(body, []byte("[palace:")) {
				t.Errorf("%v %s", err, body)
			}
			if e.Sent.Why == capture.SentRaw && e.Sent.Refused == "" {
				t.Error("it is not kept what the backend said")
			}
		}
	}
	if !strings.HasPrefix(why, "raw left ") {
		t.Errorf("sent: %s", why)
	}
}

// What is refused for another reason is the client's to hear.
func TestARefusalThatIsNotOursReachesTheClient(t *testing.T) {
	t.Parallel()
	n := 0
	up := bindingUpstream(2)
	k := &talk{rig: through(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if up.Next == nil {
			n++
			w.Header().Set("X-Said", "yes")
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`))
			return
		}
		up.ServeHTTP(w, r)
	}), nil), up: up, client: plainClient(t)}
	k.Model, k.Tools = "m", []string{"Read"}
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.Says("Go on.")
	up.Next = nil
	if status, answer := k.post("/v1/messages"); status != 400 || !bytes.Contains(answer, []byte("200001 tokens")) || n != 1 {
		t.Errorf("%d %s, asked %d times", status, answer, n)
	}
}

// proxy.md: E4
func TestAModelThatCannotDropThinkingGetsNone(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(2)
	up.Binding.Unaware = []string{"m"}
	k := talking(t, up)
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	k.again() // who comes after knows it
	k.turn("And on.")
	n, refused, _ := judged(up)
	if refused != 1 || len(k.epochs()) != 1 || k.epochs()[0].Ended != "" {
		t.Fatalf("%d of %d refused: %v, %+v", refused, n, up.Judged(), k.epochs())
	}
	b, err := view.ReadBody(k.last().Body)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range b.Messages[:b.Closed()] {
		for _, p := range m.Parts {
			if p.Type == "thinking" && i < k.Len()-7 {
				t.Errorf("message %d thinks", i)
			}
		}
	}
	if bytes.Contains(k.last().Body, []byte("block_binding")) || !bytes.Contains(k.last().Body, []byte("[palace:")) {
		t.Errorf("%s", k.last().Body)
	}
	// Until it may have changed; and of another backend nothing is known.
	if v := newViewer(k.dir, "https://elsewhere.example", nil, k.proxy.log); v.isUnaware("m") || !k.proxy.viewer.isUnaware("m") {
		t.Error("another backend is taken for the one that refused")
	}
	later := unawareModels{file: filepath.Join(k.dir, unawareFile)}
	if err := later.read(time.Now().Add(unawareFor)); err != nil || len(later.list) != 0 {
		t.Errorf("a week later it is still believed: %v %v", later.list, err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, unawareFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k.again(); k.proxy.viewer.isUnaware("m") || !strings.Contains(k.log.String(), "each is asked once more") {
		t.Error("a damaged file is not told")
	}
}

// proxy.md: P6
//
// Requirements: PAL-09
func TestAViewThatFailsCostsTheAgentNothing(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	k.proxy.viewer.now = func() time.Time { panic("no time") }
	k.turn("It fails.")
	body := k.last().Body
	if bytes.Contains(body, []byte("[palace:")) || !bytes.Contains(body, []byte("drop_block")) || k.proxy.Counts().FailOpen == 0 {
		t.Errorf("%+v: %s", k.proxy.Counts(), body)
	}
	_, refused, _ := judged(k.up)
	if refused != 0 {
		t.Errorf("%v", k.up.Judged())
	}
}

// proxy.md: E6
func TestAnAgentThatTurnsInACircleGetsItsHistoryBack(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(4)
	k := talking(t, up)
	k.says = func(_ int, u capturetest.Use) string {
		return fmt.Sprint(u.Input["file_path"]) + strings.Repeat(" the same", 100)
	}
	k.turn("Read the files.")
	k.plan(asked, k.uses[0])
	up.Next = calls(4, func(int) map[string]any { return file(1) })
	k.turn("Read it again.")
	list := k.epochs()
	if len(list) != 1 || list[0].Ended != view.EndedCircle || k.proxy.Counts().Views.Suspended != 1 || bytes.Contains(k.last().Body, []byte("[palace:")) {
		t.Errorf("%+v", list)
	}
	k.plan(asked, k.uses[1])
	k.turn("Go on.")
	if len(k.epochs()) != 1 {
		t.Errorf("%+v", k.epochs())
	}
}

// palace.md, 11: views or epochs lost
func TestLostEpochsAreToldAndLeft(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	for name, damage := range map[string]func(string) error{
		"damaged": func(file string) error {
			k.plan(nil)
			return os.WriteFile(file, []byte("[{"), 0o600)
		},
		"gone": func(file string) error {
			k.plan(func(p *view.Plan) { p.Epochs = 1 })
			return os.Remove(file)
		},
	} {
		if err := damage(filepath.Join(k.dir, "epochs", view.FileName("session:"+session))); err != nil {
			t.Fatal(err)
		}
		k.again()
		k.turn("And on.")
		body := k.last().Body
		if bytes.Contains(body, []byte("[palace:")) || !bytes.Contains(body, []byte("drop_block")) || k.proxy.Counts().Views.Lost != 1 || !strings.Contains(k.log.String(), "are lost") {
			t.Errorf("%s: %+v %s", name, k.proxy.Counts(), body)
		}
		// The next epoch makes all well.
		k.plan(func(p *view.Plan) { p.Asked, p.Epochs = true, 1 }, k.uses...)
		k.turn("Again.")
		if list := k.epochs(); len(list) != 1 || list[0].Number != 2 || !bytes.Contains(k.last().Body, []byte("[palace:")) {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if _, refused, _ := judged(k.up); refused != 0 {
		t.Errorf("%v", k.up.Judged())
	}
}

// What may be understood in two ways, or cannot be read, passes as it is.
//
// Requirements: PAL-09
func TestADoubtfulRequestPassesAsItIs(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.Says("Go on.")
	good := k.Body()
	twice := append(bytes.TrimSuffix(good, []byte("}")), []byte(`,"messages":[]}`)...)
	for name, one := range map[string]struct {
		body   []byte
		header http.Header
	}{
		"twice":      {twice, nil},
		"no JSON":    {good[:len(good)-1], nil},
		"compressed": {good, http.Header{"Content-Encoding": {"gzip"}}},
	} {
		h := http.Header{"X-Claude-Code-Session-Id": {session}}
		for name, v := range one.header {
			h[name] = v
		}
		whole(t, ask(t, k.client, "POST", k.base+"/v1/messages", one.body, h))
		if !bytes.Equal(k.last().Body, one.body) {
			t.Errorf("%s: %s", name, k.last().Body)
		}
	}
	if k.proxy.Counts().Views.Unread != 3 {
		t.Errorf("%+v", k.proxy.Counts().Views)
	}
}

// What is decided before a result was ever sent costs neither cache nor thinking.
func TestRepeatedResultsAreOnlyNamed(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(3)
	k := talking(t, up)
	k.says = func(_ int, u capturetest.Use) string {
		return fmt.Sprint(u.Input["file_path"]) + strings.Repeat(" says the same", 100)
	}
	k.turn("Read the files.")
	k.plan(func(p *view.Plan) { p.Birth.Duplicates = true })
	k.turn("Read them again.")
	body := k.last().Body
	if n := bytes.Count(body, []byte("[identical to the result of ")); n != 3 || bytes.Contains(body, []byte("drop_block")) {
		t.Errorf("%d are named: %s", n, body)
	}
	// What is pointed to stays, and so does what points.
	k.plan(func(p *view.Plan) { p.Birth.Duplicates, p.Asked = true, true }, k.uses[0], k.uses[3])
	k.turn("And again.")
	if n := bytes.Count(k.last().Body, []byte("[palace:")); n != 0 {
		t.Errorf("%d are set aside", n)
	}
	k.again()
	k.turn("And after a restart.")
	if n := bytes.Count(k.last().Body, []byte("[identical to the result of ")); n != 9 {
		t.Errorf("%d are named", n)
	}
	if _, refused, dropped := judged(up); refused != 0 || fmt.Sprint(dropped) != fmt.Sprint(make([]int, len(dropped))) {
		t.Errorf("%d refused, %v dropped", refused, dropped)
	}
}

// palace.md, 7: Recall
func TestAnAgentAsksBackWhatIsSetAside(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.says = func(n int, _ capturetest.Use) string {
		return strings.Repeat("ä", 5000) + fmt.Sprintf(" the needle %d ", n) + strings.Repeat("ö", 5000)
	}
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	block := k.epochs()[0].Replace[0].Block
	client := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: k.base + recallPath, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	call := func(tool string, in map[string]any) (string, bool) {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	whole, from := "", 0
	for {
		text, failed := call("recall", map[string]any{"block": block, "from": from})
		if failed {
			t.Fatal(text)
		}
		page, more, _ := strings.Cut(text, "\n[bytes ")
		if len(page) > 8192 {
			t.Fatalf("a page of %d bytes", len(page))
		}
		if whole += page; more == "" {
			break
		}
		from = len(whole)
	}
	if whole != k.says(1, k.uses[0]) {
		t.Errorf("%d bytes came back", len(whole))
	}
	if text, _ := call("search", map[string]any{"query": "NEEDLE 2"}); !strings.Contains(text, "the needle 2") || strings.Contains(text, block) {
		t.Errorf("found %s", text)
	}
	if text, failed := call("recall", map[string]any{"block": "9-none"}); !failed || !strings.Contains(text, block) {
		t.Errorf("%s", text)
	}
	if text, failed := call("keep", map[string]any{"block": block, "why": "it is needed"}); failed || text != whole {
		t.Errorf("%s", text)
	}
	if kept := k.epochs()[0].Kept; len(kept) != 1 || kept[0].Block != block || kept[0].Why != "it is needed" {
		t.Errorf("%+v", kept)
	}
	// Another's token gets nothing of it, and none gets no further.
	other := NewToken()
	k.tokens.grant(hashOf(other), Agent{Name: "other"})
	o, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: BaseURL(k.address, other) + recallPath, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall", Arguments: map[string]any{"block": block}})
	if err != nil || !r.IsError {
		t.Errorf("another's: %+v %v", r, err)
	}
	if _, err := client.Connect(context.WithoutCancel(t.Context()), &mcp.StreamableClientTransport{Endpoint: "http://" + k.address + recallPath, DisableStandaloneSSE: true}, nil); err == nil {
		t.Error("it is told to whoever asks")
	}
}

// What an agent without the tool is told is what it can do.
func TestNothingIsPromisedThatTheAgentCannotAskFor(t *testing.T) {
	t.Parallel()
	k := talking(t, bindingUpstream(2))
	k.Tools = []string{"Read"}
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	if body := k.last().Body; bytes.Contains(body, []byte("mcp__palace")) || bytes.Count(body, []byte("Run the tool again if you need it.")) != 2 {
		t.Errorf("%s", body)
	}
	// When the person takes views back, the next turn is sent whole.
	k.plan(func(p *view.Plan) { p.Mode = view.Off }, k.uses...)
	k.turn("And on.")
	if body := k.last().Body; bytes.Contains(body, []byte("[palace:")) || !bytes.Contains(body, []byte("drop_block")) || k.epochs()[0].Ended != view.EndedPolicy {
		t.Errorf("%+v: %s", k.epochs(), body)
	}
}
