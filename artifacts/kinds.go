package artifacts

import (
	"path/filepath"
	"strings"

	"liminal/internal/fault"
)

// kinds is the table of kinds: the word each is called in a request's type
// (001 §13.4), and who checks what its schema cannot say. A new kind is a row
// here and a file in schemas/.
var kinds = []struct {
	kind  string
	alias string
	check func(*checking)
}{
	{KindWorkflow, "workflow", (*checking).workflow},
	{KindPolicy, "policy", (*checking).policy},
	{KindModels, "models", (*checking).models},
	{KindLearning, "learning", nil},
	{KindPalace, "palace", (*checking).palace},
	{KindTool, "tool", (*checking).tool},
	{KindAdapter, "adapter", (*checking).adapter},
	{KindSummary, "memory", nil},
	{KindContext, "context", nil},
	{KindSource, "source", (*checking).source},
	{KindConnection, "connection", (*checking).connection},
	{KindMCPServer, "mcp", (*checking).mcpServer},
}

// Kind gives the kind a request's type means: workflow is workflow.chat. A
// kind's own name, and any other word, is itself.
func Kind(word string) string {
	for _, row := range kinds {
		if row.alias == word {
			return row.kind
		}
	}
	return word
}

// Alias gives the short word for a kind: workflow for workflow.chat.
func Alias(kind string) string {
	for _, row := range kinds {
		if row.kind == kind {
			return row.alias
		}
	}
	return kind
}

// The visibilities of an artifact (ISO-06). A shared one is seen by its owner
// alone as long as nothing reads whom it is shared with.
const (
	Private = "private"
	Shared  = "shared"
	Global  = "global"
)

func checkVisibility(visibility string) error {
	switch visibility {
	case Private, Shared, Global:
		return nil
	}
	return fault.New(fault.Invalid, "The visibility %q is not known: write private, shared or global.", visibility)
}

// sharedRoot is where files lie that belong to no person.
const sharedRoot = "/shared/"

// checkPath keeps an artifact's files below the folder they belong to: that of
// its owner (ISO-03), or the shared one when the artifact itself is for more
// than its owner (ISO-04).
func checkPath(path, visibility string) error {
	if path == "" {
		return nil
	}
	within, shared := strings.CutPrefix(path, sharedRoot)
	switch {
	case !filepath.IsLocal(within) || filepath.Clean(within) != within || strings.ContainsAny(path, "\\\x00"):
		return fault.New(fault.Invalid, "The fs_path %q leads out of the folder of the artifact's owner: write one that is relative and has no %q.", path, "..")
	case shared && visibility != Shared && visibility != Global:
		return fault.New(fault.Invalid, "The fs_path %q is in the shared folder, and this artifact is private: make it shared or global, or keep its files in your own.", path)
	}
	return nil
}

// maxName and maxDescription bound what people call an artifact, in bytes.
const (
	maxName        = 128
	maxDescription = 4000
)

func checkName(name, description string) error {
	switch {
	case strings.TrimSpace(name) == "" || name != strings.TrimSpace(name):
		return fault.New(fault.Invalid, "An artifact needs a name without spaces around it.")
	case len(name) > maxName:
		return fault.New(fault.Invalid, "The name has %d bytes; %d are allowed.", len(name), maxName)
	case len(description) > maxDescription:
		return fault.New(fault.Invalid, "The description has %d bytes; %d are allowed.", len(description), maxDescription)
	}
	return nil
}
