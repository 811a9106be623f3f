// Package mcp is this program as a client of servers that speak the Model Context
// Protocol: their tools are listed, proposed as tool.specs, and called.
//
// A server is a stranger. What it says of its tools is read by an administrator
// before any model does; a call is made only while the server tells the tool that
// was approved (TOOL-06, SAFE-06). Over HTTP the address that is dialled is the one
// that is judged; a program is started by the operator's list only, apart, with a
// clean environment and bounds (TOOL-04). Sampling and roots are refused. What a
// server asks in a call becomes a question of the run, which may be answered days
// later (GRAPH-27).
//
// It may import what lies below changes, and the protocol's own library.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

const (
	// MaxResult bounds what a call may give, in bytes.
	MaxResult = 256 << 10
	// maxMessage bounds one message of a server, such as a page of its tools.
	maxMessage = 1 << 20
	// maxTools bounds the tools of a server, and maxPages the pages they come in.
	maxTools, maxPages = 500, 50
	// usualAge is how long what a server listed is taken for what it has, where it
	// says nothing; longestAge holds whatever it says.
	usualAge, longestAge = time.Minute, 10 * time.Minute
	// listTimeout bounds the reading of a server's tools.
	listTimeout = 30 * time.Second
)

// The reasons of faults.
const (
	// Changed: the server tells another tool than the one that was approved.
	Changed = "tool_changed"
	// Refused: the server says that it did not do it.
	Refused = "refused"
	// AsksWithin: the server asked in the middle of a call that cannot be made again,
	// and was told to break off.
	AsksWithin = "asks_within"
)

// Entry is one server of the operator's file: a program, or an address.
type Entry struct {
	Type    string            `json:"type,omitempty"` // stdio, http; told by the others where it is missing
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// ReadFile reads the operator's list, the JSON object mcpServers that clients of
// the protocol share; an empty path is none. Its errors repeat nothing of the file.
func ReadFile(path string) (map[string]Entry, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // none are an answer
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_MCP_FILE: %w", err)
	}
	var doc struct {
		Servers map[string]Entry `json:"mcpServers"`
	}
	if json.Unmarshal(raw, &doc) != nil || doc.Servers == nil {
		return nil, fmt.Errorf("LIMINAL_MCP_FILE is no JSON object with the member mcpServers")
	}
	for name, e := range doc.Servers {
		if (e.Command == "") == (e.URL == "") {
			return nil, fmt.Errorf("LIMINAL_MCP_FILE: %q has neither command nor url, or both", name)
		}
	}
	return doc.Servers, nil
}

// Connections gives the tokens of accounts that people connected; *connect.Desk is
// one.
type Connections interface {
	Access(ctx context.Context, v identity.Viewer, name, at string) (connect.Access, error)
	Renew(ctx context.Context, v identity.Viewer, name string, old connect.Access) (connect.Access, error)
	Refuse(ctx context.Context, v identity.Viewer, name string, old connect.Access) error
}

// Program starts one that is to be bounded: it is called with a command and its
// arguments behind its own, calls Exec with them, and becomes that command.
type Program struct {
	Path string // empty: there is none, and no program is started
	Args []string
}

// Options are what a Client works with. All but Dir may be left out.
type Options struct {
	Operator    map[string]Entry // by name
	Public      *http.Client     // reaches what artifacts may name; nil: nothing
	Secret      func(ctx context.Context, name string) (string, error)
	Connections Connections
	Program     Program
	Dir         string // where programs have their folders
	Logger      *slog.Logger
	Now         func() time.Time
}

// Client talks to servers. It is safe for concurrent use.
type Client struct {
	o        Options
	operated *http.Client // reaches the addresses of the operator's file
	lacks    sync.Once    // what programs are not bounded by is told once

	mu    sync.Mutex
	lists map[string]listing
}

// listing is what a server listed.
type listing struct {
	tools []Tool
	until time.Time
}

// maxLists bounds how many listings are kept: servers, and people with accounts at
// them.
const maxLists = 500

// New makes one.
func New(o Options) *Client {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{o: o, operated: operatedClient(), lists: map[string]listing{}}
}

// Server is a server as a person reaches it.
type Server struct {
	Viewer identity.Viewer
	Name   string // of the artifact
	tool.MCPServer
}

// Tools lists what a server has now, by the names it gives them.
func (c *Client) Tools(ctx context.Context, s Server) ([]Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	talk, err := c.open(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	defer talk.close()
	return c.list(ctx, s, talk)
}

// list reads a server's tools and remembers them.
func (c *Client) list(ctx context.Context, s Server, t *talk) ([]Tool, error) {
	tools, ttl, err := t.tools(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(tools, func(a, b Tool) int { return compareText(a.Name, b.Name) })
	age := usualAge
	if ttl > 0 {
		age = min(ttl, longestAge)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	c.lists[s.key()] = listing{tools: tools, until: c.o.Now().Add(age)}
	return tools, nil
}

// known are the tools a server listed a short while ago.
func (c *Client) known(s Server) ([]Tool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lists[s.key()]
	return l.tools, ok && c.o.Now().Before(l.until)
}

// key names a server as somebody reaches it: with an account of their own it may
// have other tools.
func (s Server) key() string {
	raw, _ := json.Marshal(s.MCPServer) // it was read from JSON
	if s.Auth.Connection != "" {
		return s.Viewer.UserID + "\x00" + string(raw)
	}
	return "\x00" + string(raw)
}

// notHere is what is told where an operator has something to do first.
func notHere(format string, args ...any) error {
	return fault.New(fault.Internal, format, args...).With(map[string]any{"reason": fault.NotConfigured})
}

// unsent says of a failure that the server has seen no call.
func unsent(err error) error {
	known := fault.From(err)
	if known.Details != nil {
		return err
	}
	return fault.Wrap(known.Code, err, "%s", known.Message).Saying(known.Said()).With(map[string]any{"reason": webaccess.Unsent})
}
