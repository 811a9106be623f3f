package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

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
