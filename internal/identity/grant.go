package identity

import (
	"slices"
	"strings"

	"liminal/internal/fault"
)

// The scopes of an access key. What none of them names is closed to keys.
const (
	ScopeChat      = "chat"      // turns, answers to their questions, and their streams
	ScopeRead      = "read"      // what is the person's own
	ScopeWrite     = "write"     // files, contexts, documents, conversations
	ScopeTools     = "tools"     // tools that change something; ScopeTools + ":files.*" is some of them
	ScopeArtifacts = "artifacts" // workflows, policies and tools of the person's own
	ScopePropose   = "propose"   // proposed changes; deciding and applying them is closed to keys
	ScopeMCP       = "mcp"       // the Model Context Protocol
	ScopeWebhooks  = "webhooks"  // webhooks that the key makes, and those alone; they end with it
	ScopeAdmin     = "admin"     // what administrators see, and some of what they do; of their keys only
)

// Scopes are all scopes there are, in the order they are shown.
func Scopes() []string {
	return []string{ScopeChat, ScopeRead, ScopeWrite, ScopeTools, ScopeArtifacts, ScopePropose, ScopeMCP, ScopeWebhooks, ScopeAdmin}
}

// AudienceMCP is the audience of keys that programs get which sign their person in:
// they open the Model Context Protocol and nothing else.
const AudienceMCP = "mcp"

// Grant is what an access key lets its holder do of what its person may. It
// travels with the viewer, also into runs that go on for days.
type Grant struct {
	KeyID      string   `json:"key_id"`
	Scopes     []string `json:"scopes"`
	Tools      []string `json:"tools,omitempty"`      // patterns of names, with ScopeTools: only these; empty: all
	Assistants []string `json:"assistants,omitempty"` // ids and names of workflows; empty: all
	Audience   string   `json:"audience,omitempty"`   // where it is taken; empty: this API
}

// Has reports whether a grant has any of some scopes. Without a grant there is
// a person, who may all they may.
func (g *Grant) Has(scopes ...string) bool {
	return g == nil || slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(g.Scopes, s) })
}

// MayCall reports whether a grant has the scope of a tool by its name.
func (g *Grant) MayCall(tool string) bool {
	if g == nil {
		return true
	}
	if !slices.Contains(g.Scopes, ScopeTools) {
		return false
	}
	return len(g.Tools) == 0 || slices.ContainsFunc(g.Tools, func(pattern string) bool {
		if prefix, all := strings.CutSuffix(pattern, "*"); all {
			return strings.HasPrefix(tool, prefix)
		}
		return tool == pattern
	})
}

// MayAsk reports whether a grant is for the workflow of an id and a name.
func (g *Grant) MayAsk(id, name string) bool {
	return g == nil || len(g.Assistants) == 0 || slices.Contains(g.Assistants, id) || slices.Contains(g.Assistants, name)
}

// Same reports whether two viewers act by the same key, or both by none.
func (g *Grant) Same(keyID string) bool {
	if g == nil {
		return keyID == ""
	}
	return g.KeyID == keyID
}

// KeyID is the access key a viewer acts by; empty: none.
func (v Viewer) KeyID() string {
	if v.Grant == nil {
		return ""
	}
	return v.Grant.KeyID
}

// With is a viewer held to a grant. Whose key is not for administration is no
// administrator with it.
func (v Viewer) With(g *Grant) Viewer {
	v.Grant = g
	if g == nil {
		return v
	}
	v.SessionID = ""
	if v.Role == RoleAdmin && !g.Has(ScopeAdmin) {
		v.Role = RolePower
	}
	return v
}

// errScope is the refusal of what a key is not for.
func errScope(scopes ...string) error {
	if len(scopes) == 0 {
		return fault.New(fault.Forbidden, "No access key does this; sign in for it.").With(map[string]any{"reason": "key_closed"})
	}
	return fault.New(fault.Forbidden, "This access key is not for it: it needs the scope %s. Make another key in the settings.", strings.Join(scopes, " or ")).
		With(map[string]any{"reason": "key_scope", "scopes": scopes})
}

// Allows is Forbidden when a viewer acts by a key without any of some scopes;
// without scopes it is so for each key.
func (v Viewer) Allows(scopes ...string) error {
	if v.Grant == nil || len(scopes) > 0 && v.Grant.Has(scopes...) {
		return nil
	}
	return errScope(scopes...)
}
