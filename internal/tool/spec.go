package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"liminal/schemas"
)

// The bounds of one call. They are constants of the kernel: no artifact
// raises them (TOOL-09, PLAT-07).
const (
	DefaultTimeout = 15 * time.Second
	ChatCap        = time.Minute   // of every tool a conversation may call
	JobCap         = 6 * time.Hour // of tools on the queues ingest and training (C-24)
)

// Decode reads a tool.spec document. It does not check the document against
// its schema: the artifact library does when one is written.
func Decode(doc []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("the tool.spec is not readable: %w", err)
	}
	return s, nil
}

// Where gives Inline or Activity.
func (s Spec) Where() string {
	if s.Runs == Inline {
		return Inline
	}
	return Activity
}

// On gives the task queue of an activity.
func (s Spec) On() string {
	if s.Queue == "" {
		return QueueTools
	}
	return s.Queue
}

// IsJob reports whether the tool is background work, which may take hours.
func (s Spec) IsJob() bool { return s.Queue == QueueIngest || s.Queue == QueueTraining }

// Timeout gives how long one call may take, within the caps.
func (s Spec) Timeout() time.Duration {
	limit := ChatCap
	if s.IsJob() {
		limit = JobCap
	}
	if s.TimeoutMS <= 0 {
		return DefaultTimeout
	}
	return min(time.Duration(s.TimeoutMS)*time.Millisecond, limit)
}

// speaks reports whether calls of the tool are answers of a model, of which each
// person has few under way at once (ISO-08).
func (s Spec) speaks() bool { return s.On() == QueueModels && s.Where() == Activity }

// IsIdempotent reports whether a call may be repeated after a failure.
func (s Spec) IsIdempotent() bool { return s.Idempotent == nil || *s.Idempotent }

// ReadsFile reports whether the tool makes text of files of this name or MIME
// type (RAG-02).
func (s Spec) ReadsFile(name, mime string) bool {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	ext := strings.ToLower(path.Ext(name))
	return slices.ContainsFunc(s.Reads, func(kind string) bool {
		kind = strings.ToLower(kind)
		return kind == ext && ext != "" || kind == strings.TrimSpace(mime) && mime != ""
	})
}

// ExposeMCP is the Model Context Protocol among those a tool is offered in.
const ExposeMCP = "mcp"

// Exposed reports whether clients of a protocol may call the tool by itself.
func (s Spec) Exposed(protocol string) bool { return slices.Contains(s.Expose, protocol) }

// exposeFaults says why a tool may not be offered to programs.
func (s Spec) exposeFaults(add func(path, hint, format string, args ...any)) {
	switch {
	case len(s.Expose) == 0:
	case s.IsJob():
		add("/expose", "leave expose out, or the queue", "a program waits for the tools it calls, and one of this queue may take hours")
	case s.Privileged:
		add("/expose", "leave expose out", "a privileged tool is for workflows of administrators only")
	case s.Confirm.Asks:
		add("/expose", "leave expose out, and give a title to a workflow that calls the tool", "a person is asked before each call of this tool, and nobody is where a program calls it by itself")
	}
}

// Attempts bounds a wish for attempts: a tool that is not idempotent gets one
// (TOOL-16).
func (s Spec) Attempts(wanted int) int {
	if !s.IsIdempotent() {
		return 1
	}
	return max(1, wanted)
}

// Validate gives what the schema of the kind cannot say: that both schemas
// compile and that the fields agree with each other.
func (s Spec) Validate() schemas.Faults {
	var faults schemas.Faults
	add := func(path, hint, format string, args ...any) {
		faults = append(faults, schemas.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	for path, doc := range map[string]json.RawMessage{"/input_schema": s.InputSchema, "/output_schema": s.OutputSchema} {
		if _, err := schemas.Compile(doc); err != nil {
			add(path, "write a JSON Schema of draft-07", "the schema does not compile: %s", schemas.Reason(err))
		}
	}
	if s.Runs == Inline && s.Queue != "" {
		add("/queue", "leave the queue out, or set runs to activity", "an inline tool has no queue")
	}
	if s.Runs == Inline && !s.IsIdempotent() {
		add("/runs", "set runs to activity", "a tool that must not be repeated cannot run inline: the workflow task around it may be repeated")
	}
	if s.Workflow != "" && (s.Runs != "" || s.Queue != "") {
		add("/workflow", "leave runs and queue out", "a tool implemented by a workflow runs wherever that workflow's own tools run")
	}
	s.confirmFaults(add)
	s.exposeFaults(add)
	faults = append(faults, s.viaFaults()...)
	slices.SortFunc(faults, func(a, b schemas.Fault) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return faults
}

// shape is what a JSON Schema says at its top: the properties there are, which
// of them are required, and whether there may be others.
type shape struct {
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
}

// Outputs names the properties of the result when the output schema closes
// the set, sorted; nil when there may be others.
func (s Spec) Outputs() []string {
	var out shape
	if json.Unmarshal(s.OutputSchema, &out) != nil || string(out.AdditionalProperties) != "false" {
		return nil
	}
	names := make([]string, 0, len(out.Properties))
	for name := range out.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Inputs names the inputs there may be; nil when the schema lets others come.
func (s Spec) Inputs() []string {
	var in shape
	if json.Unmarshal(s.InputSchema, &in) != nil || string(in.AdditionalProperties) != "false" {
		return nil
	}
	names := make([]string, 0, len(in.Properties))
	for name := range in.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Required names the inputs that must be given.
func (s Spec) Required() []string {
	var in shape
	if json.Unmarshal(s.InputSchema, &in) != nil {
		return nil
	}
	return in.Required
}
