package tool

import (
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// NeedsGrant reports whether the calls of a tool by an access key need the scope
// tools: those that change something, and are none of the house's own steps, such
// as reading documents in, remembering conversations, or learning from what people
// say of answers. Those change something and are no act of whoever holds a key:
// what begins them asks for a scope of its own (chat, write).
func (s Spec) NeedsGrant() bool { return !s.ReadOnly && !s.Step }

// granted holds a call to the access key its run was begun with, days later too.
func granted(v identity.Viewer, spec Spec) error {
	if v.Grant == nil || !spec.NeedsGrant() || v.Grant.MayCall(spec.Name) {
		return nil
	}
	return fault.New(fault.Forbidden, "The access key this run was begun with does not allow the tool %s; it needs the scope tools, or tools:%s.", spec.Name, spec.Name).
		With(map[string]any{"reason": "key_scope", "scopes": []string{identity.ScopeTools}})
}
