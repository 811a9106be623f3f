package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// messageCall is a request of Anthropic's Messages API.
type messageCall struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens"`
	System    json.RawMessage   `json:"system"`
	Messages  []json.RawMessage `json:"messages"`
	Tools     []object          `json:"tools"`
	gone      <-chan struct{}   // closed when nobody waits for the answer any more
}

// messages is a server of Anthropic's Messages API that says what the test tells
// it to: a text, or with a name a tool to be called.
type messages struct {
	*httptest.Server

	mu    sync.Mutex
	calls []messageCall
	reply func(call messageCall, n int) (text, tool string) // n counts from 1
	// second says whether the first sentence of a paragraph is so, and names what
	// is wrong; nil: all of it is.
	second func(question string) (said string)
	checks int
}

// check answers for the role check.
func (f *messages) check(call messageCall) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checks++
	if f.second != nil {
		if said := f.second(string(call.Messages[len(call.Messages)-1])); said != "" {
			raw, _ := json.Marshal(object{"n": 1, "check": "looked up", "ok": false, "said": said})
			return string(raw)
		}
	}
	return `{"n":1,"check":"looked up","ok":true}`
}

func offerMessages(t *testing.T, reply func(call messageCall, n int) (text, tool string)) *messages {
	t.Helper()
	f := &messages{reply: reply}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	t.Cleanup(f.CloseClientConnections)
	return f
}

func (f *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call messageCall
	if r.URL.Path != "/v1/messages" || json.NewDecoder(r.Body).Decode(&call) != nil {
		http.NotFound(w, r)
		return
	}
	call.gone = r.Context().Done()
	text, tool, n := "", "", 0
	if strings.Contains(string(call.System), "You check an answer before a person sees it.") {
		text = f.check(call)
	} else {
		f.mu.Lock()
		f.calls = append(f.calls, call)
		n = len(f.calls)
		f.mu.Unlock()
		text, tool = f.reply(call, n)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, data object) {
		data["type"] = kind
		raw, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
	}
	send("message_start", object{"message": object{"role": "assistant", "usage": object{"input_tokens": 300, "output_tokens": 1}}})
	stop := "end_turn"
	if tool == "" {
		send("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		send("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
	} else {
		stop = "tool_use"
		send("content_block_start", object{"index": 0, "content_block": object{"type": "tool_use", "id": fmt.Sprintf("u%d", n), "name": tool, "input": object{}}})
		send("content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": "{}"}})
	}
	send("content_block_stop", object{"index": 0})
	send("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 20}})
	send("message_stop", object{})
}

func (f *messages) all() []messageCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *messages) env(more ...string) []string {
	return append([]string{"MODEL_BACKEND=anthropic", "ANTHROPIC_BASE_URL=" + f.URL, "ANTHROPIC_API_KEY=" + secretKey}, more...)
}

// bare sends a request to a protocol that has no envelope.
func (who *person) bare(method, path string, body any) (status int, header http.Header, data object) {
	who.p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		who.p.t.Fatal(err)
	}
	req := who.request(who.p.t.Context(), method, path, bytes.NewReader(raw))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(res.Body)
	if err := json.Unmarshal(answer, &data); err != nil {
		who.p.t.Fatalf("%s answered %d with %q", path, res.StatusCode, answer)
	}
	return res.StatusCode, res.Header, data
}

// asksTurn asks something at a surface; status is not 200 where it is refused.
func (who *person) asksTurn(text string) (status int, header http.Header, turn object) {
	who.p.t.Helper()
	return who.bare("POST", "/api/paliadin/turn", object{"session_id": "tab-7", "user_message": text, "history": []object{}})
}

// groundedTold is one event of a turn's stream.
type groundedTold struct {
	name, id string
	data     object
}

// hears reads the stream of a turn to its end, or until stop says so.
func (who *person) hears(url string, stop func(groundedTold) bool) (list []groundedTold) {
	who.p.t.Helper()
	req := who.request(who.p.t.Context(), "GET", url, nil)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		who.p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		who.p.t.Fatalf("%s: %d", url, res.StatusCode)
	}
	var one groundedTold
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
		case "id":
			one.id = value
		case "event":
			one.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &one.data); err != nil {
				who.p.t.Fatal(err)
			}
		case "":
			if one.name != "" && one.name != "ping" {
				list = append(list, one)
				if stop != nil && stop(one) {
					return list
				}
			}
			one = groundedTold{}
		}
	}
	return list
}

