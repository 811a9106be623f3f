package openai

import (
	"slices"
	"strconv"
	"strings"

	"liminal/internal/model"
)

// servable drops what the server cannot be told: llama.cpp knows adapters by
// number only.
func (d dialect) servable(a model.Applied) model.Applied {
	if d.Name != "llamacpp" {
		return a
	}
	var kept []model.AdapterParam
	for _, p := range a.Params {
		if _, err := strconv.ParseUint(p.ID, 10, 31); err != nil {
			a.Dropped = append(slices.Clip(a.Dropped), model.Dropped{ID: p.ID, Reason: model.DroppedNotUsable, Weight: p.Weight})
			continue
		}
		kept = append(kept, p)
	}
	a.Params = kept
	return a
}

// asModel is the adapter that LoRAX's chat endpoint takes in place of the
// model; empty when there is none, or several, which it merges.
func (d dialect) asModel(a model.Applied) string {
	if d.Name == "lorax" && len(a.Params) == 1 {
		return a.Params[0].ID
	}
	return ""
}

// approximates reports whether the server puts several adapters together in a way
// of its own: LoRAX weighs both matrices of each, so that what each does is not
// what is added up.
func (d dialect) approximates(params []model.AdapterParam) bool {
	return d.Name == "lorax" && len(params) > 1
}

// adapters puts adapters beside the model, in the backend's own parameters
// (LORA-08): by default their ids as adapter_id, one or a list, with
// adapter_weights where the backend takes gates.
func (d dialect) adapters(body map[string]any, params []model.AdapterParam) {
	if len(params) == 0 {
		return
	}
	var ids []string
	var weights []float64
	for _, p := range params {
		ids, weights = append(ids, p.ID), append(weights, p.Weight)
	}
	switch {
	case d.Name == "llamacpp":
		body["lora"] = scales(params)
	case d.Name == "lorax" && len(ids) > 1:
		body["merged_adapters"] = map[string]any{"ids": ids, "weights": weights, "merge_strategy": "linear"}
	default:
		body[d.param] = any(ids)
		if d.Name == "lorax" && strings.HasPrefix(ids[0], "/") {
			body["adapter_source"] = "local" // else it asks a hub for it
		}
		if len(ids) == 1 {
			body[d.param] = ids[0]
		}
		if d.Gates {
			body["adapter_weights"] = weights
		}
	}
}

// scales are adapters as llama.cpp takes them.
func scales(params []model.AdapterParam) []map[string]any {
	var out []map[string]any
	for _, p := range params {
		if n, err := strconv.Atoi(p.ID); err == nil {
			out = append(out, map[string]any{"id": n, "scale": p.Weight})
		}
	}
	return out
}
