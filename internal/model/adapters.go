package model

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Applied is how adapters reach a backend: what Apply makes of them.
type Applied struct {
	Model   string         // to ask instead of the request's; empty: the request's own
	Params  []AdapterParam // to send beside the model, in the order of the adapters
	Local   []Adapter      // to load from disk, with their weights
	System  string         // instructions to put behind the system text
	Dropped []Dropped      // what is not used, and why
	// Composed is the name of the one adapter that was made of Local; empty: none.
	Composed string
	// Approximate says that the server puts several adapters together otherwise
	// than by adding up what each does.
	Approximate bool
}

// AdapterParam is an adapter a server is told to use.
type AdapterParam struct {
	ID     string  // the server's own
	Weight float64 // its gate, above 0 and at most 1; 0 where the backend takes none
}

// Dropped is an adapter a request does without.
type Dropped struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason"`
	Weight float64 `json:"weight"`
}

// The reasons to drop an adapter. Routing, which looks at the same adapters
// before, uses the same words where it has them.
const (
	DroppedByMode     = "adapter_filtered_by_mode" // the backend cannot serve the mode (LORA-04)
	DroppedOverCap    = "over_cap"                 // LORA-09
	DroppedNoWeight   = "no_weight"                // its gate is closed
	DroppedNotUsable  = "no_remote_id"             // the server has no name for it
	DroppedWithoutUse = "nothing_to_apply"         // neither weights nor instructions for this backend
	DroppedForWeights = "weights_of_others"        // the server takes one adapter, and weights from here are it

	// Of these only the weights are dropped: where the adapter has words, they
	// are told.
	DroppedRefused = "weights_refused" // damaged, of another base, or the server does not take them
	DroppedTooWide = "rank_too_high"   // beside the others' they exceed the rank that the server allows
)

// Apply says how adapters reach a backend (001 §5.0.1, §5.0.2). Those it
// cannot use are dropped first, then, beyond its cap, those of the lowest
// weight, of equal ones the later (LORA-09). What is left goes by its mode:
//
//   - local: its weights are loaded, by a backend that loads weights;
//   - remote: its remote id becomes the model, or a parameter, by the
//     backend's style (LORA-08);
//   - prompt: its instructions go into the system text;
//   - hybrid: weights where they can be loaded; else its instructions always,
//     and its remote id too where there is one the backend takes (LORA-10).
//
// Apply does not change its arguments; instructions and parameters keep the
// order of the adapters.
func Apply(b Backend, adapters []Adapter) Applied {
	var out Applied
	var kept []Adapter
	for _, a := range adapters {
		a.Mode = cmp.Or(a.Mode, ModeHybrid)
		if reason := b.refuses(a); reason != "" {
			out.Dropped = append(out.Dropped, Dropped{a.ID, reason, a.Weight})
			continue
		}
		kept = append(kept, a)
	}
	kept, over := heaviest(kept, b.Cap())
	out.Dropped = append(out.Dropped, over...)
	var system []string
	named := b.named(kept)
	for i, a := range kept {
		if b.loads(a) {
			out.Local = append(out.Local, a)
			continue
		}
		if text := a.instructions(); text != "" {
			system = append(system, text)
		}
		if named >= 0 && i != named && b.remoteID(a) != "" {
			if a.instructions() == "" {
				out.Dropped = append(out.Dropped, Dropped{a.ID, DroppedOverCap, a.Weight})
			}
			continue
		}
		out.remote(b, a)
	}
	out.System = strings.Join(system, "\n\n")
	return out
}

// named is which adapter's id becomes the model, of which a request has one: that
// of the highest weight, of equal ones the first; -1: none.
func (b Backend) named(adapters []Adapter) int {
	at := -1
	for i, a := range adapters {
		if b.Style == StyleModelID && !b.loads(a) && b.remoteID(a) != "" && (at < 0 || a.Weight > adapters[at].Weight) {
			at = i
		}
	}
	return at
}

// refuses is why the backend cannot use an adapter; empty when it can.
func (b Backend) refuses(a Adapter) string {
	switch {
	case !b.Takes(a.Mode):
		return DroppedByMode
	case a.Weight <= 0:
		return DroppedNoWeight
	case b.loads(a), a.instructions() != "", b.remoteID(a) != "":
		return ""
	case a.Mode == ModeRemote:
		return DroppedNotUsable
	}
	return DroppedWithoutUse
}

// loads reports whether the adapter's weights are used from disk.
func (b Backend) loads(a Adapter) bool {
	return b.Local() && a.Dir != "" && (a.Mode == ModeLocal || a.Mode == ModeHybrid)
}

// remoteID is the server's name of an adapter, by the backend's style.
func (b Backend) remoteID(a Adapter) string {
	if a.Mode != ModeRemote && a.Mode != ModeHybrid {
		return ""
	}
	switch b.Style {
	case StyleModelID:
		return a.RemoteModelID
	case StyleParam:
		return a.RemoteID
	default:
		return ""
	}
}

// Without is a with more that is not used, for one reason, whatever was said of
// it before.
func (a Applied) Without(reason string, list ...Adapter) Applied {
	a.Dropped = slices.DeleteFunc(slices.Clone(a.Dropped), func(d Dropped) bool {
		return slices.ContainsFunc(list, func(one Adapter) bool { return one.ID == d.ID })
	})
	for _, one := range list {
		a.Dropped = append(a.Dropped, Dropped{one.ID, reason, one.Weight})
	}
	return a
}

type applying struct{}

// WithApplied has told hear how a provider applies the adapters of a request:
// once, or again where it does so otherwise after all. It is called within Stream,
// on its goroutine.
func WithApplied(ctx context.Context, told func(Applied)) context.Context {
	return context.WithValue(ctx, applying{}, told)
}

// TellApplied is a provider's word of how it applies adapters.
func TellApplied(ctx context.Context, a Applied) {
	if told, ok := ctx.Value(applying{}).(func(Applied)); ok {
		told(a)
	}
}

func (a Adapter) instructions() string {
	if a.Mode != ModePrompt && a.Mode != ModeHybrid {
		return ""
	}
	return strings.TrimSpace(a.Instructions)
}

func (out *Applied) remote(b Backend, a Adapter) {
	id := b.remoteID(a)
	switch {
	case id == "":
	case b.Style == StyleModelID:
		out.Model = id
	case b.Gates:
		out.Params = append(out.Params, AdapterParam{id, min(a.Weight, 1)})
	default:
		out.Params = append(out.Params, AdapterParam{ID: id})
	}
}

// heaviest keeps the n adapters of the highest weights, in their order. What
// is dropped comes lightest first.
func heaviest(adapters []Adapter, n int) (kept []Adapter, over []Dropped) {
	if len(adapters) <= n {
		return adapters, nil
	}
	order := make([]int, len(adapters))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(adapters[j].Weight, adapters[i].Weight) })
	for _, i := range slices.Backward(order[n:]) {
		over = append(over, Dropped{adapters[i].ID, DroppedOverCap, adapters[i].Weight})
	}
	staying := order[:n]
	slices.Sort(staying)
	for _, i := range staying {
		kept = append(kept, adapters[i])
	}
	return kept, over
}