func toldNames(list []groundedTold) string {
	var names []string
	for _, one := range list {
		if len(names) == 0 || names[len(names)-1] != one.name || one.name != "content_delta" {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, " ")
}

func toldText(list []groundedTold) (text string) {
	for _, one := range list {
		if one.name == "content_delta" {
			text += one.data["text"].(string)
		}
	}
	return text
}

// rowsOf are the audits of turns that somebody sees, newest first.
func (who *person) turnRows() (list []object) {
	who.p.t.Helper()
	for _, row := range who.must("GET", "/v1/turns?surface=paliadin&limit=100", nil)["data"].([]any) {
		list = append(list, row.(object))
	}
	return list
}

// Requirements: GRND-23, GRND-24, GRND-25, GRND-26 (output 2000), GRND-28 (columns), GRND-30 (redacted has no words; redacted by default), GRND-31 (own rows; administrators all), GRND-39 (the closed set with a fallback), STREAM-22, STREAM-25 (turn and stream; abort by its owner only), STREAM-28 (paliadin)
func TestASurfaceIsSpokenWithInItsOwnProtocol(t *testing.T) {
	t.Parallel()
	f := offerMessages(t, func(_ messageCall, n int) (text, tool string) {
		switch n {
		case 1:
			return "", "whats_on_my_plate"
		case 2: // what no rule knows to be wrong, and the model that checks does
			return "Heute steht nicht alles an.", ""
		}
		return "Das ist alles, was heute ansteht.", ""
	})
	f.second = func(question string) (said string) {
		if strings.Contains(question, "nicht alles") {
			return "nicht alles"
		}
		return ""
	}
	p := start(t, f.env("PALIADIN_MODEL=claude-haiku-4-5")...)
	ada, bob := p.signUp("ada@example.org"), p.signUp("bob@example.org")
	hour := time.Now().Truncate(time.Hour)
	status, _, turn := bob.asksTurn("Was steht heute an, Zebrafink?")
	if status != http.StatusOK || turn["sse_url"] != fmt.Sprintf("/api/paliadin/stream/%s", turn["turn_id"]) {
		t.Fatalf("%d %v", status, turn)
	}
	url := turn["sse_url"].(string)
	list := bob.hears(url, nil)
	if got, want := toldNames(list), "meta tool_call tool_result content_delta end"; got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
	if meta := list[0].data; meta["turn_id"] != turn["turn_id"] || meta["model"] != "claude-haiku-4-5" {
		t.Errorf("meta %v", meta)
	}
	if call, result := list[1].data, list[2].data; call["name"] != "whats_on_my_plate" || len(call["args_hash"].(string)) != 64 || call["status"] != "running" || result["status"] != "ok" {
		t.Errorf("%v and %v", call, result)
	}
	// What is cited for today depends on the day of the week.
	if said := toldText(list); regexp.MustCompile(`( ?\[\d+\])+`).ReplaceAllString(said, "") != "Das ist alles, was heute ansteht." {
		t.Errorf("said %q", said)
	}
	if end := list[len(list)-1].data; end["output_tokens"] != 100.0 || end["tool_calls"] != 1.0 {
		t.Errorf("end %v", end)
	}
	if f.checks != 2 {
		t.Errorf("%d paragraphs were checked", f.checks)
	}
	for _, c := range f.all() {
		if c.Model != "claude-haiku-4-5" || c.MaxTokens != 2000 {
			t.Errorf("%s was asked for %d tokens", c.Model, c.MaxTokens)
		}
	}
	for _, other := range []*person{ada} { // an administrator is no owner
		for _, try := range [][2]string{{"GET", url}, {"POST", url + "/abort"}} {
			if status, _, _ := other.bare(try[0], try[1], nil); status != http.StatusNotFound {
				t.Errorf("%s %s of another: %d", try[0], try[1], status)
			}
		}
	}
	_, _, l := bob.bare("GET", "/api/paliadin/limits", nil)
	over := !time.Now().Truncate(time.Hour).Equal(hour) // and with it what was used
	if l["hourly_cap"] != 30.0 || l["global_cap"] != 1000.0 || !over && (l["used_this_hour"] != 1.0 || l["global_used"] != 1.0) {
		t.Errorf("limits %v", l)
	}
	rows := ada.turnRows()
	if len(rows) != 1 || len(bob.turnRows()) != 1 || len(p.signUp("eve@example.org").turnRows()) != 0 {
		t.Fatalf("rows %v", rows)
	}
	row := rows[0]
	raw, _ := json.Marshal(row)
	if row["turn_id"] != turn["turn_id"] || row["session_id"] != "tab-7" || row["model"] != "claude-haiku-4-5" || row["classifier_tag"] != "data" || row["error_code"] != "" ||
		len(row["prompt_hash"].(string)) != 64 || len(row["response_hash"].(string)) != 64 || len(row["tool_calls"].([]any)) != 1 || row["output_tokens"] != 100.0 || // three of the answer, and two that checked it
		row["finished_at"] == nil {
		t.Errorf("the row %s", raw)
	}
	if strings.Contains(string(raw), "Zebrafink") || strings.Contains(string(raw), "ansteht") {
		t.Errorf("the row has words: %s", raw)
	}
}

// Requirements: GRND-02 (disabled; without a key)
func TestASurfaceThatIsSwitchedOffIsNowhere(t *testing.T) {
	t.Parallel()
	p := start(t, "PALIADIN_ENABLED=false")
	ada := p.signUp("ada@example.org")
	for _, rest := range []string{"/limits", "/stream/01890000-0000-7000-8000-000000000000"} {
		status, _, off := ada.bare("GET", "/api/paliadin"+rest, nil)
		_, _, never := ada.bare("GET", "/api/nobody"+rest, nil)
		if a, b := fmt.Sprint(off["error"]), strings.ReplaceAll(fmt.Sprint(never["error"]), "nobody", "paliadin"); status != http.StatusNotFound || a != b {
			t.Errorf("%d: %s\nand one that never was: %s", status, a, b)
		}
	}
	if status, _, _ := ada.asksTurn("Hello"); status != http.StatusNotFound {
		t.Errorf("a turn: %d", status)
	}
	if status, _, _, _ := ada.do("POST", "/v1/chat", object{"message": "Hello", "workflow_id": "paliadin"}); status != http.StatusNotFound {
		t.Errorf("a turn by another way: %d", status)
	}
	if list := ada.must("GET", "/v1/config/ui", nil)["surfaces"].([]any); strings.Contains(fmt.Sprint(list), "paliadin") {
		t.Errorf("it is in the list: %v", list)
	}
	ada.must("POST", "/v1/chat", object{"message": "Hello"})

	p = start(t, "MODEL_BACKEND=anthropic", "ANTHROPIC_API_KEY=")
	ada = p.signUp("ada@example.org")
	for _, path := range []string{"/api/paliadin/limits", "/api/paliadin/stream/01890000-0000-7000-8000-000000000000"} {
		if status, _, _ := ada.bare("GET", path, nil); status != http.StatusServiceUnavailable {
			t.Errorf("%s without a key: %d", path, status)
		}
	}
	if status, _, _ := ada.asksTurn("Hello"); status != http.StatusServiceUnavailable {
		t.Errorf("a turn without a key: %d", status)
	}
	ada.must("GET", "/v1/conversations", nil)
}

// Requirements: GRND-21 (tool_loop_cap; five rounds; the sentence), GRND-29 (tool_loop_cap; user_aborted), GRND-33 (the model is let go; the audit says so), STREAM-25 (abort by its owner only)
func TestATurnWithoutAnEndIsStoppedByItsCapOrItsPerson(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	hang := false
	asked, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	f := offerMessages(t, func(c messageCall, _ int) (text, tool string) {
		mu.Lock()
		wait := hang
		mu.Unlock()
		if !wait {
			return "", "whats_on_my_plate"
		}
		asked <- struct{}{}
		<-c.gone
		gone <- struct{}{}
		return "", ""
	})
	p := start(t, f.env()...)
	p.signUp("ada@example.org")
	bob := p.signUp("bob@example.org")
	_, _, turn := bob.asksTurn("Was steht heute an?")
	list := bob.hears(turn["sse_url"].(string), nil)
	if end := list[len(list)-1]; toldText(list) != "Sorry, I got stuck — try rephrasing." || end.name != "end" || end.data["error_code"] != "tool_loop_cap" {
		t.Errorf("said %q, %v", toldText(list), end)
	}
	if all := f.all(); len(all) != 6 || all[0].Model != "claude-sonnet-4-6" {
		t.Errorf("the model %s was asked %d times", all[0].Model, len(all))
	}
	if row := bob.turnRows()[0]; row["error_code"] != "tool_loop_cap" {
		t.Errorf("%v", row)
	}

	mu.Lock()
	hang = true
	mu.Unlock()
	_, _, turn = bob.asksTurn("Und morgen?")
	url := turn["sse_url"].(string)
	<-asked
	if status, _, stopped := bob.bare("POST", url+"/abort", nil); status != http.StatusOK || stopped["turn_id"] != turn["turn_id"] {
		t.Errorf("abort: %d %v", status, stopped)
	}
	select {
	case <-gone:
	case <-time.After(patience):
		t.Error("the model was not let go")
	}
	list = bob.hears(url, nil)
	if end := list[len(list)-1]; end.name != "end" || end.data["error_code"] != "user_aborted" {
		t.Errorf("the stream ends with %v", end)
	}
	if row := bob.turnRows()[0]; row["error_code"] != "user_aborted" || row["finished_at"] == nil {
		t.Errorf("%v", row)
	}
}

// hasThirty asks as often as an hour allows, and once more, and tells what was wrong
// with it.
func (who *person) hasThirty(f *messages) (wrong []string) {
	who.p.t.Helper()
	for n := 1; n <= 30; n++ {
		status, _, turn := who.asksTurn("Gibt es etwas?")
		if status != http.StatusOK {
			return append(wrong, fmt.Sprintf("turn %d: %d %v", n, status, turn))
		}
		if hint := fmt.Sprint(turn["hint"]); (n >= 25) != strings.Contains(hint, fmt.Sprintf("%d of 30", n)) {
			wrong = append(wrong, fmt.Sprintf("turn %d: the hint is %v", n, turn["hint"]))
		}
		who.hears(turn["sse_url"].(string), nil)
	}
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	before := len(f.all())
	status, header, refused := who.asksTurn("Gibt es etwas?")
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
		tell("the 31st: %d, Retry-After %q, %v", status, header.Get("Retry-After"), refused)
	}
	if status, _, _, message := who.do("POST", "/v1/chat", object{"message": "Gibt es etwas?", "workflow_id": "paliadin"}); status != http.StatusTooManyRequests || !strings.Contains(message, "30") {
		tell("by the page: %d %s", status, message)
	}
	if status, _, _, message := who.do("POST", "/v1/chat", object{"message": "Gibt es etwas?"}); status != http.StatusOK {
		tell("elsewhere: %d %s", status, message)
	}
	if n := len(f.all()); n > before+4 { // what was asked elsewhere
		tell("the model was asked %d times more", n-before)
	}
	rows := who.turnRows()
	if len(rows) != 32 || rows[0]["error_code"] != "rate_limited" || rows[1]["error_code"] != "rate_limited" || rows[2]["error_code"] != "" {
		tell("%d rows, the last %v", len(rows), rows[0])
	}
	if _, _, l := who.bare("GET", "/api/paliadin/limits", nil); l["used_this_hour"] != 30.0 {
		tell("limits %v", l)
	}
	return wrong
}

