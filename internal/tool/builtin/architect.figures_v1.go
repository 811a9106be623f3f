package builtin

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// figures counts what happened and shows what may be changed (CFG-13).
type figures struct {
	architect  Architect
	generative bool // there is a model that could think about it
}

func (figures) Name() string { return "architect.figures_v1" }

func (t figures) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	var since time.Time
	if given := words(c, "since"); given != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, given); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The time %q is no time: write it as 2026-01-31T00:00:00Z.", given)
		}
	}
	brief, err := t.architect.Brief(ctx, since)
	if err != nil {
		return nil, err
	}
	out, err := object(brief)
	if err != nil {
		return nil, err
	}
	shown := make(map[string]any, len(brief.Documents))
	for _, d := range brief.Documents {
		shown[d.Artifact] = d.Version
	}
	out["shown"], out["runs"], out["generative"] = shown, brief.Figures.Runs, t.generative
	return out, nil
}

// object is a value as JSON has it.
func object(v any) (map[string]any, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(doc, &out)
}

// given reads an input into a value of its form. The schema has been checked;
// what still does not fit is the caller's mistake.
func given(c *tool.Call, name string, into any) error {
	doc, err := json.Marshal(c.Inputs[name])
	if err == nil {
		err = json.Unmarshal(doc, into)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The input %q cannot be read.", name)
	}
	return nil
}
