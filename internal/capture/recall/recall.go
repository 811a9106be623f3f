// Package recall gives an agent back what a view set aside, over the Model Context
// Protocol: the tools recall, search and keep.
//
// It is served by the proxy itself, from the request that passed last, so that an agent
// gets its own words back while the platform is dead. It may import the protocol's SDK
// and the standard library.
package recall

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// page is how much of a block is given at once, in bytes, and mostKept how much of
	// one that is to be kept.
	page     = 8 << 10
	mostKept = 64 << 10
	// mostHits and around bound what a search gives: blocks, and characters beside a hit.
	mostHits = 20
	around   = 120
	// mostAsked bounds a message of the client, in bytes.
	mostAsked = 1 << 20
)

// Block is a result that is set aside.
type Block struct {
	Name  string `json:"block"` // as placeholders name it: 42-7f3a
	Label string `json:"label"`
	Text  string `json:"text"`
}

// Part is what a block says from a byte on, n bytes at most and whole characters, and
// the bytes that this is.
func (b Block) Part(from, n int) (text string, begins, ends int, err error) {
	if from < 0 || from > len(b.Text) {
		return "", 0, 0, fmt.Errorf("block %s has %d bytes, so there is none from byte %d on", b.Name, len(b.Text), from)
	}
	begins, ends = cut(b.Text, from), cut(b.Text, min(from+n, len(b.Text)))
	if ends == begins && ends < len(b.Text) { // fewer than a character has
		_, size := utf8.DecodeRuneInString(b.Text[begins:])
		ends += size
	}
	return b.Text[begins:ends], begins, ends, nil
}

// Source has what is set aside for whoever asks.
type Source interface {
	// Block is one by its name.
	Block(name string) (Block, bool)
	// Blocks are all of them.
	Blocks() []Block
	// Keep notes that a block is to be kept, and why.
	Keep(name, why string) error
}

// Handler serves the protocol. source is whose a request is.
func Handler(version string, log *slog.Logger, source func(*http.Request) Source) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return server(version, source(r)) }, &mcp.StreamableHTTPOptions{
		Stateless: true, Logger: log, MaxRequestBodyBytes: mostAsked,
		DisableLocalhostProtection: true, // the proxy has looked at that already
	})
}

type recallIn struct {
	Block string `json:"block" jsonschema:"the name in the placeholder, such as 42-7f3a"`
	From  int    `json:"from,omitempty" jsonschema:"the byte to begin at; 0 is the first"`
	Bytes int    `json:"bytes,omitempty" jsonschema:"how many bytes, 8192 at most"`
}

type searchIn struct {
	Query string `json:"query" jsonschema:"words that must stand there; upper and lower case are the same"`
}

type keepIn struct {
	Block string `json:"block" jsonschema:"the name in the placeholder, such as 42-7f3a"`
	Why   string `json:"why" jsonschema:"what it is needed for, in a few words"`
}

// always has a client show a tool from the beginning, where it would else look for it
// first: a placeholder names it.
var always = mcp.Meta{"anthropic/alwaysLoad": true}

func server(version string, s Source) *mcp.Server {
	out := mcp.NewServer(&mcp.Implementation{Name: "palace", Title: "Palace", Version: version}, &mcp.ServerOptions{
		Instructions: "Where a result in this conversation is a line that begins with [palace: block …, its content was set aside to save room, and is not lost: recall returns it.",
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(out, &mcp.Tool{Name: "recall", Meta: always, Annotations: reads, Description: "Return a result of an earlier tool call that was set aside and replaced by a [palace: block …] line. Long ones come in pages of 8192 bytes."}, tool(s, recall))
	mcp.AddTool(out, &mcp.Tool{Name: "search", Meta: always, Annotations: reads, Description: "Find words in all results of this conversation that were set aside."}, tool(s, search))
	mcp.AddTool(out, &mcp.Tool{Name: "keep", Meta: always, Annotations: reads, Description: "Return a result that was set aside as a whole, and keep it: it is not set aside again."}, tool(s, keep))
	return out
}

// tool makes a tool of a function that answers in text.
func tool[In any](s Source, do func(Source, In) (string, error)) mcp.ToolHandlerFor[In, any] {
	return func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := do(s, in)
		if err != nil {
			return nil, nil, err // the SDK tells the model
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
}

// find is a block by its name, or why there is none.
func find(s Source, name string) (Block, error) {
	if b, ok := s.Block(strings.TrimSpace(name)); ok {
		return b, nil
	}
	var names []string
	for _, b := range s.Blocks() {
		names = append(names, b.Name)
	}
	if len(names) == 0 {
		return Block{}, fmt.Errorf("nothing is set aside here now. If the proxy was just started anew, it has what is set aside as soon as this answer has been sent: ask once more then")
	}
	return Block{}, fmt.Errorf("no block %q is set aside here; these are: %s", name, strings.Join(names, ", "))
}

func recall(s Source, in recallIn) (string, error) {
	b, err := find(s, in.Block)
	if err != nil {
		return "", err
	}
	n := page
	if in.Bytes > 0 {
		n = min(in.Bytes, page)
	}
	text, from, to, err := b.Part(in.From, n)
	if err != nil {
		return "", err
	}
	if to < len(b.Text) {
		text += fmt.Sprintf("\n[bytes %d to %d of %d; the next page: {\"block\":%q,\"from\":%d}]", from, to, len(b.Text), b.Name, to)
	}
	return text, nil
}

// cut is the beginning of the character that a byte belongs to.
func cut(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

func search(s Source, in searchIn) (string, error) {
	wanted := strings.ToLower(strings.TrimSpace(in.Query))
	if wanted == "" {
		return "", fmt.Errorf("say what is looked for")
	}
	var out strings.Builder
	n, more := 0, 0
	for _, b := range s.Blocks() {
		low := strings.ToLower(b.Text)
		at := strings.Index(low, wanted)
		if at < 0 {
			continue
		}
		if n++; n > mostHits {
			more++
			continue
		}
		// Lowering may change lengths, in alphabets of few; then the place is about there.
		from, to := cut(b.Text, max(0, min(at-around, len(b.Text)))), cut(b.Text, min(at+len(wanted)+around, len(b.Text)))
		fmt.Fprintf(&out, "block %s (%s), at byte %d, %d times: …%s…\n", b.Name, b.Label, at, strings.Count(low, wanted), b.Text[min(from, to):to])
	}
	if n == 0 {
		return fmt.Sprintf("%q stands in none of the %d results that are set aside.", in.Query, len(s.Blocks())), nil
	}
	if more > 0 {
		fmt.Fprintf(&out, "and in %d more\n", more)
	}
	return out.String(), nil
}

func keep(s Source, in keepIn) (string, error) {
	b, err := find(s, in.Block)
	if err != nil {
		return "", err
	}
	if err := s.Keep(b.Name, in.Why); err != nil {
		return "", err
	}
	if len(b.Text) > mostKept {
		to := cut(b.Text, mostKept)
		return b.Text[:to] + fmt.Sprintf("\n[kept; bytes 0 to %d of %d. recall has the rest: {\"block\":%q,\"from\":%d}]", to, len(b.Text), b.Name, to), nil
	}
	return b.Text, nil
}