// Requirements: GRND-27 (30 and 1000; the person's cap), GRND-29 (rate_limited), SAFE-07 (figures; hint; hard block with retry-after)
func TestThe31stTurnOfAnHourIsRefused(t *testing.T) {
	t.Parallel()
	f := offerMessages(t, func(messageCall, int) (text, tool string) { return "Nichts.", "" })
	p := start(t, f.env()...)
	p.signUp("ada@example.org")
	var wrong []string
	for n := range 2 { // an hour may end meanwhile: then another person has theirs
		began := time.Now().UTC().Truncate(time.Hour)
		bob := p.signUp(fmt.Sprintf("bob%d@example.org", n))
		if wrong = bob.hasThirty(f); time.Now().UTC().Truncate(time.Hour).Equal(began) {
			break
		}
	}
	for _, what := range wrong {
		t.Error(what)
	}
}

// Requirements: GRND-28 (written before the model), GRND-30 (full has them)
func TestARowIsThereBeforeTheModelAndClosedAfterACrash(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	f := offerMessages(t, func(c messageCall, n int) (text, tool string) {
		if n == 1 {
			asked <- struct{}{}
			<-c.gone
		}
		return "Nichts.", ""
	})
	p := start(t, f.env("PALIADIN_AUDIT=full")...)
	p.signUp("ada@example.org")
	bob := p.signUp("bob@example.org")
	_, _, turn := bob.asksTurn("Gibt es Zebrafinken?")
	<-asked
	if rows := bob.turnRows(); len(rows) != 1 || rows[0]["finished_at"] != nil || rows[0]["user_message"] != "Gibt es Zebrafinken?" {
		t.Fatalf("while the model is asked: %v", rows)
	}
	p.kill()
	p.again()
	bob.signIn()
	p.until("the row to be closed", func() bool { return bob.turnRows()[0]["finished_at"] != nil })
	row := bob.turnRows()[0]
	if row["turn_id"] != turn["turn_id"] || row["error_code"] != "" || row["response"] != "Nichts." || row["abandoned"] != false {
		t.Errorf("%v", row)
	}
}

