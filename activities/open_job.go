package activities

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge/extract"
	"liminal/internal/tool"
)

// workflowIngest is the artifact every document follows on its way in
// (GRAPH-24).
const workflowIngest = "ingest"

// The artifacts that the house's own runs follow (CFG-15, CFG-13, CLUS-01,
// GRAPH-24).
const (
	workflowPatch     = "config_patch"
	workflowArchitect = "architect"
	workflowCluster   = "learn.cluster"
	workflowTrain     = "learn.train"
)

// IngestInput is what an ingest run was asked.
type IngestInput struct {
	DocumentID string `json:"document_id"`
	Path       string `json:"path,omitempty"` // of its file
	MIME       string `json:"mime,omitempty"`
}

// ToolInput is what a run of one tool was asked.
type ToolInput struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input"`
}

// GraphInput is what a run of a workflow artifact was asked (GRAPH-03).
type GraphInput struct {
	Artifact string         `json:"artifact"`
	Input    map[string]any `json:"input"`
	Vars     map[string]any `json:"vars,omitempty"`
	Locale   string         `json:"locale,omitempty"`
	// Surface is what holds for it of the surface whose workflow it runs; nil: of
	// none.
	Surface *chat.TurnSurface `json:"surface,omitempty"`
}

func (o *opening) read(into any) error {
	o.out.Locale = o.in.Viewer.Locale
	if err := json.Unmarshal(o.row.Input, into); err != nil {
		return fault.Wrap(fault.Internal, err, "What the run %s was asked cannot be read.", o.row.ID)
	}
	o.out.User = o.user()
	return nil
}

func (o *opening) ingest(ctx context.Context) error {
	var in IngestInput
	if err := o.read(&in); err != nil {
		return err
	}
	o.out.Input = map[string]any{"document_id": in.DocumentID}
	if err := o.pin(ctx, workflowIngest); err != nil {
		return err
	}
	return o.reader(ctx, in)
}

// reader puts a registered tool that reads the document's type in the place
// of tool.ParseForeign, for this run. Where several do, it is the first by
// name; what the program reads itself is not asked for (RAG-02).
func (o *opening) reader(ctx context.Context, in IngestInput) error {
	if _, asked := o.out.Tools[tool.ParseForeign]; !asked || in.Path == "" || extract.Reads(in.Path, in.MIME) {
		return nil
	}
	all, err := o.set.Artifacts.Tools(ctx, o.in.Viewer, "*")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if b := all[name]; b.ReadsFile(in.Path, in.MIME) {
			p := o.toolPin(b)
			o.out.Tools[tool.ParseForeign] = p
			o.out.Pins = append(o.out.Pins, p.Pin())
			o.out.Digest = digest(&o.out)
			return nil
		}
	}
	return nil
}

func (o *opening) graph(ctx context.Context) error {
	var in GraphInput
	if err := o.read(&in); err != nil {
		return err
	}
	o.out.Input, o.out.Persisted = in.Input, in.Vars
	o.surfaced(in.Surface)
	if err := o.pin(ctx, in.Artifact); err != nil {
		return err
	}
	if o.row.RequestID == "" { // what follows a turn: nobody asked for it
		return nil
	}
	return o.granted()
}

// house opens a run of the system's own: in the background, and by a workflow
// that is everybody's. A person's of the same name would otherwise decide what
// the system does where that is missing.
func (o *opening) house(ctx context.Context, workflow string) error {
	var in map[string]any
	if err := o.read(&in); err != nil {
		return err
	}
	o.out.Input, o.job = in, true
	if !o.in.Viewer.IsSystem() {
		return fault.New(fault.Forbidden, "The workflow %s is the system's own.", workflow)
	}
	return o.houses(ctx, workflow)
}

// learning opens a run in which the house learns from what a person said, or
// everybody: the person's own, with their rights and their budget, and by a
// workflow that is everybody's.
func (o *opening) learning(ctx context.Context, workflow string) error {
	if o.in.Child == nil {
		var in map[string]any
		if err := o.read(&in); err != nil {
			return err
		}
		o.out.Input = in
	}
	o.job = true
	return o.houses(ctx, workflow)
}

// houses follows a workflow that is everybody's, whoever's run it is. A
// person's of the same name would otherwise decide what the house does.
func (o *opening) houses(ctx context.Context, workflow string) error {
	a, err := o.set.Artifacts.Workflow(ctx, identity.System(), workflow)
	if err != nil {
		return err
	}
	if a.OwnerID != "" {
		return fault.New(fault.Forbidden, "The workflow %s is the system's own.", workflow)
	}
	return o.follow(ctx, a)
}

// tool opens a graph of one node around a tool, so that a tool run by itself
// has the same retries, questions and trace as one inside a workflow.
func (o *opening) tool(ctx context.Context) error {
	var in ToolInput
	if err := o.read(&in); err != nil {
		return err
	}
	bound, err := o.set.Artifacts.Tools(ctx, o.in.Viewer, in.Tool)
	if err != nil {
		return err
	}
	if _, ok := bound[in.Tool]; !ok {
		return fault.New(fault.NotFound, "There is no tool %q that you may use.", in.Tool)
	}
	doc, err := json.Marshal(map[string]any{
		"kind": "workflow.chat", "entrypoint": "call",
		"nodes": []any{
			map[string]any{"id": "call", "type": "tool_call", "tool": in.Tool, "inputs": literal(in.Input), "next": "end"},
			map[string]any{"id": "end", "type": "end", "data": "${vars.call}"},
		},
	})
	if err != nil {
		return err
	}
	o.out.Input = map[string]any{}
	a := artifacts.Artifact{OwnerID: o.in.Viewer.UserID, Schema: doc}
	if err := o.backend(ctx, a, bound); err != nil {
		return err
	}
	o.bind(a, bound)
	return nil
}

// literal escapes what a person wrote, so that no template in it is read.
func literal(value any) any {
	switch x := value.(type) {
	case string:
		return strings.ReplaceAll(x, "${", "$${")
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = literal(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for key, item := range x {
			out[key] = literal(item)
		}
		return out
	}
	return value
}
