package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/knowledge"
)

// eras are a revision of the protocol without sessions, and one with.
var eras = map[string]string{"without sessions": statelessSince, "with a session": "2025-11-25"}

// bearing sends a credential with every request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// dials connects a client of the SDK; whoever is asked says what says tells.
func (p *person) dials(t *testing.T, version string, says func(*mcp.ElicitParams) *mcp.ElicitResult, change ...func(*mcp.ClientOptions)) (*mcp.ClientSession, error) {
	t.Helper()
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if says != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return says(r.Params), nil }
	}
	for _, c := range change {
		c(o)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	return client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: p.url + mcpPath, HTTPClient: &http.Client{Transport: bearing(p.token)}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
}

func (p *person) connects(t *testing.T, version string, says func(*mcp.ElicitParams) *mcp.ElicitResult, change ...func(*mcp.ClientOptions)) *caller {
	t.Helper()
	cs, err := p.dials(t, version, says, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return &caller{t, cs}
}

// caller is a client that calls tools.
type caller struct {
	*testing.T
	*mcp.ClientSession
}

// called is a result as a test reads it.
type called struct {
	MCPAnswer
	text  string
	wrong bool
	links []string
	raw   string
}

func (c *caller) calls(name string, args map[string]any) (out called) {
	c.Helper()
	res, err := c.CallTool(c.T.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.Fatalf("%s: %v", name, err)
	}
	for i, one := range res.Content {
		switch one := one.(type) {
		case *mcp.TextContent:
			if i == 0 {
				out.text = one.Text
			}
		case *mcp.ResourceLink:
			out.links = append(out.links, one.URI)
		}
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		c.Fatal(err)
	}
	_ = json.Unmarshal(raw, &out.MCPAnswer) // of what is an answer
	out.wrong, out.raw = res.IsError, string(raw)
	return out
}

// titledWorkflow makes a workflow of a person's with a title and starters.
func (p *person) assistant(name string) {
	p.Helper()
	_, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		OwnerID: p.id, Type: artifacts.KindWorkflow, Name: name, Description: "Knows matters.", Visibility: artifacts.Private, CreatedBy: "user",
		Schema: json.RawMessage(`{"kind":"workflow.chat","surface":{"title":{"en":"Paliadin","de":"Paladin"},"starters":[{"en":"What is on my plate?","de":"Was steht heute an?"}]},
			"entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`),
	}, "")
	p.must(err)
}

func namesOf[T any](list []T, name func(T) string) (out []string) {
	for _, one := range list {
		out = append(out, name(one))
	}
	slices.Sort(out)
	return out
}

func (c *caller) tools() []string {
	c.Helper()
	got, err := c.ListTools(c.T.Context(), nil)
	if err != nil {
		c.Fatal(err)
	}
	return namesOf(got.Tools, func(t *mcp.Tool) string { return t.Name })
}

func TestAnMCPClientIsOfferedWhatItsKeyIsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	ada.assistant("paliadin.v1")
	ada.exposes("mine.add_v1", true)
	ada.exposes("mine.hidden_v1", false)
	for era, version := range eras {
		for name, c := range map[string]struct {
			as   *person
			want []string
		}{
			"a session":       {ada, []string{"answer", "ask_paliadin_v1", "mine_add_v1", "propose_change", "read_document", "run", "runs", "search_documents"}},
			"to talk":         {ada.by("a", "mcp", "chat"), []string{"answer", "ask_paliadin_v1", "run"}},
			"to read":         {ada.by("b", "mcp", "read"), []string{"read_document", "run", "runs", "search_documents"}},
			"for some tools":  {ada.by("c", "mcp", "tools:mine.*"), []string{"answer", "mine_add_v1", "run"}},
			"for other tools": {ada.by("d", "mcp", "tools:files.*", "propose"), []string{"answer", "propose_change", "run"}},
			"for nothing":     {ada.by("e", "mcp"), nil},
			"another person":  {bob, []string{"answer", "propose_change", "read_document", "run", "runs", "search_documents"}},
		} {
			if got := c.as.connects(t, version, nil).tools(); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %v, want %v", era, name, got, c.want)
			}
		}
	}
	only := ada.connects(t, statelessSince, nil)
	if _, err := bob.connects(t, statelessSince, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_paliadin_v1", Arguments: map[string]any{"message": "hi"}}); err == nil {
		t.Error("another person's assistant answers")
	}
	for name, args := range map[string]map[string]any{"ask_paliadin_v1": {}, "read_document": {"document_id": "x"}, "run": {"run_id": 7}, "answer": {"interrupt_id": id.New(), "answer": "\x00"}} {
		if got, err := only.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args}); err == nil && !got.IsError {
			t.Errorf("%s takes %v", name, args)
		}
	}
}

