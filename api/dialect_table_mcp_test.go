package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// byHand has a client leave questions to whoever calls.
func byHand(o *mcp.ClientOptions) { o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true} }

// told calls a tool with a progress token, and gives what was told of its progress
// until the result came, which the progress may follow.
func (p *person) told(t *testing.T, message string, want int) (got called, steps []string) {
	t.Helper()
	heard := make(chan string, 100)
	c := p.connects(t, statelessSince, nil, func(o *mcp.ClientOptions) {
		o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { heard <- r.Params.Message }
	})
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"progressToken": "p"}, Name: "ask_titled", Arguments: map[string]any{"message": message}})
	p.must(err)
	for len(steps) < want {
		select {
		case one := <-heard:
			steps = append(steps, one)
		case <-time.After(time.Minute):
			t.Fatalf("only %v was told", steps)
		}
	}
	return called{raw: asJSON(res.StructuredContent)}, steps
}

// asked is a call that waits for an answer, with what a client keeps of it.
func (c *caller) asked() *mcp.CallToolResult {
	c.Helper()
	res, err := c.CallTool(c.T.Context(), &mcp.CallToolParams{Name: "ask_titled", Arguments: map[string]any{"message": "ask which"}})
	if err != nil || !res.NeedsInput() || len(res.InputRequests) != 1 {
		c.Fatalf("%+v, %v", res, err)
	}
	return res
}

// answers gives one answer to all that a call waits for.
func (c *caller) answers(asked *mcp.CallToolResult, answer *mcp.ElicitResult) (out MCPAnswer) {
	c.Helper()
	given := mcp.InputResponseMap{}
	for id := range asked.InputRequests {
		given[id] = answer
	}
	res, err := c.CallTool(c.T.Context(), &mcp.CallToolParams{
		Name: "ask_titled", Arguments: map[string]any{"message": "ask which"}, RequestState: asked.RequestState, InputResponses: given,
	})
	if err != nil || res.IsError {
		c.Fatalf("%+v, %v", res, err)
	}
	unjson(c.T, []byte(asJSON(res.StructuredContent)), &out)
	return out
}

var mcpCells = column{
	"workflow": func(t *testing.T, p *person) {
		has(t, strings.Join(p.connects(t, statelessSince, nil).tools(), " "), "ask_titled")
	},
	"conversation": func(t *testing.T, p *person) {
		c := p.connects(t, statelessSince, nil)
		first := c.calls("ask_titled", map[string]any{"message": "Hi"})
		if next := c.calls("ask_titled", map[string]any{"message": "And?", "conversation_id": first.ConversationID}); next.ConversationID != first.ConversationID || next.Answer != "And?" {
			t.Errorf("%+v after %+v", next, first)
		}
	},
	// What the client keeps between two calls names the run, to us alone.
	"run": func(t *testing.T, p *person) {
		c := p.connects(t, statelessSince, answering("accept", nil, nil), byHand)
		asked := c.asked()
		latest := items(p.get("/v1/runs?limit=1").ok())[0]["id"].(string)
		if hasNot(t, asked.RequestState, latest); c.answers(asked, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "two"}}).RunID != latest {
			t.Error("another run goes on")
		}
	},
	"token": func(t *testing.T, p *person) {
		got, steps := p.told(t, "hello there", 1)
		has(t, got.raw, "hello there")
		hasNot(t, strings.Join(steps, " "), "hello")
	},
	"status": func(t *testing.T, p *person) {
		if _, steps := p.told(t, "Hi", 1); steps[0] != "Answering" {
			t.Errorf("%v", steps)
		}
	},
	"tool": func(t *testing.T, p *person) {
		if _, steps := p.told(t, "look", 2); steps[1] != "find" {
			t.Errorf("%v", steps)
		}
	},
	"citation": func(t *testing.T, p *person) {
		if got := p.connects(t, statelessSince, nil).calls("ask_titled", map[string]any{"message": "Hi"}); len(got.links) != 1 {
			t.Errorf("%+v", got)
		}
	},
	"question": func(t *testing.T, p *person) {
		asked := p.connects(t, statelessSince, answering("accept", nil, nil), byHand).asked()
		has(t, asJSON(asked.InputRequests), `"message":"which"`, `"const":"two"`)
	},
	"answer": func(t *testing.T, p *person) {
		c := p.connects(t, statelessSince, answering("accept", nil, nil), byHand)
		if got := c.answers(c.asked(), &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "two"}}); got.Answer != `You chose "two"` {
			t.Errorf("%+v", got)
		}
	},
	"skip": func(t *testing.T, p *person) {
		c := p.connects(t, statelessSince, answering("accept", nil, nil), byHand)
		if got := c.answers(c.asked(), &mcp.ElicitResult{Action: "decline"}); p.questionOf(got.RunID).Status != "cancelled" {
			t.Errorf("%+v", got)
		}
	},
	"error": func(t *testing.T, p *person) {
		if got := p.connects(t, statelessSince, nil).calls("ask_titled", map[string]any{"message": "fail"}); !got.wrong || got.text != "The model is away." {
			t.Errorf("%+v", got)
		}
	},
	"stop": func(t *testing.T, p *person) {
		began := make(chan string, 10)
		c := p.connects(t, statelessSince, nil, func(o *mcp.ClientOptions) {
			o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { began <- r.Params.Message }
		})
		ctx, takeBack := context.WithCancel(t.Context())
		go func() {
			<-began
			takeBack()
		}()
		if _, err := c.CallTool(ctx, &mcp.CallToolParams{Meta: mcp.Meta{"progressToken": "p"}, Name: "ask_titled", Arguments: map[string]any{"message": "slow"}}); err == nil {
			t.Fatal("a call that was taken back has a result")
		}
		p.stopped(items(p.get("/v1/runs?limit=1").ok())[0]["id"].(string))
	},
	// It is told an answer once it is whole.
	"reset": func(t *testing.T, p *person) {
		if got := p.connects(t, statelessSince, nil).calls("ask_titled", map[string]any{"message": "differ"}); got.Answer != "other words" {
			t.Errorf("%+v", got)
		}
	},
}
