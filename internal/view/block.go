package view

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Block is a part of a message, as far as rules and plans need to know it.
type Block struct {
	UUID    string
	Display int  // -1: it has none
	Away    bool // put away: nobody is shown it
	Type    string
	Role    string
	Tool    string // of a use, and of its result
	Scope   string
	Project string

	Use  string // the tool_use id of a use, and of its result
	Text string // what it says: of a use its input
	Sum  string // of what a result says (SumOf)
	// Path is the file that a use is about; From and To are the lines that it reads,
	// To 0 is to the end. Input knows two uses that ask the same.
	Path     string
	From, To int
	Input    string
	About    string // what a use asks for, in a few words
	Error    bool

	Tokens   int64
	Bytes    int
	At       time.Time
	Channels []string
	Tier     Tier
	Starred  bool
	// Person and Model are what they wish for it; "": nothing.
	Person, Model Do
}

// Read takes over what the JSON of a block of content says.
func (b *Block) Read(raw []byte) { b.ReadValue(Decoded(raw)) }

// ReadValue takes over what a decoded block of content says, in Anthropic's terms.
func (b *Block) ReadValue(content any) {
	v, ok := content.(map[string]any)
	if !ok {
		b.Text, _ = content.(string)
		return
	}
	text := func(name string) string { s, _ := v[name].(string); return s }
	switch kind := text("type"); kind {
	case "text":
		b.Text = text("text")
	case "thinking":
		b.Text = text("thinking")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.Use, b.Tool = text("id"), text("name")
		b.input(v["input"])
	case "tool_result":
		b.Use = text("tool_use_id")
		b.Error, _ = v["is_error"].(bool)
		b.Text = textOf(v["content"])
		b.Sum = HashResult(b.Role, v)
	}
}

// input takes over what a use asks for.
func (b *Block) input(v any) {
	raw, err := json.Marshal(Canonical(v))
	if err != nil { // of what was JSON
		return
	}
	b.Text, b.Input = string(raw), Sum(append([]byte(b.Tool+"\x00"), raw...))
	in, _ := v.(map[string]any)
	for _, name := range []string{"file_path", "notebook_path", "path", "filePath"} {
		if s, ok := in[name].(string); ok && s != "" {
			b.Path = s
			break
		}
	}
	for _, name := range []string{"command", "pattern", "query", "url", "description"} {
		if b.About == "" {
			b.About, _ = in[name].(string)
		}
	}
	if b.Path != "" {
		b.About = b.Path
	}
	number := func(name string) int {
		n, ok := in[name].(json.Number)
		if !ok {
			return 0
		}
		i, err := strconv.Atoi(string(n))
		if err != nil || i < 0 {
			return 0
		}
		return i
	}
	b.From = number("offset")
	if limit := number("limit"); limit > 0 {
		b.To = b.From + limit
	}
}

// textOf is the text of a content, which may be a text itself.
func textOf(content any) string {
	switch v := content.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && m["type"] == "text" {
				s, _ := m["text"].(string)
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// join gives results what their uses say.
func join(blocks []Block) {
	uses := map[string]*Block{}
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case useType:
			uses[b.Use] = b
		case resultType:
			if use := uses[b.Use]; use != nil && b.Use != "" {
				b.Tool, b.Path, b.From, b.To, b.Input, b.About = use.Tool, use.Path, use.From, use.To, use.Input, use.About
			}
		}
	}
}

// Types of blocks that rules speak of.
const (
	useType    = "ToolUse"
	resultType = "ToolResult"
)

// The tools of Claude Code that read and write files.
var (
	reads  = []string{"Read", "NotebookRead"}
	writes = []string{"Write"}
	edits  = []string{"Edit", "MultiEdit", "NotebookEdit"}
)

// RecallTool is the tool by which an agent asks for what was set aside.
const RecallTool = "mcp__palace__recall"

// whole reports whether a use reads all of its file.
func (b *Block) whole() bool { return b.From <= 1 && b.To == 0 }

// covers reports whether a later use of the same file shows what b showed, or makes it
// of no interest.
func (b *Block) covers(earlier *Block) bool {
	if b.Path == "" || b.Path != earlier.Path || b.Error {
		return false
	}
	if slices.Contains(writes, b.Tool) {
		return true // with what it wrote: its use stays in view
	}
	if !slices.Contains(reads, b.Tool) {
		return false // an edit shows a part only
	}
	if b.whole() {
		return true
	}
	return slices.Contains(reads, earlier.Tool) && earlier.To > 0 && b.From <= earlier.From && (b.To == 0 || b.To >= earlier.To)
}

// ofFiles reports whether a result is of one of the tools whose files are known.
func (b *Block) ofFiles() bool {
	return slices.Contains(reads, b.Tool) || slices.Contains(writes, b.Tool) || slices.Contains(edits, b.Tool)
}
