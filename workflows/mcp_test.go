package workflows_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/activities/activitiestest"
	"liminal/internal/graph"
	"liminal/internal/mcp"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/webaccess"
)

// booking is a server that asks for a seat, and the tool of it that was approved. Each
// call is made by a client of its own: between two of them the worker may have died.
func booking(t *testing.T, idempotent bool) (spec tool.Spec, call activitiestest.Func, booked *atomic.Value) {
	t.Helper()
	booked = &atomic.Value{}
	server := sdk.NewServer(&sdk.Implementation{Name: "booking", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "book", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, ok := r.Params.InputResponses["seat"].(*sdk.ElicitResult)
		if !ok {
			return &sdk.CallToolResult{RequestState: "held", InputRequests: sdk.InputRequestMap{"seat": &sdk.ElicitParams{
				Mode: "form", Message: "Which seat?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"seat": map[string]any{"type": "string"}}},
			}}}, nil
		}
		seat, _ := answer.Content["seat"].(string)
		booked.Store(r.Params.RequestState + " " + seat)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Seat " + seat + " is yours."}}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	open, err := webaccess.New(webaccess.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	doc := `{"kind":"mcp.server","title":"Booking","http":{"url":"` + web.URL + `/mcp"}}`
	at, err := tool.DecodeMCPServer([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := mcp.New(mcp.Options{Public: open.Servers()}).Tools(t.Context(), mcp.Server{Name: "booking", MCPServer: at})
	if err != nil {
		t.Fatal(err)
	}
	spec = tool.Spec{
		Kind: "tool.spec", Name: "mcp.booking.book", Description: "Books a seat.", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(mcp.TextOutput),
		Idempotent: &idempotent, Via: &tool.Via{MCP: &tool.MCP{Server: "booking", Tool: "book", SHA256: tools[0].SHA256()}},
	}
	return spec, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		parts := builtin.Parts{MCP: mcp.New(mcp.Options{Public: open.Servers()}), MCPImport: &mcp.Importer{}}
		box, err := tool.NewBox(builtin.Tools(parts), tool.Options{})
		if err != nil {
			return nil, err
		}
		with := spec
		with.Over = &tool.Over{Server: json.RawMessage(doc)}
		return box.Call(ctx, with, c)
	}, booked
}

// What a server asks in a call is a question of the run like any other: it waits for
// days, and the answer reaches the server by another process.
//
// Requirements: GRAPH-27
func TestAServersQuestionWaitsInTheRun(t *testing.T) {
	t.Parallel()
	for said, doc := range map[string]string{
		"Seat 12A is yours.": `{"kind":"workflow.chat","entrypoint":"book","nodes":[{"id":"book","type":"tool_call","tool":"mcp.booking.book","outputs":["text"],"next":"end"},{"id":"end","type":"end","response":"${vars.text}"}]}`,
		"Booked.":            `{"kind":"workflow.chat","entrypoint":"agent","nodes":[{"id":"agent","type":"agent","tools":["mcp.booking.book"],"system":"s"}]}`,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			spec, call, booked := booking(t, false)
			w := activitiestest.New(doc).Tool(spec.Name, spec, call)
			w.Tool(graph.StepTool, models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
				if list, _ := c.Inputs["transcript"].([]any); len(list) > 0 {
					return map[string]any{"text": "Booked.", "tool_calls": []any{}, "stop": "end_turn", "model": "m1"}, nil
				}
				return map[string]any{"text": "", "content": []any{}, "tool_calls": []any{map[string]any{"id": "1", "name": spec.Name, "arguments": map[string]any{}}}}, nil
			})
			b := setup(t, w)
			b.env.RegisterDelayedCallback(func() {
				q, ok := w.Question(0)
				if !ok || q.Status != run.Pending || q.Message != "Booking asks: Which seat?" || len(q.AnswerSchema) == 0 {
					t.Errorf("the question is %+v", q)
				}
				b.answer(0, map[string]any{"seat": "12A"})
			}, 72*time.Hour)
			b.chat("book me a seat")
			if b.answered(said); booked.Load() != "held 12A" {
				t.Errorf("the server heard %v", booked.Load())
			}
		})
	}
}