// exposes makes a tool of a person's, carried out by a workflow.
func (p *person) exposes(name string, exposed bool) {
	p.Helper()
	doc := map[string]any{
		"kind": "tool.spec", "name": name, "description": "Adds.", "workflow": "default",
		"input_schema": map[string]any{"type": "object"}, "output_schema": map[string]any{"type": "object"},
	}
	if exposed {
		doc["expose"] = []string{"mcp"}
	}
	raw, err := json.Marshal(doc)
	p.must(err)
	_, err = p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		OwnerID: p.id, Type: artifacts.KindTool, Name: name, Visibility: artifacts.Private, CreatedBy: "user", Schema: raw,
	}, "")
	p.must(err)
}

func TestAnMCPClientTalksInOneConversation(t *testing.T) {
	t.Parallel()
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
			ada.assistant("paliadin")
			bob.assistant("paliadin")
			steps := make(chan string, 10)
			c := ada.connects(t, version, nil, func(o *mcp.ClientOptions) {
				o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					steps <- r.Params.Message
				}
			})
			first := c.calls("ask_paliadin", map[string]any{"message": "hello there"})
			if first.Answer != "hello there" || first.text != first.Answer || first.Status != "done" || first.wrong || len(first.links) != 1 || !strings.HasPrefix(first.links[0], documentScheme) {
				t.Errorf("%+v", first)
			}
			next := c.calls("ask_paliadin", map[string]any{"message": "and?", "conversation_id": first.ConversationID})
			if next.ConversationID != first.ConversationID || next.RunID == first.RunID {
				t.Errorf("%+v after %+v", next, first)
			}
			res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"progressToken": "p"}, Name: "ask_paliadin", Arguments: map[string]any{"message": "go on"}})
			if err != nil || res.IsError {
				t.Errorf("%+v, %v", res, err)
			}
			select {
			case step := <-steps:
				if step != "Answering" {
					t.Errorf("told %q", step)
				}
			case <-t.Context().Done():
				t.Error("no progress was told")
			case <-time.After(time.Minute):
				t.Error("no progress was told in a minute")
			}
			if got := c.calls("ask_paliadin", map[string]any{"message": "fail now"}); !got.wrong || got.text != "The model is away." {
				t.Errorf("%+v", got)
			}
			if got := bob.connects(t, version, nil).calls("ask_paliadin", map[string]any{"message": "hi", "conversation_id": first.ConversationID}); !got.wrong || strings.Contains(got.text, "hello") {
				t.Errorf("another person's conversation is gone on with: %+v", got)
			}
			if got := c.calls("runs", nil); !strings.Contains(got.raw, first.RunID) {
				t.Errorf("runs: %s", got.raw)
			}
		})
	}
}

// ended waits until a run is over.
func (p *player) ended(t *testing.T, runID string) {
	t.Helper()
	for e, err := range p.log.Follow(t.Context(), runID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind.Ends() {
			return
		}
	}
}

func TestDocumentsAreResourcesOfTheirPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	of := ada.belongings()
	w.must(w.store.SetDocument(t.Context(), ada.viewer(), knowledge.Document{ID: of.document, Status: knowledge.Ready}))
	for era, version := range eras {
		mine, theirs := ada.connects(t, version, nil), bob.connects(t, version, nil)
		uri := documentScheme + of.document
		list, err := mine.ListResources(t.Context(), nil)
		if err != nil || !slices.Equal(namesOf(list.Resources, func(r *mcp.Resource) string { return r.URI }), []string{uri}) {
			t.Errorf("%s: %+v, %v", era, list, err)
		}
		read, err := mine.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || read.Contents[0].Text != mark {
			t.Errorf("%s: %+v, %v", era, read, err)
		}
		if got := mine.calls("read_document", map[string]any{"document_id": of.document}); !strings.Contains(got.text, mark) {
			t.Errorf("%s: %+v", era, got)
		}
		if list, err := theirs.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
			t.Errorf("%s: another's list is %+v, %v", era, list, err)
		}
		// What is another's is told as what is nobody's.
		for _, name := range []string{of.document, id.New(), "../" + of.document, "x"} {
			var refused *jsonrpc.Error
			if _, err := theirs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: documentScheme + name}); !errors.As(err, &refused) || refused.Code != mcp.CodeResourceNotFound {
				t.Errorf("%s, %s: %v", era, name, err)
			}
		}
		for name, args := range map[string][2]map[string]any{
			"read_document": {{"document_id": of.document}, {"document_id": id.New()}},
			"run":           {{"run_id": of.run}, {"run_id": id.New()}},
			"answer":        {{"interrupt_id": of.interrupt, "answer": "one"}, {"interrupt_id": id.New(), "answer": "one"}},
		} {
			on, twin := theirs.calls(name, args[0]), theirs.calls(name, args[1])
			if !on.wrong || on.text != twin.text || strings.Contains(on.raw+on.text, mark) {
				t.Errorf("%s, %s: %+v, of nobody's %+v", era, name, on, twin)
			}
		}
		if got := theirs.calls("propose_change", map[string]any{"artifact_id": of.artifact, "justification": "x", "patch": []any{map[string]any{"op": "remove", "path": "/a"}}}); !got.wrong {
			t.Errorf("%s: another's workflow is changed: %+v", era, got)
		}
		prompts, err := theirs.ListPrompts(t.Context(), nil)
		if err != nil || len(prompts.Prompts) != 0 {
			t.Errorf("%s: %+v, %v", era, prompts, err)
		}
	}
	ada.stillHas(of)
}

func TestAChangeIsProposedAndNotMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada := w.signUp("ada@example.org")
	ada.assistant("paliadin")
	before := items(ada.get("/v1/artifacts?visibility=private").ok())[0]
	c := ada.by("k", "mcp", "propose", "chat").connects(t, statelessSince, nil)
	got := c.calls("propose_change", map[string]any{
		"artifact_id": "paliadin", "artifact_type": "workflow", "justification": "clearer", "patch": []any{map[string]any{"op": "add", "path": "/title", "value": "P"}},
	})
	if got.wrong || !strings.Contains(got.raw, `"status":"pending"`) {
		t.Fatalf("%+v", got)
	}
	if now := items(ada.get("/v1/artifacts?visibility=private").ok())[0]; now["version"] != before["version"] {
		t.Errorf("it is version %v now", now["version"])
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Title != "What is on my plate?" {
		t.Fatalf("%+v, %v", prompts, err)
	}
	said, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompts.Prompts[0].Name})
	if err != nil || !strings.Contains(said.Messages[0].Content.(*mcp.TextContent).Text, "ask_paliadin: What is on my plate?") {
		t.Errorf("%+v, %v", said, err)
	}
}

// An exposed tool runs as any other, within its key.
func TestAnExposedToolRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.exposes("test.echo_v1", true)
	for _, version := range eras {
		if got := ada.by(version, "mcp", "tools:test.*").connects(t, version, nil).calls("test_echo_v1", map[string]any{"a": 1}); asJSON(got.Output) != `{"echo":{"a":1}}` {
			t.Errorf("%+v", got)
		}
	}
}

