package artifacts

import (
	"bytes"
	"encoding/json"

	"liminal/internal/model"
)

// AdapterMode sets the mode of new adapters whose document names none
// (LORA-05). One that has the older word backend gets the mode that means
// (LORA-06). Call it before the library is used; without it documents stay as
// they are written.
func (l *Library) AdapterMode(mode string) { l.adapterMode = mode }

// settled is the document of a new artifact with what it leaves to the
// configuration. One that is not an object is left for the check to refuse.
func (l *Library) settled(kind string, doc json.RawMessage) json.RawMessage {
	if kind != KindAdapter || l.adapterMode == "" {
		return doc
	}
	var d struct {
		Kind         string          `json:"kind"`
		Mode         json.RawMessage `json:"mode"`
		Backend      string          `json:"backend"`
		Instructions string          `json:"prompt_instructions"`
	}
	if json.Unmarshal(doc, &d) != nil || d.Mode != nil || d.Kind == "" {
		return doc
	}
	mode := l.adapterMode
	if d.Backend != "" {
		mode = model.ModeOf("", d.Backend, d.Instructions != "")
	}
	// Written into the text, so that the rest keeps the order it has.
	rest := bytes.TrimPrefix(bytes.TrimSpace(doc), []byte("{"))
	return append([]byte(`{"mode":"`+mode+`",`), rest...)
}