// Everybody together has a cap that nobody goes beyond; their own an administrator
// does, and it is noted. Both are settings.
//
// Requirements: GRND-27 (everybody's cap; settings), SAFE-07 (everybody's cap; both configurable; an administrator's own cap, noted)
func TestAnHourOfASurfaceIsEverybodys(t *testing.T) {
	t.Parallel()
	f := offerMessages(t, func(messageCall, int) (text, tool string) { return "Nichts.", "" })
	p := start(t, f.env("PALIADIN_HOURLY_CAP=2", "PALIADIN_GLOBAL_HOURLY_CAP=5")...)
	ada, bob, eve := p.signUp("ada@example.org"), p.signUp("bob@example.org"), p.signUp("eve@example.org")
	ask := func(who *person, times int) (statuses []int, header http.Header, last object) {
		for range times {
			var status int
			status, header, last = who.asksTurn("Gibt es etwas?")
			statuses = append(statuses, status)
			if status == http.StatusOK {
				who.hears(last["sse_url"].(string), nil)
			}
		}
		return statuses, header, last
	}
	var admins, people, others []int
	var header http.Header
	var refused object
	var alone int
	earlier := map[any]bool{}
	for hour := (time.Time{}); !hour.Equal(time.Now().Truncate(time.Hour)); { // where an hour ends meanwhile, all begins anew with the next
		hour = time.Now().Truncate(time.Hour)
		for _, row := range ada.turnRows() {
			earlier[row["turn_id"]] = true
		}
		admins, _, _ = ask(ada, 3)
		people, _, _ = ask(bob, 3)
		others, header, refused = ask(eve, 1)
		alone, _, _, _ = bob.do("POST", "/v1/workflows/run", object{"workflow_id": "paliadin", "input": object{"message": "Gibt es etwas?"}})
	}
	if want := fmt.Sprint([]int{200, 200, 200}, []int{200, 200, 429}, []int{429}); fmt.Sprint(admins, people, others) != want {
		t.Errorf("answered %v %v %v, want %s", admins, people, others, want)
	}
	if header.Get("Retry-After") == "" || !strings.Contains(fmt.Sprint(refused["error"]), "everybody") {
		t.Errorf("refused with %v, %v", header, refused)
	}
	lifted := 0
	for _, row := range ada.turnRows() {
		if row["cap_lifted"] == true && !earlier[row["turn_id"]] {
			lifted++
		}
	}
	if lifted != 1 {
		t.Errorf("%d rows say that a cap was lifted", lifted)
	}
	if alone != http.StatusTooManyRequests {
		t.Errorf("a run by itself: %d", alone)
	}
}

