package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// network is a place where people have accounts and publish, as LinkedIn's API and
// OAuth 2.0 are: its tokens are known to nobody but who was given them.
type network struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	codes     map[string]string // code → PKCE challenge
	current   string            // the token that is taken
	refresh   string
	issued    []string // every secret it ever gave out
	refreshes int
	revoked   int
	posts     map[string]int                                          // by text
	meet      func(text string, effect func(), w http.ResponseWriter) // nil: as it should be
}

const (
	clientSecret = "client-secret-71d04e"
	marker       = "tok-secret-9f2c"
)

func openNetwork(t *testing.T) *network {
	n := &network{t: t, codes: map[string]string{}, posts: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", n.authorize)
	mux.HandleFunc("POST /oauth/token", n.token)
	mux.HandleFunc("POST /oauth/revoke", func(http.ResponseWriter, *http.Request) { n.mu.Lock(); defer n.mu.Unlock(); n.revoked++ })
	mux.HandleFunc("GET /v2/userinfo", func(w http.ResponseWriter, r *http.Request) {
		if n.admits(w, r) {
			fmt.Fprint(w, `{"sub":"a_b","name":"Ada L."}`)
		}
	})
	mux.HandleFunc("POST /rest/posts", n.post)
	mux.HandleFunc("GET /rest/socialActions/{id}/comments", func(w http.ResponseWriter, r *http.Request) {
		if n.admits(w, r) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"Not enough permissions"}`)
		}
	})
	mux.HandleFunc("POST /rest/socialActions/{id}/comments", n.comment)
	n.Server = httptest.NewServer(mux)
	t.Cleanup(n.Close)
	t.Cleanup(n.CloseClientConnections)
	return n
}

func (n *network) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	n.mu.Lock()
	defer n.mu.Unlock()
	code := fmt.Sprintf("code-%s-%d", marker, len(n.codes))
	n.codes[code] = q.Get("code_challenge")
	n.issued = append(n.issued, code)
	back, _ := url.Parse(q.Get("redirect_uri"))
	back.RawQuery = url.Values{"state": {q.Get("state")}, "code": {code}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (n *network) token(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refused := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%q}`, code)
	}
	if r.FormValue("client_id") != "app" || r.FormValue("client_secret") != clientSecret {
		refused("invalid_client")
		return
	}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		challenge, known := n.codes[r.FormValue("code")]
		delete(n.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refused("invalid_grant")
			return
		}
	case "refresh_token":
		if n.refreshes++; r.FormValue("refresh_token") != n.refresh {
			refused("invalid_grant")
			return
		}
	}
	n.current, n.refresh = fmt.Sprintf("%s-a%d", marker, len(n.issued)), fmt.Sprintf("%s-r%d", marker, len(n.issued))
	n.issued = append(n.issued, n.current, n.refresh)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"expires_in":5184000,"scope":"openid,profile,w_member_social","token_type":"Bearer"}`, n.current, n.refresh)
}

func (n *network) admits(w http.ResponseWriter, r *http.Request) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Header.Get("Authorization") == "Bearer "+n.current && n.current != "" {
		return true
	}
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"message":"The token %s is not valid"}`, r.Header.Get("Authorization"))
	return false
}

