package openai_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/openai"
)

func hybrid(id string, weight float64) model.Adapter {
	return model.Adapter{
		ID: id, Mode: model.ModeHybrid, RemoteModelID: "ft:" + id, RemoteID: "served/" + id,
		Dir: "/adapters/" + id, Weight: weight, Instructions: "Speak like " + id + ".",
	}
}

// The same adapters and the same request, over one backend after the other:
// what differs is what the table of 001 §5.0.2 says, and nothing else.
//
// Requirements: LORA-08, LORA-09 (lightest first; at most 3 and what the provider takes), LORA-10 (instructions on an API backend; remote id where supported), LORA-22
func TestABackendChangesHowAdaptersTravelAndNothingElse(t *testing.T) {
	t.Parallel()
	adapters := []model.Adapter{hybrid("sea", 0.6), hybrid("law", 0.3)}
	sea, both := "Be kind.\n\nSpeak like sea.", "Be kind.\n\nSpeak like sea.\n\nSpeak like law."
	ids, weights := []any{"served/sea", "served/law"}, []any{0.6, 0.3}
	for name, want := range map[string]struct {
		model, system string
		params        map[string]any
	}{
		"openai":         {"ft:sea", sea, nil},
		"azure":          {"ft:sea", sea, nil},
		"together":       {"base", both, map[string]any{"adapter_id": ids, "adapter_weights": weights}},
		"adapter_server": {"base", both, map[string]any{"adapter_id": ids, "adapter_weights": weights}},
		"lorax":          {"base", both, map[string]any{"merged_adapters": map[string]any{"ids": ids, "weights": weights, "merge_strategy": "linear"}}},
		"sagemaker":      {"base", sea, map[string]any{"adapter_id": "served/sea"}},
	} {
		s := &server{}
		req := question()
		req.System, req.Adapters = "Be kind.", adapters
		play(t, client(t, s, openai.Options{Model: "base", Backend: backend(t, name)}), req)
		body := s.asked[0].body
		if body["model"] != want.model {
			t.Errorf("%s: the model is %v, want %s", name, body["model"], want.model)
		}
		if got := systemOf(body); got != want.system {
			t.Errorf("%s: the system text is %q, want %q", name, got, want.system)
		}
		for _, field := range []string{"adapter_id", "adapter_weights", "merged_adapters", "lora"} {
			if !reflect.DeepEqual(body[field], want.params[field]) {
				t.Errorf("%s: %s is %v, want %v", name, field, body[field], want.params[field])
			}
		}
		rest := []any{body["tools"], body["messages"].([]any)[1:], body["stream"]}
		if got, _ := json.Marshal(rest); !strings.Contains(string(got), "How is it?") || len(rest[1].([]any)) != 1 {
			t.Errorf("%s: the rest is %s", name, got)
		}
	}
	if a := model.Apply(backend(t, "local_lora"), adapters); len(a.Local) != 2 || a.System != "" || a.Params != nil || a.Dropped != nil {
		t.Errorf("local_lora: %+v, want the weights of both and no words", a)
	}
}

func systemOf(body map[string]any) string {
	first, _ := body["messages"].([]any)[0].(map[string]any)
	if first["role"] != "system" {
		return ""
	}
	return first["content"].(string)
}

// Requirements: LORA-08
func TestOneAdapterTravelsAsItsServerWantsIt(t *testing.T) {
	t.Parallel()
	numbered := hybrid("sea", 0.5)
	numbered.RemoteID = "2"
	for name, c := range map[string]struct {
		options openai.Options
		adapter model.Adapter
		model   string
		want    map[string]any
	}{
		"together":          {openai.Options{Backend: backend(t, "together")}, hybrid("sea", 0.5), "base", map[string]any{"adapter_id": "served/sea", "adapter_weights": []any{0.5}}},
		"lorax":             {openai.Options{Backend: backend(t, "lorax")}, hybrid("sea", 0.5), "served/sea", map[string]any{"adapter_id": "served/sea"}},
		"llamacpp":          {openai.Options{Backend: backend(t, "llamacpp")}, numbered, "base", map[string]any{"lora": []any{map[string]any{"id": 2.0, "scale": 0.5}}}},
		"another parameter": {openai.Options{Backend: backend(t, "adapter_server"), AdapterParam: "lora_name"}, hybrid("sea", 0.5), "base", map[string]any{"lora_name": "served/sea"}},
	} {
		s := &server{}
		c.options.Model = "base"
		req := question()
		req.Adapters = []model.Adapter{c.adapter}
		play(t, client(t, s, c.options), req)
		body := s.asked[0].body
		if body["model"] != c.model {
			t.Errorf("%s: the model is %v, want %s", name, body["model"], c.model)
		}
		for field, want := range c.want {
			if !reflect.DeepEqual(body[field], want) {
				t.Errorf("%s: %s is %v, want %v", name, field, body[field], want)
			}
		}
	}
}

// Requirements: LORA-09 (logged)
func TestADroppedAdapterIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := client(t, &server{}, openai.Options{Model: "base", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	req := question()
	req.Adapters = []model.Adapter{hybrid("sea", 0.6), hybrid("law", 0.3), {ID: "old", Mode: model.ModeLocal, Dir: "/old", Weight: 1}}
	play(t, m, req)
	for _, want := range []string{
		"msg=adapter_dropped adapter=old reason=adapter_filtered_by_mode weight=1", "msg=adapter_dropped adapter=law reason=over_cap weight=0.3",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	log.Reset()
	llama := client(t, &server{}, openai.Options{Backend: backend(t, "llamacpp"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	req.Adapters = req.Adapters[:1]
	play(t, llama, req)
	if !strings.Contains(log.String(), "adapter=served/sea reason=no_remote_id") {
		t.Errorf("an adapter without a number is dropped without a word:\n%s", log.String())
	}
}
