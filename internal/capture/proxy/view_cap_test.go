package proxy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

// A long result loses its middle before it is ever sent, which costs neither cache nor
// thinking; it is asked back by its tool_use id, and an epoch may set the rest aside.
//
// palace.md, 7: birth (the cap, opt-in)
func TestALongResultIsCappedWhenItIsSentFirst(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(2)
	k := talking(t, up)
	k.says = func(n int, _ capturetest.Use) string {
		return fmt.Sprintf("result %d begins ", n) + strings.Repeat("a line of it\n", 400) + fmt.Sprintf("and %d ends", n)
	}
	k.turn("Read the files.") // before there is a plan
	birth := func(p *view.Plan) { p.Birth.CapBytes, p.Whole = 2000, []string{"Task"} }
	k.plan(birth)
	k.turn("Read more.")
	left := []byte(" are left out here. mcp__palace__recall")
	body := k.last().Body
	if list := k.epochs(); len(list) != 1 || list[0].Why != view.Named || list[0].Cap == nil || list[0].Cap.Bytes != 2000 || !list[0].SaidAgain {
		t.Fatalf("%+v", list)
	}
	if n := bytes.Count(body, left); n != 2 || bytes.Contains(body, []byte("drop_block")) || !bytes.Contains(body, []byte("result 3 begins")) || !bytes.Contains(body, []byte("and 3 ends")) {
		t.Errorf("%d are capped: %s", n, body)
	}
	k.again()
	k.turn("And after a restart.")
	if n := bytes.Count(k.last().Body, left); n != 4 {
		t.Errorf("%d are capped after a restart", n)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: k.base + recallPath, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall", Arguments: map[string]any{"block": k.uses[2].ID}})
	if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != k.says(3, k.uses[2]) {
		t.Errorf("%v %+v", err, r)
	}
	k.plan(func(p *view.Plan) { birth(p); p.Asked = true }, k.uses[0], k.uses[2])
	k.turn("A person says so.")
	if n, gone := bytes.Count(k.last().Body, left), bytes.Count(k.last().Body, []byte("[palace: block ")); n != 5 || gone != 2 {
		t.Errorf("%d are capped and %d set aside", n, gone)
	}
	if _, refused, _ := judged(up); refused != 0 {
		t.Errorf("%v", up.Judged())
	}
}
