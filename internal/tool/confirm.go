package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Confirm says that an agent asks a person before a call, and how: it is written
// as true, or as an object of the members below (GRND-49).
type Confirm struct {
	Asks     bool     // false: it does not
	Message  Words    // the question; {name} is an input. nil: one of the house's
	Edit     []string // inputs the person may change before the call, in order
	Labels   map[string]Words
	Remember bool // the person may say not to be asked again in a conversation
}

// confirmed is Confirm as it is written.
type confirmed struct {
	Message  Words            `json:"message,omitempty"`
	Edit     []string         `json:"edit,omitempty"`
	Labels   map[string]Words `json:"labels,omitempty"`
	Remember bool             `json:"remember,omitempty"`
}

// UnmarshalJSON takes true, false and an object.
func (c *Confirm) UnmarshalJSON(raw []byte) error {
	*c = Confirm{}
	switch raw = bytes.TrimSpace(raw); {
	case string(raw) == "null":
		return nil
	case len(raw) > 0 && raw[0] == '{':
		var o confirmed
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		*c = Confirm{Asks: true, Message: o.Message, Edit: o.Edit, Labels: o.Labels, Remember: o.Remember}
		return nil
	}
	if json.Unmarshal(raw, &c.Asks) != nil {
		return errors.New("confirm is neither true, nor false, nor an object")
	}
	return nil
}

// MarshalJSON is what UnmarshalJSON reads.
func (c Confirm) MarshalJSON() ([]byte, error) {
	if !c.Asks || c.Message == nil && c.Edit == nil && !c.Remember {
		return json.Marshal(c.Asks)
	}
	return json.Marshal(confirmed{Message: c.Message, Edit: c.Edit, Labels: c.Labels, Remember: c.Remember})
}

// IsZero reports whether nobody is asked.
func (c Confirm) IsZero() bool { return !c.Asks }

// Plain reports whether the question is one of yes or no that says nothing of its own.
func (c Confirm) Plain() bool { return c.Message == nil && len(c.Edit) == 0 && !c.Remember }

// AtLeast is c, and what another wants as well: a tool that stands on one that
// asks asks too, and lets nobody be asked less.
func (c Confirm) AtLeast(inner Confirm) Confirm {
	switch {
	case !inner.Asks:
		return c
	case !c.Asks:
		return inner
	}
	c.Remember = c.Remember && inner.Remember
	return c
}

// confirmFaults are what is wrong with Confirm that the schema cannot say.
func (s Spec) confirmFaults(add func(path, hint, format string, args ...any)) {
	var in shape
	if json.Unmarshal(s.InputSchema, &in) != nil {
		return
	}
	for i, name := range s.Confirm.Edit {
		field, there := in.Properties[name]
		at := "/confirm/edit/" + string(rune('0'+i%10))
		switch {
		case !there:
			add(at, "name an input of the tool", "there is no input %q to edit", name)
		case bytes.Contains(field, []byte(`"$ref"`)):
			add(at, "write the input's schema out", "the input %q is described elsewhere, and a form cannot show it", name)
		case name == "decision" || name == "remember":
			add(at, "give the input another name", "an input called %q cannot be edited: the answer has a member of that name", name)
		}
	}
	for _, text := range s.Confirm.Message {
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if _, there := in.Properties[m[1]]; !there && !slices.Contains(s.Required(), m[1]) {
				add("/confirm/message", "name an input of the tool", "nothing sets {%s}", m[1])
			}
		}
	}
	if _, plain := s.Confirm.Message[""]; s.Confirm.Message != nil && !plain && strings.TrimSpace(s.Confirm.Message["en"]) == "" {
		add("/confirm/message", `write {"en": "…", "de": "…"}`, "the question has no English text, which everybody reads whose language it does not have")
	}
}
