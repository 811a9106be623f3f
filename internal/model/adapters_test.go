package model_test

import (
	"reflect"
	"slices"
	"testing"

	"liminal/internal/model"
)

// Requirements: LORA-03, LORA-07
func TestTheRegistryIsTheTableOfTheSeed(t *testing.T) {
	t.Parallel()
	type row struct {
		style        model.Style
		multi, gates bool
		most         int
		local        bool
	}
	for name, want := range map[string]row{
		"openai":         {model.StyleModelID, false, false, 1, false},
		"azure":          {model.StyleModelID, false, false, 1, false},
		"vertex":         {model.StyleModelID, false, false, 1, false},
		"bedrock":        {model.StyleModelID, false, false, 1, false},
		"together":       {model.StyleParam, true, true, 3, false},
		"lorax":          {model.StyleParam, true, true, 5, false},
		"adapter_server": {model.StyleParam, true, true, 3, false},
		"sagemaker":      {model.StyleParam, false, false, 1, false},
		"local_lora":     {model.StyleNone, true, true, 3, true},
		"local_gpu_lora": {model.StyleNone, true, true, 3, true},
	} {
		b, ok := model.BackendOf(name)
		if got := (row{b.Style, b.Multi, b.Gates, b.Max, b.Local()}); !ok || got != want || b.Name != name {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
		modes := []string{model.ModeRemote, model.ModePrompt, model.ModeHybrid}
		if want.local {
			modes[0] = model.ModeLocal
		}
		if !slices.Equal(b.Modes, modes) {
			t.Errorf("%s takes %v, want %v", name, b.Modes, modes)
		}
	}
	for _, name := range []string{"anthropic", "ollama", "vllm", "llamacpp", "extractive", "scripted"} {
		if b, ok := model.BackendOf(name); !ok || b.Max < 1 || len(b.Modes) == 0 || b.Local() {
			t.Errorf("%s is %+v", name, b)
		}
	}
	if _, ok := model.BackendOf("oracle"); ok {
		t.Error("a backend nobody knows has capabilities")
	}
}

func backend(t *testing.T, name string) model.Backend {
	t.Helper()
	b, ok := model.BackendOf(name)
	if !ok {
		t.Fatalf("no backend %s", name)
	}
	return b
}

// hybrid is an adapter that every backend can use in its own way.
func hybrid(id string, weight float64) model.Adapter {
	return model.Adapter{
		ID: id, Mode: model.ModeHybrid, RemoteModelID: "ft:" + id, RemoteID: "served/" + id,
		Dir: "/adapters/" + id, Weight: weight, Instructions: "Speak like " + id + ".",
	}
}

// Requirements: LORA-02 (remote; prompt; hybrid), LORA-08, LORA-10 (instructions on an API backend; remote id where supported)
func TestAnAdapterReachesABackendByItsModeAndStyle(t *testing.T) {
	t.Parallel()
	remote := model.Adapter{ID: "r", Mode: model.ModeRemote, RemoteModelID: "ft:r", RemoteID: "served/r", Weight: 0.5, Instructions: "never said"}
	prompt := model.Adapter{ID: "p", Mode: model.ModePrompt, RemoteModelID: "ft:p", Dir: "/p", Weight: 0.5, Instructions: "Be brief."}
	local := model.Adapter{ID: "l", Mode: model.ModeLocal, Dir: "/l", Weight: 0.5, Instructions: "never said"}
	bare := model.Adapter{ID: "h", Mode: model.ModeHybrid, Weight: 0.5, Instructions: "Be kind."}
	h := hybrid("sea", 0.5)
	for _, c := range []struct {
		name, backend string
		adapter       model.Adapter
		want          model.Applied
	}{
		{"remote becomes the model", "openai", remote, model.Applied{Model: "ft:r"}},
		{"remote becomes a parameter", "together", remote, model.Applied{Params: []model.AdapterParam{{ID: "served/r", Weight: 0.5}}}},
		{"no gate where none is taken", "sagemaker", remote, model.Applied{Params: []model.AdapterParam{{ID: "served/r"}}}},
		{"remote is nothing here", "local_lora", remote, model.Applied{Dropped: []model.Dropped{{ID: "r", Reason: model.DroppedByMode, Weight: 0.5}}}},
		{"prompt is said", "openai", prompt, model.Applied{System: "Be brief."}},
		{"prompt is said here too", "local_lora", prompt, model.Applied{System: "Be brief."}},
		{"local is loaded", "local_lora", local, model.Applied{Local: []model.Adapter{local}}},
		{"local is nothing there", "lorax", local, model.Applied{Dropped: []model.Dropped{{ID: "l", Reason: model.DroppedByMode, Weight: 0.5}}}},
		{"hybrid is loaded", "local_lora", h, model.Applied{Local: []model.Adapter{h}}},
		{"hybrid is said and becomes the model", "azure", h, model.Applied{Model: "ft:sea", System: "Speak like sea."}},
		{"hybrid is said and becomes a parameter", "lorax", h, model.Applied{Params: []model.AdapterParam{{ID: "served/sea", Weight: 0.5}}, System: "Speak like sea."}},
		{"hybrid without a remote id is only said", "together", bare, model.Applied{System: "Be kind."}},
		{"hybrid without weights is only said", "local_lora", bare, model.Applied{System: "Be kind."}},
		{"hybrid is only said where nothing else goes", "anthropic", h, model.Applied{System: "Speak like sea."}},
		{"no mode is hybrid", "openai", model.Adapter{ID: "o", Weight: 1, Instructions: "Be old."}, model.Applied{System: "Be old."}},
		{"a closed gate", "openai", hybrid("sea", 0), model.Applied{Dropped: []model.Dropped{{ID: "sea", Reason: model.DroppedNoWeight}}}},
		{
			"a remote id of the other style", "together",
			model.Adapter{ID: "r", Mode: model.ModeRemote, RemoteModelID: "ft:r", Weight: 1},
			model.Applied{Dropped: []model.Dropped{{ID: "r", Reason: model.DroppedNotUsable, Weight: 1}}},
		},
		{
			"nothing to apply", "openai",
			model.Adapter{ID: "h", Mode: model.ModeHybrid, Dir: "/h", Weight: 1},
			model.Applied{Dropped: []model.Dropped{{ID: "h", Reason: model.DroppedWithoutUse, Weight: 1}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := model.Apply(backend(t, c.backend), []model.Adapter{c.adapter}); !reflect.DeepEqual(got, c.want) {
				t.Errorf("over %s: %+v, want %+v", c.backend, got, c.want)
			}
		})
	}
}

// Requirements: LORA-09 (lightest first; at most 3 and what the provider takes)
func TestBeyondTheCapTheLightestAdaptersAreDropped(t *testing.T) {
	t.Parallel()
	adapters := []model.Adapter{hybrid("a", 0.2), hybrid("b", 0.9), hybrid("c", 0.2), hybrid("d", 0.6), hybrid("e", 0.1)}
	before := slices.Clone(adapters)
	for name, want := range map[string][]string{
		"openai":   {"e", "c", "a", "d"},
		"lorax":    {"e", "c"}, // takes five, but three is the most anywhere
		"together": {"e", "c"},
	} {
		got := model.Apply(backend(t, name), adapters)
		var dropped []string
		for _, d := range got.Dropped {
			dropped = append(dropped, d.ID)
			if d.Reason != model.DroppedOverCap || d.Weight <= 0 {
				t.Errorf("over %s %s was dropped as %s with %v", name, d.ID, d.Reason, d.Weight)
			}
		}
		if !slices.Equal(dropped, want) {
			t.Errorf("over %s %v were dropped, want %v", name, dropped, want)
		}
	}
	over := model.Apply(backend(t, "lorax"), adapters)
	if want := []model.AdapterParam{{ID: "served/a", Weight: 0.2}, {ID: "served/b", Weight: 0.9}, {ID: "served/d", Weight: 0.6}}; !slices.Equal(over.Params, want) {
		t.Errorf("kept are %v, want %v in their order", over.Params, want)
	}
	if over.System != "Speak like a.\n\nSpeak like b.\n\nSpeak like d." {
		t.Errorf("said is %q", over.System)
	}
	if !reflect.DeepEqual(adapters, before) {
		t.Error("Apply changed its arguments")
	}
}

// An adapter that cannot be used takes no place from one that can.
func TestWhatCannotBeUsedTakesNoPlaceUnderTheCap(t *testing.T) {
	t.Parallel()
	got := model.Apply(backend(t, "openai"), []model.Adapter{
		{ID: "local", Mode: model.ModeLocal, Dir: "/l", Weight: 0.9}, hybrid("sea", 0.1),
	})
	if got.Model != "ft:sea" || len(got.Dropped) != 1 || got.Dropped[0].Reason != model.DroppedByMode {
		t.Errorf("got %+v", got)
	}
}

// A server that serves an adapter as a model of its own is asked for one: the
// heaviest. What the others say is said all the same.
func TestOfSeveralThatAreModelsTheHeaviestIsAskedFor(t *testing.T) {
	t.Parallel()
	remote := model.Adapter{ID: "r", Mode: model.ModeRemote, RemoteModelID: "ft:r", Weight: 0.3}
	got := model.Apply(backend(t, "vllm"), []model.Adapter{hybrid("sea", 0.2), hybrid("law", 0.6), remote})
	want := model.Applied{Model: "ft:law", System: "Speak like sea.\n\nSpeak like law.", Dropped: []model.Dropped{{ID: "r", Reason: model.DroppedOverCap, Weight: 0.3}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// With a folder that it reads too, weights are handed to it.
	if got := model.Apply(backend(t, "vllm").Composing(), []model.Adapter{hybrid("sea", 0.2), remote}); len(got.Local) != 1 || got.Model != "ft:r" || got.System != "" {
		t.Errorf("with weights: %+v", got)
	}
	if backend(t, "vllm").Local() {
		t.Error("a server loads weights by itself")
	}
}
