package palace

import (
	"encoding/json"

	"liminal/internal/redact"
	"liminal/internal/view"
)

// ChannelSecret is the channel of blocks in which something was found that opens doors.
const ChannelSecret = view.ChannelSecret

// bound are members that a protocol signs a block with: they open nothing.
var bound = map[string]bool{"signature": true, "data": true, "encrypted_content": true}

// maskSecrets is a JSON value without the secrets that its texts hold, each replaced by
// its kind in brackets, and whether there were any. What the value has of lists and
// objects is changed.
func maskSecrets(v any) (_ any, found bool) {
	switch v := v.(type) {
	case string:
		return redact.Secrets(v)
	case []any:
		for i, e := range v {
			masked, is := maskSecrets(e)
			v[i], found = masked, found || is
		}
	case map[string]any:
		for name, e := range v {
			text, isText := e.(string)
			if isText && bound[name] {
				continue
			}
			masked, is := maskSecrets(e)
			if kind, named := redact.KindOf(name); named && isText && text != "" && !is {
				masked, is = "["+string(kind)+"]", true
			}
			v[name], found = masked, found || is
		}
	}
	return v, found
}

// masked is a JSON document without secrets; where it has none, as it is.
func masked(doc json.RawMessage) json.RawMessage {
	v, found := maskSecrets(decoded(doc))
	if !found {
		return doc
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // of what was JSON
	}
	return out
}
