package main

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/config"
	"liminal/internal/embed/bert"
	"liminal/internal/lora/kernels"
	"liminal/internal/lora/serve"
	"liminal/internal/model/openai"
	"liminal/internal/model/probe"
	"liminal/internal/wire"
)

// checkAnswers looks at what answers: a model of this process, or a server.
func checkAnswers(ctx context.Context, conf config.Config) finding {
	if conf.Model.Backend != "local_lora" {
		return checkModel(ctx, conf.Model)
	}
	f := finding{Check: "language model", Health: well}
	dir, err := wire.LocalModel(conf)
	if err == nil && dir == "" {
		f.Health, f.Says = ill, "there is none in "+conf.ModelsDir()+": everything works but answers"
		f.Hint = "put the folder of one there, or make a small one with: liminald models make"
		return f
	}
	var open *serve.Folder
	if err == nil {
		open, err = serve.Open(dir)
	}
	if err != nil {
		f.Health, f.Says = ill, err.Error()
		f.Hint = "liminald models list shows what is there"
		return f
	}
	f.Says = fmt.Sprintf("%s in this process: %s parameters, reads %d tokens, computes with %s", open.Name, rounded(open.Model.Parameters()), open.Model.Context, kernels.Current())
	if err := open.Model.Close(); err != nil {
		f.Health, f.Hint = warning, err.Error()
	}
	return f
}

func checkModel(ctx context.Context, m config.Model) finding {
	f := finding{Check: "language model", Health: well}
	switch {
	case m.Backend == "extractive":
		f.Says = "none is configured: answers are quoted from documents and tool results, nothing is generated"
		f.Hint = offer(ctx, m)
	case m.Backend == "scripted":
		f.Health, f.Says = warning, "plays the script "+m.Script
		f.Hint = "meant for tests; unset MODEL_BACKEND to answer from documents"
	case m.MissingKey() != "":
		f.Health, f.Says = ill, m.Backend+" has no key: everything works but answers"
		f.Hint = "set " + m.MissingKey() + ", or unset MODEL_BACKEND to answer from documents"
	case m.Backend == "ollama":
		return checkOllama(ctx, m)
	default:
		return askModel(ctx, m)
	}
	return f
}

// checkOllama looks whether the model that is named is installed.
func checkOllama(ctx context.Context, m config.Model) finding {
	f := finding{Check: "language model", Health: well, Says: fmt.Sprintf("%s in the Ollama at %s", m.Name, m.OpenAIServer())}
	models, err := openai.Detect(ctx, m.OpenAIServer())
	switch {
	case err != nil:
		f.Health, f.Says, f.unreachable = ill, err.Error(), true
		f.Hint = "start it with: ollama serve"
	case !installed(models, m.Name):
		f.Health, f.Says = ill, fmt.Sprintf("the Ollama at %s does not have %s", m.OpenAIServer(), m.Name)
		f.Hint = "ollama pull " + m.Name + ", or set LIMINAL_MODEL to one of " + probe.First(models)
	}
	return f
}

// installed reports whether models hold name, which may leave out ":latest".
func installed(models []string, name string) bool {
	for _, m := range models {
		if m == name || strings.TrimSuffix(m, ":latest") == name {
			return true
		}
	}
	return false
}

// offer names what could answer on this machine. It is offered, never used
// unasked.
func offer(ctx context.Context, m config.Model) string {
	switch models, err := openai.Detect(ctx, ""); {
	case err == nil && len(models) > 0:
		return fmt.Sprintf("an Ollama on this machine has %s: MODEL_BACKEND=ollama LIMINAL_MODEL=%s uses it", probe.First(models), models[0])
	case m.AnthropicKey != "":
		return "ANTHROPIC_API_KEY is set: MODEL_BACKEND=anthropic uses it"
	case m.OpenAIKey != "":
		return "OPENAI_API_KEY is set: MODEL_BACKEND=openai uses it"
	}
	return "docs/models.md says how to configure one"
}

func checkEncoder(conf config.Config) finding {
	f := finding{Check: "vectors", Health: well}
	e, err := wire.Encoder(conf)
	if err != nil {
		f.Health, f.Says = ill, err.Error()
		f.Hint = "see LIMINAL_EMBEDDER in: liminald help environment"
		return f
	}
	f.Says = e.Version()
	if e.Version() == "hash-v1" {
		f.Says += ": it knows words and no meaning"
		f.Hint = "a static model below " + conf.ModelsDir() + ", or an embedding server, knows more; docs/models.md says how"
	}
	return f
}

// checkReranker says whether quotes are compared with questions by meaning, and
// where the model for it comes from.
func checkReranker(conf config.Config) finding {
	f := finding{Check: "meaning of quotes", Health: off}
	path, there := wire.RerankerFile(conf)
	switch {
	case conf.Model.Reranker == "off":
		f.Says = "LIMINAL_RERANKER=off: the words of a question decide"
	case !there:
		f.Says = "the words of a question decide: an answer in other words is often missed"
		if !bert.Quick() {
			return f // the model would not help here
		}
		f.Hint = fmt.Sprintf("scripts/reranker.sh puts %s (%s, %d MB) at %s; docs/models.md says what it is", bert.MiniLM.Name, bert.MiniLM.Coordinates, bert.MiniLM.Bytes/1_000_000, path)
	case !bert.Quick():
		f.Health, f.Says = warning, "the words of a question decide: this processor has no AVX2, without which comparing by meaning takes seconds"
	default:
		m, err := bert.MiniLM.Open(path)
		if err != nil {
			f.Health, f.Says, f.Hint = ill, err.Error(), "remove it, or fetch it again with scripts/reranker.sh"
			return f
		}
		f.Health, f.Says = well, "compared by "+m.Version()
	}
	return f
}

func checkWeb(w config.Web) finding {
	f := finding{Check: "web", Health: off, Says: "tools fetch nothing and search nothing"}
	var may []string
	if len(w.Allow) > 0 {
		may = append(may, "fetch from "+strings.Join(w.Allow, ", "))
	}
	switch { // as wire chooses
	case w.TavilyKey != "":
		may = append(may, "search with Tavily")
	case w.BraveKey != "":
		may = append(may, "search with Brave")
	case w.SearXNG != "":
		may = append(may, "search with the SearXNG at "+w.SearXNG)
	}
	if len(may) > 0 {
		f.Health, f.Says = well, "tools may "+strings.Join(may, " and ")
	}
	return f
}

func checkSpeech(s config.Speech) finding {
	f := finding{Check: "speech", Health: off, Says: "nobody listens and nobody speaks: the client has no microphone and no loudspeaker"}
	var may []string
	if at := s.Transcriber.URL; at != "" {
		may = append(may, "recordings become text at "+at)
	}
	if at := s.Speaker.URL; at != "" {
		may = append(may, "texts are spoken at "+at)
	}
	if len(may) > 0 {
		f.Health, f.Says = well, strings.Join(may, ", and ")
	}
	return f
}
