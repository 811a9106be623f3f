package tool_test

import (
	"errors"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// A run goes on for days, and the box holds each of its calls to the key it was
// begun with.
func TestACallByAnAccessKeyChangesOnlyWhatTheKeyIsFor(t *testing.T) {
	t.Parallel()
	reads, writes := spec("t"), spec("t")
	reads.ReadOnly = true
	for name, c := range map[string]struct {
		grant *identity.Grant
		spec  tool.Spec
		want  bool
	}{
		"a session writes":           {nil, writes, true},
		"a key of chat reads":        {&identity.Grant{Scopes: []string{"chat"}}, reads, true},
		"a key of chat writes":       {&identity.Grant{Scopes: []string{"chat"}}, writes, false},
		"a key of tools writes":      {&identity.Grant{Scopes: []string{"tools"}}, writes, true},
		"a key of this tool writes":  {&identity.Grant{Scopes: []string{"tools"}, Tools: []string{"t"}}, writes, true},
		"a key of others writes":     {&identity.Grant{Scopes: []string{"tools"}, Tools: []string{"other.*"}}, writes, false},
		"a key of no scope writes":   {&identity.Grant{Tools: []string{"t"}}, writes, false},
		"a pattern without the word": {&identity.Grant{Scopes: []string{"chat"}, Tools: []string{"t"}}, writes, false},
	} {
		in := call(map[string]any{"text": "x"})
		in.Viewer.Grant = c.grant
		_, err := box(t, echo).Call(t.Context(), c.spec, in)
		if (err == nil) != c.want || err != nil && !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