// Only a bearer opens it, and only of a key for this protocol; a page of another
// origin does not, whatever it sends.
func TestMCPIsOpenedByABearerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada := w.signUp("ada@example.org")
	key := ada.by("k", "mcp", "chat")
	hello := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}}
	accept := []string{"Accept", "application/json, text/event-stream"}
	nobody := &person{world: w}
	for name, c := range map[string]struct {
		p       *person
		headers []string
		want    int
	}{
		"nobody":             {nobody, nil, 401},
		"a cookie":           {nobody, []string{"Cookie", "liminal_refresh=" + ada.refresh}, 401},
		"another header":     {nobody, []string{"X-Api-Key", key.token}, 401},
		"a key that is none": {&person{world: w, token: "lim_x"}, nil, 401},
		"a key for others":   {ada.by("o", "chat", "read"), nil, 403},
		"another origin":     {key, []string{"Origin", "https://evil.example"}, 403},
		"its key":            {key, nil, 200},
	} {
		got := c.p.post(mcpPath, hello, append(slices.Clone(accept), c.headers...)...)
		var failed MCPFailure
		if got.status != c.want || c.want != 200 && (json.Unmarshal(got.body, &failed) != nil || failed.Error.Message == "" || failed.Version != "2.0") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if told := got.header.Get("WWW-Authenticate"); (told != "") != (c.want == 401) {
			t.Errorf("%s: WWW-Authenticate %q", name, told)
		}
	}
	if got := key.get(mcpPath, "Origin", "https://evil.example", "Accept", "text/event-stream"); got.status != 403 {
		t.Errorf("read by another origin: %d", got.status)
	}
	// A session is of its key: another key, of the same person too, is not let in.
	first := key.post(mcpPath, hello, accept...)
	session := first.header.Get("Mcp-Session-Id")
	list := map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
	if got := ada.by("other", "mcp").post(mcpPath, list, append(slices.Clone(accept), "Mcp-Session-Id", session)...); got.status != 403 {
		t.Errorf("by another key: %d %s", got.status, got.body)
	}
	// A key that was ended opens nothing from then on, in a session too.
	keys := items(ada.get("/v1/keys").ok())
	for _, k := range keys {
		ada.do("DELETE", "/v1/keys/"+k["id"].(string), nil).ok()
	}
	if got := key.post(mcpPath, list, append(slices.Clone(accept), "Mcp-Session-Id", session)...); got.status != 401 {
		t.Errorf("after its end: %d %s", got.status, got.body)
	}
	_, err := (&person{world: w, token: key.token}).dials(t, statelessSince, nil)
	if err == nil {
		t.Error("a client connects with a key that has ended")
	}
}

// Sessions that clients leave behind end with those that are begun after them.
func TestAPersonHasSoManySessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	first := ada.connects(t, "2025-11-25", nil)
	for range mcpSessions {
		ada.connects(t, "2025-11-25", nil)
	}
	for first.Ping(t.Context(), nil) == nil { // until it has ended, which happens beside what ends it
		if t.Context().Err() != nil {
			t.Fatal("the first session stands")
		}
	}
}

// stateless is a message of the revision without sessions.
func (p *person) stateless(method, name string, params map[string]any) *http.Request {
	p.Helper()
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": statelessSince, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	headers := []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", statelessSince, "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return p.request("POST", mcpPath, body, headers...)
}

// The revision without sessions wants each result to say whether it is one, which
// the SDK's client does not look at and others do.
func TestEveryStatelessResultSaysThatItIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.assistant("paliadin")
	of := ada.belongings()
	for _, m := range []struct {
		method, name string
		params       map[string]any
	}{
		{"server/discover", "", map[string]any{}}, {"tools/list", "", map[string]any{}}, {"prompts/list", "", map[string]any{}},
		{"resources/list", "", map[string]any{}}, {"resources/templates/list", "", map[string]any{}},
		{"resources/read", documentURI(of.document), map[string]any{"uri": documentURI(of.document)}},
		{"prompts/get", "paliadin_1", map[string]any{"name": "paliadin_1"}},
		{"tools/call", "ask_paliadin", map[string]any{"name": "ask_paliadin", "arguments": map[string]any{"message": "hi"}}},
		{"tools/call", "run", map[string]any{"name": "run", "arguments": map[string]any{"run_id": "x"}}},
	} {
		got := ada.send(ada.stateless(m.method, m.name, m.params))
		if got.status != 200 || !strings.Contains(string(got.body), `"resultType":"complete"`) {
			t.Errorf("%s: %d %s", m.method, got.status, got.body)
		}
	}
}