func (n *network) post(w http.ResponseWriter, r *http.Request) {
	if !n.admits(w, r) {
		return
	}
	var body struct{ Author, Commentary, LifecycleState string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Author != "urn:li:person:a_b" || body.LifecycleState != "PUBLISHED" || r.Header.Get("LinkedIn-Version") == "" {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	effect := func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.posts[body.Commentary]++
	}
	n.mu.Lock()
	meet := n.meet
	n.mu.Unlock()
	if meet != nil {
		meet(body.Commentary, effect, w)
		return
	}
	effect()
	published(w)
}

// comment takes a comment on a post, or a reply to a comment.
func (n *network) comment(w http.ResponseWriter, r *http.Request) {
	if !n.admits(w, r) {
		return
	}
	var body struct {
		Actor, Object, ParentComment string
		Message                      struct{ Text string }
	}
	on := r.PathValue("id")
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Actor != "urn:li:person:a_b" || on != body.Object && on != body.ParentComment {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	n.mu.Lock()
	n.posts[on+" "+body.Message.Text]++
	n.mu.Unlock()
	published(w)
}

func published(w http.ResponseWriter) {
	w.Header().Set("x-restli-id", "urn:li:share:77")
	w.WriteHeader(http.StatusCreated)
}

func (n *network) meets(f func(text string, effect func(), w http.ResponseWriter)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.meet = f
}

func (n *network) count(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.posts[text]
}

// publisher is a program whose tools speak to a network, with a person who has
// connected their account there.
type publisher struct {
	*program
	*network
	admin, ada *person
	workflow   string
}

// drafts is a model that wants to publish what it is asked to, and then says what
// came of it.
func drafts(w http.ResponseWriter, call object, _ int) {
	list, _ := call["messages"].([]any)
	last, _ := list[len(list)-1].(object)
	text := fmt.Sprint(last["content"])
	if last["role"] == "tool" {
		says(w, "It came to this: "+text)
		return
	}
	s := begin(w)
	tool, arguments := "linkedin_post", object{"text": text}
	switch {
	case strings.HasPrefix(text, "read "):
		tool, arguments = "linkedin_read_comments", object{"post_id": "urn:li:share:77"}
	case strings.HasPrefix(text, "comment "):
		tool, arguments = "linkedin_post_comment", object{"post_id": "urn:li:share:77", "text": text}
	case strings.HasPrefix(text, "reply "):
		tool, arguments = "linkedin_reply_comment", object{"post_id": "urn:li:activity:6", "comment_id": "urn:li:comment:(urn:li:activity:6,7)", "text": text}
	}
	raw, _ := json.Marshal(arguments)
	s.chunk(object{"choices": []any{object{"index": 0, "delta": object{"tool_calls": []any{
		object{"index": 0, "id": "call_1", "type": "function", "function": object{"name": tool, "arguments": string(raw)}}}}}}})
	s.chunk(object{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": "tool_calls"}}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func openPublisher(t *testing.T) *publisher {
	n := openNetwork(t)
	f := offer(t, drafts)
	p := &publisher{network: n, program: start(t, f.env("LIMINAL_WEB_ALLOW="+strings.TrimPrefix(n.URL, "http://"), "LIMINAL_LOG_LEVEL=debug", "LIMINAL_LOG_PAYLOADS=1")...)}
	p.admin, p.ada = p.signUp("admin@example.org"), p.signUp("ada@example.org")
	known := map[string]string{}
	for _, kind := range []string{"connection", "tool"} {
		cursor := ""
		for {
			page := p.admin.must("GET", "/v1/artifacts?limit=100&type="+kind+"&cursor="+url.QueryEscape(cursor), nil)
			for _, a := range page["data"].([]any) {
				known[kind+"/"+a.(object)["name"].(string)] = a.(object)["id"].(string)
			}
			if cursor, _ = page["next_cursor"].(string); cursor == "" {
				break
			}
		}
	}
	patch := func(what string, ops ...object) {
		p.admin.must("PATCH", "/v1/artifacts/"+known[what], object{"patch": ops})
	}
	put := func(path string, v any) object { return object{"op": "add", "path": path, "value": v} }
	patch("connection/linkedin", put("/authorize_url", n.URL+"/oauth/authorize"), put("/token_url", n.URL+"/oauth/token"), put("/revoke_url", n.URL+"/oauth/revoke"),
		put("/origins", []string{n.URL}), put("/account/url", n.URL+"/v2/userinfo"), put("/pkce", true))
	patch("tool/linkedin_post", put("/via/http/url", n.URL+"/rest/posts"), put("/timeout_ms", 30_000), put("/confirm/remember", true))
	patch("tool/linkedin_read_comments", put("/via/http/url", n.URL+"/rest/socialActions/{post_id}/comments"))
	patch("tool/linkedin_post_comment", put("/via/http/url", n.URL+"/rest/socialActions/{post_id}/comments"))
	patch("tool/linkedin_reply_comment", put("/via/http/url", n.URL+"/rest/socialActions/{comment_id}/comments"))
	p.workflow = p.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "publisher", "visibility": "global", "schema": object{
		"kind": "workflow.chat", "title": "Publisher", "entrypoint": "talk", "nodes": []object{
			{"id": "talk", "type": "agent", "tools": []string{"linkedin_post", "linkedin_read_comments", "linkedin_post_comment", "linkedin_reply_comment"}, "save_as": "said", "next": "done"},
			{"id": "done", "type": "end", "response": "${vars.said.text}"},
		}}})["id"].(string)
	return p
}

// connect has a person go to the network and come back, in a browser of theirs.
func (p *publisher) connect(who *person) (end string) {
	p.program.t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req := who.request(p.program.t.Context(), "POST", "/v1/connections/linkedin/begin", nil)
	res, err := client.Do(req)
	if err != nil {
		p.program.t.Fatal(err)
	}
	var begun struct{ Data struct{ URL string } }
	_ = json.NewDecoder(res.Body).Decode(&begun)
	_ = res.Body.Close()
	at := begun.Data.URL
	for range 2 { // there, and back
		req, err := http.NewRequestWithContext(p.program.t.Context(), "GET", at, nil)
		if err != nil {
			p.program.t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		res, err := client.Do(req)
		if err != nil {
			p.program.t.Fatal(err)
		}
		_ = res.Body.Close()
		at = res.Header.Get("Location")
	}
	return at
}

func (p *publisher) says(who *person, message, conversation string) object {
	body := object{"message": message, "workflow_id": p.workflow}
	if conversation != "" {
		body["conversation_id"] = conversation
	}
	return who.must("POST", "/v1/chat", body)
}

// approves answers the question of a turn; that the program may be killed at any
// moment after it is the point.
func (p *publisher) approves(who *person, asked object, value object) {
	p.program.t.Helper()
	who.must("POST", "/v1/chat/resume", object{"interrupt_id": asked["interrupt"].(object)["interrupt_id"], "resume_value": object{"type": "form", "value": value}})
}

// outcome is what the turn came to say.
func (p *publisher) outcome(who *person, asked object) string {
	p.program.t.Helper()
	text := ""
	p.until("the turn to end", func() bool {
		run := who.must("GET", "/v1/runs/"+asked["run_id"].(string), nil)["run"].(object)
		if s := run["status"]; s == "running" || s == "waiting" || s == "queued" {
			return false
		}
		m := who.messages(asked["conversation_id"].(string))
		text = m[len(m)-1]
		return true
	})
	return text
}

// A person connects their account, sees the draft, changes it, and it is published
// once, as they changed it; their tokens are nowhere but where they are kept.
//
// Requirements: CLAUDE-06 (the four linkedin tools), CLAUDE-12 (linkedin_post), SAFE-08, GRND-49, ISO-01
func TestADraftIsShownEditedAndPublishedOnce(t *testing.T) {
	t.Parallel()
	p := openPublisher(t)
	if said := p.outcomeOf(p.ada, "hello", object{"decision": "approve", "text": "hello"}); !strings.Contains(said, "not configured") {
		t.Errorf("before an administrator sets the client: %q", said)
	}
	p.admin.must("PUT", "/v1/connections/linkedin/client", object{"client_id": "app", "client_secret": clientSecret})
	if said := p.outcomeOf(p.ada, "hello", object{"decision": "approve", "text": "hello"}); !strings.Contains(said, "Settings → Connections") {
		t.Errorf("before the person connects: %q", said)
	}
	if end := p.connect(p.ada); end != "/settings#connected=linkedin" {
		t.Fatalf("the browser ends at %q", end)
	}
	asked := p.says(p.ada, "first draft", "")
	q := asked["interrupt"].(object)
	schema, _ := json.Marshal(q["answer_schema"])
	if q["interrupt_type"] != "action_choice" || !strings.Contains(fmt.Sprint(q["message"]), "in your name?") || !strings.Contains(string(schema), `"default":"first draft"`) {
		t.Errorf("the question is %v %s", q["message"], schema)
	}
	p.approves(p.ada, asked, object{"decision": "approve", "text": "as I *want* it", "remember": true})
	if said := p.outcome(p.ada, asked); !strings.Contains(said, "Posted to LinkedIn: urn:li:share:77") || !strings.Contains(said, "as I *want* it") {
		t.Errorf("it ends with %q", said)
	}
	if p.network.count(`as I \*want\* it`) != 1 || p.network.count("first draft") != 0 {
		t.Errorf("published: %v", p.posts)
	}
	again := p.says(p.ada, "second", asked["conversation_id"].(string))
	if said := fmt.Sprint(again["content"]); again["interrupt"] != nil || !strings.Contains(said, "Posted to LinkedIn") || p.network.count("second") != 1 {
		t.Errorf("what need not be asked again: %v", again)
	}
	if n := p.says(p.ada, "third", ""); n["interrupt"] == nil {
		t.Error("another conversation is not asked")
	}
	p.declines(t)
	p.refreshes401(t)
	p.comments(t)
	p.keyEnds(t)
	p.secondUser(t)
	p.disconnects(t)
	p.nowhere(t)
}

// outcomeOf is what a turn comes to whose question is answered so.
func (p *publisher) outcomeOf(who *person, message string, value object) string {
	p.program.t.Helper()
	asked := p.says(who, message, "")
	if asked["interrupt"] == nil {
		p.program.t.Fatalf("nobody is asked: %v", asked["content"])
	}
	p.approves(who, asked, value)
	return p.outcome(who, asked)
}

func (p *publisher) declines(t *testing.T) {
	if said := p.outcomeOf(p.ada, "no", object{"decision": "decline"}); !strings.Contains(said, "declined") || p.network.count("no") != 0 {
		t.Errorf("declined: %q", said)
	}
	asked := p.says(p.ada, "empty", "")
	if status, _, _, message := p.ada.do("POST", "/v1/chat/resume", object{"interrupt_id": asked["interrupt"].(object)["interrupt_id"],
		"resume_value": object{"type": "form", "value": object{"decision": "approve", "text": ""}}}); status != http.StatusBadRequest {
		t.Errorf("an empty post is approved: %d %s", status, message)
	}
}

// refreshes401: a token that is refused is refreshed once and silently; where that
// is refused too, the person connects again.
func (p *publisher) refreshes401(t *testing.T) {
	p.network.mu.Lock()
	p.current = "ended there"
	p.network.mu.Unlock()
	if said := p.outcomeOf(p.ada, "refreshed", object{"decision": "approve", "text": "refreshed"}); p.network.count("refreshed") != 1 || p.refreshes != 1 {
		t.Errorf("%q, %d refreshes", said, p.refreshes)
	}
	p.network.mu.Lock()
	p.current, p.refresh = "ended there", "ended too"
	p.network.mu.Unlock()
	for range 2 {
		if said := p.outcomeOf(p.ada, "refused", object{"decision": "approve", "text": "refused"}); p.network.count("refused") != 0 || p.refreshes != 2 || !strings.Contains(said, "Connect it again") {
			t.Errorf("%q, %d refreshes", said, p.refreshes)
		}
	}
	if account := p.mine(p.ada); account == nil || account["refused"] != true {
		t.Errorf("the list says %v", account)
	}
	p.connect(p.ada)
}

func (p *publisher) mine(who *person) object {
	list := who.must("GET", "/v1/connections", nil)["data"].([]any)
	account, _ := list[0].(object)["account"].(object)
	return account
}

func (p *publisher) comments(t *testing.T) {
	if said := fmt.Sprint(p.says(p.ada, "read them", "")["content"]); !strings.Contains(said, "has not granted this application r_member_social") {
		t.Errorf("reading comments: %q", said)
	}
	for message, on := range map[string]string{"comment on it": "urn:li:share:77", "reply to it": "urn:li:comment:(urn:li:activity:6,7)"} {
		said := p.outcomeOf(p.ada, message, object{"decision": "approve", "text": message + ", kindly"})
		if !strings.Contains(said, "on LinkedIn: urn:li:share:77") || p.network.count(on+" "+message+", kindly") != 1 {
			t.Errorf("%s: %q, %v", message, said, p.posts)
		}
	}
}

// keyEnds: a run that a program began does nothing more once its key has ended,
// whoever approves what it asks.
func (p *publisher) keyEnds(t *testing.T) {
	made := p.ada.must("POST", "/v1/keys", object{"name": "robot", "scopes": []string{"chat", "tools"}})
	robot := *p.ada
	robot.token = made["key"].(string)
	waiting := p.says(&robot, "by a robot", "")
	p.ada.must("DELETE", "/v1/keys/"+made["id"].(string), nil)
	p.approves(p.ada, waiting, object{"decision": "approve", "text": "by a robot"})
	p.until("the run to end", func() bool {
		return p.ada.must("GET", "/v1/runs/"+waiting["run_id"].(string), nil)["run"].(object)["status"] == "failed"
	})
	if n := p.network.count("by a robot"); n != 0 {
		t.Errorf("a key that was ended published %d times", n)
	}
}

// secondUser: another person's account is nobody else's.
func (p *publisher) secondUser(t *testing.T) {
	bob := p.signUp("bob@example.org")
	if account := p.mine(bob); account != nil {
		t.Errorf("bob has %v", account)
	}
	if status, _, _, _ := bob.do("DELETE", "/v1/connections/linkedin", nil); status != http.StatusNotFound {
		t.Errorf("bob ends ada's connection: %d", status)
	}
	if said := p.outcomeOf(bob, "as ada", object{"decision": "approve", "text": "as ada"}); !strings.Contains(said, "You have connected no account") || p.network.count("as ada") != 0 {
		t.Errorf("bob posts as ada: %q", said)
	}
	if p.mine(p.ada) == nil {
		t.Error("ada's is gone")
	}
}

// disconnects: what waits for an approval does nothing with an account that was
// disconnected meanwhile, nor with a tool that was taken back.
func (p *publisher) disconnects(t *testing.T) {
	taken := p.says(p.ada, "taken back", "")
	id := p.tool("linkedin_post")
	p.admin.must("PATCH", "/v1/artifacts/"+id, object{"patch": []object{{"op": "add", "path": "/status", "value": "draft"}}})
	p.approves(p.ada, taken, object{"decision": "approve", "text": "taken back"})
	if said := p.outcome(p.ada, taken); p.network.count("taken back") != 0 || !strings.Contains(said, "was taken back") {
		t.Errorf("with a tool that was taken back: %q", said)
	}
	p.admin.must("PATCH", "/v1/artifacts/"+id, object{"patch": []object{{"op": "remove", "path": "/status"}}})
	gone := p.says(p.ada, "to nowhere", "")
	at := p.connectionID()
	p.admin.must("PATCH", "/v1/artifacts/"+at, object{"patch": []object{{"op": "add", "path": "/status", "value": "draft"}}})
	p.approves(p.ada, gone, object{"decision": "approve", "text": "to nowhere"})
	if said := p.outcome(p.ada, gone); p.network.count("to nowhere") != 0 || !strings.Contains(said, "There is no connection") {
		t.Errorf("with a connection that was taken back: %q", said)
	}
	if status, _, _, _ := p.ada.do("POST", "/v1/connections/linkedin/begin", nil); status != http.StatusNotFound {
		t.Errorf("connecting to what is not there: %d", status)
	}
	p.admin.must("PATCH", "/v1/artifacts/"+at, object{"patch": []object{{"op": "remove", "path": "/status"}}})
	waiting := p.says(p.ada, "too late", "")
	if told := p.ada.must("DELETE", "/v1/connections/linkedin", nil); told["told"] != true || p.revoked != 2 {
		t.Errorf("the network is told %v, %d times", told, p.revoked)
	}
	p.approves(p.ada, waiting, object{"decision": "approve", "text": "too late"})
	if said := p.outcome(p.ada, waiting); p.network.count("too late") != 0 || !strings.Contains(said, "You have connected no account") {
		t.Errorf("after it was disconnected: %q", said)
	}
}

func (p *publisher) connectionID() string {
	p.program.t.Helper()
	for _, a := range p.admin.must("GET", "/v1/artifacts?limit=100&type=connection", nil)["data"].([]any) {
		if a.(object)["name"] == "linkedin" {
			return a.(object)["id"].(string)
		}
	}
	p.program.t.Fatal("there is no connection")
	return ""
}

func (p *publisher) tool(name string) string {
	cursor := ""
	for {
		page := p.admin.must("GET", "/v1/artifacts?limit=100&type=tool&cursor="+url.QueryEscape(cursor), nil)
		for _, a := range page["data"].([]any) {
			if a.(object)["name"] == name {
				return a.(object)["id"].(string)
			}
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			p.program.t.Fatalf("there is no tool %s", name)
		}
	}
}

// nowhere: no secret stands in the program's files, histories or log.
func (p *publisher) nowhere(t *testing.T) {
	secrets := append([]string{clientSecret}, p.issued...)
	if len(secrets) < 8 {
		t.Fatalf("only %d secrets were given out", len(secrets))
	}
	found := func(where string, raw []byte) {
		for _, s := range secrets {
			if bytes.Contains(raw, []byte(s)) || bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString([]byte(s)))) {
				t.Errorf("%s holds %s", where, s)
			}
		}
	}
	found("the log", []byte(p.log.tail(64<<20)))
	p.kill()
	n := 0
	err := filepath.WalkDir(filepath.Join(p.dir, "data"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() { // a socket of the capture proxy, say
			return err
		}
		raw, err := os.ReadFile(file)
		found(file, raw)
		n++
		return err
	})
	if err != nil || n < 3 {
		t.Errorf("%d files, %v", n, err)
	}
}

// Whenever the program is killed around a call, what was approved is published
// once, or it is said that nobody knows; nothing is published twice.
//
// Requirements: TOOL-16, CLAUDE-12 (linkedin_post)
func TestNothingIsPublishedTwiceWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	p := openPublisher(t)
	p.admin.must("PUT", "/v1/connections/linkedin/client", object{"client_id": "app", "client_secret": clientSecret})
	p.connect(p.ada)
	takes := func(ms int) {
		p.admin.must("PATCH", "/v1/artifacts/"+p.tool("linkedin_post"), object{"patch": []object{{"op": "replace", "path": "/timeout_ms", "value": ms}}})
	}
	takes(3000) // which a call that was cut is waited for
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	arrived := make(chan struct{}, 8)
	for _, m := range []struct {
		name  string
		meet  func(text string, effect func(), w http.ResponseWriter)
		wait  bool          // for the request to arrive
		after time.Duration // and then so long
		posts int           // -1: who knows
		kill  bool
	}{
		{name: "right after the approval", posts: -1, kill: true},
		{name: "a little after", after: 3 * time.Millisecond, posts: -1, kill: true},
		{name: "some more after", after: 12 * time.Millisecond, posts: -1, kill: true},
		{name: "before the effect", wait: true, posts: 0, kill: true, meet: func(string, func(), http.ResponseWriter) { arrived <- struct{}{}; <-hold }},
		{name: "after the effect", wait: true, posts: 1, kill: true, meet: func(_ string, effect func(), _ http.ResponseWriter) { effect(); arrived <- struct{}{}; <-hold }},
		{name: "after the answer", wait: true, posts: 1, kill: true, meet: func(_ string, effect func(), w http.ResponseWriter) { effect(); published(w); arrived <- struct{}{} }},
		{name: "a little after the answer", wait: true, after: 5 * time.Millisecond, posts: 1, kill: true, meet: func(_ string, effect func(), w http.ResponseWriter) { effect(); published(w); arrived <- struct{}{} }},
		{name: "500 after the effect", posts: 1, meet: func(_ string, effect func(), w http.ResponseWriter) {
			effect()
			w.WriteHeader(http.StatusInternalServerError)
		}},
		{name: "a hang", posts: 0, meet: func(string, func(), http.ResponseWriter) { <-hold }},
		{name: "too many requests", posts: 0, meet: func(_ string, _ func(), w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }},
	} {
		p.meets(m.meet)
		if m.name == "too many requests" { // the others may end as a hang does
			takes(30_000)
		}
		asked := p.says(p.ada, m.name, "")
		p.approves(p.ada, asked, object{"decision": "approve", "text": m.name})
		if m.wait {
			<-arrived
		}
		if m.kill {
			time.Sleep(m.after) // when the power goes is nobody's event
			p.kill()
			if m.wait {
				p.meets(nil) // whoever asks again would publish
			}
			p.again()
			p.ada.signIn()
		}
		said := p.outcome(p.ada, asked)
		published, unknown := p.network.count(m.name), strings.Contains(said, "not known whether")
		posted := strings.Contains(said, "Posted to LinkedIn: urn:li:share:77")
		t.Logf("%s: published %d times, says %q", m.name, published, said)
		switch {
		case published > 1, m.posts >= 0 && published != m.posts, posted && published != 1, m.posts < 0 && published == 0 && !unknown:
			t.Errorf("%s: published %d times, says %q", m.name, published, said)
		case !posted && !unknown && m.name != "too many requests", m.name == "too many requests" && (unknown || !strings.Contains(said, "429")):
			t.Errorf("%s: it does not say what is so: %q", m.name, said)
		}
		p.meets(nil)
	}
}
