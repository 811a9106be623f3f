//go:build linux

package mcp_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/mcp"
)

// whoami is what a program says of itself.
type whoami struct {
	Env    []string `json:"env"`
	Files  uint64   `json:"files"`
	Memory uint64   `json:"memory"`
	Group  bool     `json:"group"`
	Pid    int      `json:"pid"`
	Dir    string   `json:"dir"`
}

func whoAmI() whoami {
	var w whoami
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		w.Env = append(w.Env, name)
	}
	slices.Sort(w.Env)
	var l syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	w.Files = l.Max
	_ = syscall.Getrlimit(syscall.RLIMIT_DATA, &l)
	w.Memory = l.Max
	w.Pid, w.Group = os.Getpid(), syscall.Getpgrp() == os.Getpid()
	w.Dir, _ = os.Getwd()
	return w
}

func init() {
	offers = func(server *sdk.Server) {
		sdk.AddTool(server, &sdk.Tool{Name: "whoami"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, whoami, error) {
			return nil, whoAmI(), nil
		})
	}
}

// A program is the operator's, has an environment that holds nothing of this one,
// bounds, a folder of its own, and is gone after the call.
func TestAProgramRunsApartAndIsEndedAfterTheCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := client(t, func(o *mcp.Options) {
		o.Operator = map[string]mcp.Entry{"me": {Command: self(t), Args: []string{serves}, Env: map[string]string{"OWN": "1"}}}
		o.Program, o.Dir = mcp.Program{Path: self(t), Args: []string{becomes}}, dir
	})
	s := at(t, `{"kind":"mcp.server","title":"Me","stdio":{"name":"me"}}`)
	call := approved(t, c, s, "whoami")
	call.Structured = true
	out, err := c.Call(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out["env"]); got != "[HOME LANG OWN PATH TMPDIR]" {
		t.Errorf("its environment has %s", got)
	}
	if out["files"].(float64) > 512 || out["memory"].(float64) > 2<<30 || out["group"] != true || !strings.HasPrefix(out["dir"].(string), dir) {
		t.Errorf("%v", out)
	}
	if err := syscall.Kill(int(out["pid"].(float64)), 0); err == nil {
		t.Errorf("process %v is there still", out["pid"])
	}
	if _, err := c.Tools(t.Context(), at(t, `{"kind":"mcp.server","title":"X","stdio":{"name":"rm"}}`)); fault.Reason(err) != fault.NotConfigured {
		t.Errorf("a program that nobody listed: %v", err)
	}
}
