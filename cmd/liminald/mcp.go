package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpOptions are the flags of liminald mcp.
type mcpOptions struct {
	json    bool
	keyFile string
}

func mcpCommand() command {
	return command{
		name:    "mcp",
		takes:   "[import NAME [TOOL…]]",
		summary: "speak the Model Context Protocol over stdin and stdout for a running server, or propose the tools of another's",
		about: `
For programs that start their MCP servers themselves, such as Claude Desktop:
what they write to stdin goes to /mcp of a running server, and its answers come
back on stdout. What goes wrong is told on stderr.

The server is --url, or LIMINAL_URL. The access key, of the scope mcp and those
of what it is to do (docs/mcp.md), is LIMINAL_TOKEN, or the first line of
--key-file; it is no argument, where other people of the machine would see it.

With import it proposes the tools of another's server, as an administrator; who
you are is told by liminald login, once, or LIMINAL_TOKEN, or LIMINAL_USER and
LIMINAL_PASSWORD.

  import NAME [TOOL…]   read the tools of the mcp.server NAME, all or those named,
                        and propose what is new or has changed as tool.specs. None
                        is called, and none can be used until somebody has read and
                        approved it: liminald patch shows how`,
		examples: []string{
			"liminald key create desktop --scopes mcp,chat,read > ~/.config/liminal/desktop.key",
			"liminald mcp --url https://chat.example.org --key-file ~/.config/liminal/desktop.key",
			"liminald mcp import everything echo get-sum",
		},
		settings: []string{"url"},
		flags: func(fs *flag.FlagSet) any {
			o := &mcpOptions{}
			fs.BoolVar(&o.json, "json", false, "of import: print JSON for machines instead of text")
			fs.StringVar(&o.keyFile, "key-file", "", "file whose first line is the access key; LIMINAL_TOKEN when left out")
			return o
		},
		run: runMCP,
	}
}

func runMCP(ctx context.Context, in *invocation) error {
	switch {
	case len(in.args) == 0:
		return relayMCP(ctx, in)
	case in.args[0] == "import" && len(in.args) > 1:
		return reached(importMCP(ctx, in, in.args[1], in.args[2:]))
	}
	return usageError{errors.New("say what to do: import NAME, or nothing to speak over stdin and stdout")}
}

// relayMCP carries what a program says to a running server, and back.
func relayMCP(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	key := conf.Client.Token
	if file := in.own.(*mcpOptions).keyFile; file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		key, _, _ = strings.Cut(strings.TrimSpace(string(raw)), "\n")
	}
	if key = strings.TrimSpace(key); key == "" {
		return usageError{errors.New("an access key is needed: LIMINAL_TOKEN, or --key-file; liminald key create makes one")}
	}
	near, err := (&mcp.IOTransport{Reader: io.NopCloser(in.in), Writer: keepOpen{in.out}}).Connect(ctx)
	if err != nil {
		return err
	}
	r := &relay{near: near, log: in.err, dial: func(ctx context.Context) (mcp.Connection, error) {
		return (&mcp.StreamableClientTransport{
			Endpoint: strings.TrimSuffix(conf.Client.URL, "/") + "/mcp", HTTPClient: &http.Client{Transport: withKey(key)}, DisableStandaloneSSE: true,
		}).Connect(ctx)
	}}
	return r.run(ctx)
}

// withKey sends an access key with each request.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// keepOpen is a writer that is not ours to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
