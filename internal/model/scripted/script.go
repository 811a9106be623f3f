package scripted

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
)

// Script is what the model plays: for each request the first answer that fits
// and has plays left.
//
// As JSON:
//
//	{"name": "test", "generative": true, "answers": [
//	  {"task": "intent", "steps": [{"text": "{\"intent\":\"other\",\"confidence\":1}"}]},
//	  {"contains": "weather", "times": 1, "steps": [
//	    {"text": "Let me "}, {"text": "look."},
//	    {"tool": {"name": "rag.search_v1", "input": {"question": "weather"}}}]},
//	  {"steps": [{"text": "Half"}, {"touch": "/tmp/spoke"}, {"until": "/tmp/go"}, {"text": " and half."}]}
//	]}
type Script struct {
	Name       string   `json:"name,omitempty"`       // "scripted" when empty
	Generative *bool    `json:"generative,omitempty"` // true when absent
	Answers    []Answer `json:"answers"`
}

// Answer is one answer and when it is given. Empty conditions fit always.
type Answer struct {
	Task     string       `json:"task,omitempty"`     // Request.Task is exactly this
	Contains string       `json:"contains,omitempty"` // the last user text or tool result holds this
	After    string       `json:"after,omitempty"`    // the last message holds a result of the tool of this name
	Times    int          `json:"times,omitempty"`    // how often it is given by one process; 0: without end
	Unless   string       `json:"unless,omitempty"`   // only while this file is not there; with touch, once for all processes
	Steps    []Step       `json:"steps"`
	Usage    *model.Usage `json:"usage,omitempty"` // estimated from the texts when absent
}

// Step is one thing the model does. Exactly one field is set, except that
// Text may carry Chunk.
type Step struct {
	Text     string    `json:"text,omitempty"`
	Chunk    int       `json:"chunk,omitempty"`    // cut Text into deltas of this many characters; 0: as a whole
	Echo     string    `json:"echo,omitempty"`     // say what of the last message fits this regular expression first, passages included
	Thinking string    `json:"thinking,omitempty"` //
	Tool     *ToolStep `json:"tool,omitempty"`     // the answer then ends with stop reason tool_use
	Cite     *CiteStep `json:"cite,omitempty"`     // quotes a passage of the request
	Pause    Duration  `json:"pause,omitempty"`    // wait this long
	Until    string    `json:"until,omitempty"`    // wait until this file exists
	Touch    string    `json:"touch,omitempty"`    // create this file: what came before has been sent
	Wait     string    `json:"wait,omitempty"`     // wait for Model.Release of this signal
	Reach    string    `json:"reach,omitempty"`    // raise this signal: Model.Reached returns
	Hang     bool      `json:"hang,omitempty"`     // wait until the request is cancelled
	Error    *Failure  `json:"error,omitempty"`    // fail here
	Stop     string    `json:"stop,omitempty"`     // end here with this reason: end_turn, max_tokens, refusal
}

// ToolStep is a tool call.
type ToolStep struct {
	ID    string          `json:"id,omitempty"` // "call_N" when empty
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// CiteStep cites Quote, or all of the passage when Quote is empty.
type CiteStep struct {
	Passage int    `json:"passage"` // 0 is the request's first
	Quote   string `json:"quote,omitempty"`
}

// Failure is an error by its class. Code is one of fault's; "" is a plain
// error, as of a broken connection.
type Failure struct {
	Code    fault.Code `json:"code,omitempty"`
	Message string     `json:"message"`
}

func (f Failure) err() error {
	if f.Code == "" {
		return fmt.Errorf("scripted: %s", f.Message)
	}
	return fault.New(f.Code, "%s", f.Message)
}

// Duration is a time.Duration written as "150ms".
type Duration time.Duration

// UnmarshalJSON reads "150ms".
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// MarshalJSON writes "150ms".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Load reads a script from a JSON file. Unknown fields are faults, so that a
// misspelt step does not pass silently.
func Load(path string) (Script, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fault.Wrap(fault.Invalid, err, "The script of the scripted model cannot be read from %s.", path)
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	var s Script
	if err := d.Decode(&s); err != nil {
		return Script{}, fault.Wrap(fault.Invalid, err, "The script %s is not valid: %v.", path, err)
	}
	return s, s.check()
}

func (s Script) check() error {
	for i, a := range s.Answers {
		for j, step := range a.Steps {
			if n := step.kinds(); n != 1 {
				return fault.New(fault.Invalid, "Step %d of answer %d of the script does %d things; a step does exactly one.", j+1, i+1, n)
			}
			if _, err := regexp.Compile(step.Echo); err != nil {
				return fault.Wrap(fault.Invalid, err, "Step %d of answer %d of the script: %v.", j+1, i+1, err)
			}
		}
	}
	return nil
}

func (s Step) kinds() int {
	n := 0
	for _, set := range []bool{
		s.Text != "", s.Echo != "", s.Thinking != "", s.Tool != nil, s.Cite != nil, s.Pause != 0, s.Until != "", s.Touch != "",
		s.Wait != "", s.Reach != "", s.Hang, s.Error != nil, s.Stop != "",
	} {
		if set {
			n++
		}
	}
	return n
}

// fits reports whether an answer may be given to req.
func (a Answer) fits(req model.Request) bool {
	if a.Task != "" && a.Task != req.Task {
		return false
	}
	if _, err := os.Stat(a.Unless); a.Unless != "" && err == nil {
		return false
	}
	if a.Contains != "" && !strings.Contains(lastText(req), a.Contains) {
		return false
	}
	return a.After == "" || slices.Contains(lastTools(req), a.After)
}

// lastText is the text of the last message, tool results included.
func lastText(req model.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	var b strings.Builder
	for _, block := range req.Messages[len(req.Messages)-1].Content {
		if block.Type == model.Text || block.Type == model.ToolResult {
			b.WriteString(block.Text + "\n")
		}
	}
	return b.String()
}

// lastTools names the tools whose results the last message holds.
func lastTools(req model.Request) []string {
	uses := map[string]string{}
	var out []string
	for i, m := range req.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case model.ToolUse:
				uses[b.ID] = b.Name
			case model.ToolResult:
				if i == len(req.Messages)-1 {
					out = append(out, uses[b.ID]+b.Name)
				}
			default:
			}
		}
	}
	return out
}