// A program that reads and writes files answers, in a folder of the surface, and
// what it says of its tools is taken out and marked as claimed.
//
// Requirements: GRND-42, GRND-41
func TestAProgramThatWritesFilesAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "answers")
	p := start(t, "MODEL_BACKEND=textfile", "PALIADIN_RESPONSE_DIR="+dir)
	ada := p.signUp("ada@example.org")
	_, _, turn := ada.asksTurn("Was kannst du?")
	var prompt []byte
	p.until("the question to be in the folder", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "*.prompt.md"))
		if len(found) == 0 {
			return false
		}
		prompt, _ = os.ReadFile(found[0])
		answer := "Ich lese deine Akten.\n\n---\n[paliadin-meta]\nused_tools: lookup_court\nrows_seen: 1\n[/paliadin-meta]\n[end]\n"
		if err := os.WriteFile(strings.TrimSuffix(found[0], ".prompt.md")+".txt", []byte(answer), 0o600); err != nil {
			t.Error(err)
		}
		return true
	})
	list := ada.hears(turn["sse_url"].(string), nil)
	if text := toldText(list); strings.TrimSpace(text) != "Ich lese deine Akten." || list[len(list)-1].name != "end" {
		t.Errorf("told %q, %v", text, list[len(list)-1])
	}
	if !strings.Contains(string(prompt), "Was kannst du?") {
		t.Errorf("asked with\n%s", prompt)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 { // this surface keeps nothing
		t.Errorf("the folder has %v, %v", left, err)
	}
}
