package proxy

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

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
