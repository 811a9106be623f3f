package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"liminal/activities"
	"liminal/api"
	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/routing"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/training"
)

// services are what works over the backends: files, knowledge, tools.
type services struct {
	messages chat.Messages // with what hot conversations said last in the cache (DATA-12)
	turns    chat.Turns
	threads  chat.Conversations // which take their memories with them
	memories *artifacts.Memories
	feedback *learning.Recorder
	embedder embed.Embedder
	files    *files.Roots
	reading  *knowledge.Library
	parsers  *extract.Parsers
	box      *tool.Box
	router   activities.Router
	safety   judge // nil: nobody looks
	desk     *changes.Desk
	learning *adaptation.Steps
	training *training.Steps
}

// buildServices opens files, knowledge and tools, and seeds the library.
func (p *Platform) buildServices(ctx context.Context, o Options) (*services, error) {
	key, err := p.store.Secret(ctx, "links")
	if err != nil {
		return nil, fmt.Errorf("the key of download links: %w", err)
	}
	encoder, err := theEncoder(o.Config, o.Logger)
	if err != nil {
		return nil, err
	}
	history := chat.NewHistoryCache(p.store, p.cache, o.Logger)
	svc := &services{
		messages: history, turns: history.Turns(p.store), threads: history.Conversations(p.store),
		embedder: encoder, parsers: o.parsers(),
	}
	if svc.files, err = files.OpenRoots(usersDir(o.Config), p.store, key); err != nil {
		return nil, err
	}
	p.closes("people's files", svc.files.Close)
	svc.reading = knowledge.NewLibrary(knowledge.Options{
		Contexts: p.store, Documents: p.store, Index: p.index, Embedder: svc.embedder, Former: formers(encoder), Parsers: svc.parsers,
		K: o.Config.RAG.TopK, High: o.Config.RAG.High, Medium: o.Config.RAG.Low, Logger: o.Logger,
		FileBytes: func(v identity.Viewer) int64 { return p.plans.Of(v).MaxFileBytes },
	})
	p.closes("the parsers of documents", svc.reading.Close)
	if err := p.openLibrary(ctx, o); err != nil {
		return nil, err
	}
	if err := p.openSpeech(o.Config.Speech); err != nil {
		return nil, err
	}
	svc.files.Accept(p.readable)
	svc.feedback = learning.NewRecorder(p.store, encoder).Changed(history.Forget)
	svc.memories = artifacts.NewMemories(p.library, p.store)
	svc.threads = svc.memories.Conversations(svc.threads)
	if svc.safety, err = p.judge(ctx, o); err != nil {
		return nil, err
	}
	svc.desk = p.desk(o, svc)
	if svc.learning, err = p.adapt(o, svc); err != nil {
		return nil, err
	}
	if svc.training, err = p.trains(o, svc); err != nil {
		return nil, err
	}
	parts, err := p.parts(ctx, o, svc)
	if err != nil {
		return nil, err
	}
	tools := builtin.Tools(parts)
	svc.box, err = tool.NewBox(append(tools, o.Tools...), tool.Options{
		Logger: o.Logger, Breakers: p.breakers, Decodes: p.decodes, Backend: answering(o),
	})
	backend := takesOf(o.Config)
	router := activities.NewRouter(p.library, routing.Backend{Modes: backend.Modes, Max: backend.Max}, o.Logger)
	router.Remember(p.cache)
	router.Learn(svc.learning)
	svc.router = router
	return svc, err
}

// answering names the server that answers as the model; empty: this process
// does.
func answering(o Options) string {
	if model.IsInProcess(o.Model) {
		return ""
	}
	return o.Config.Model.Backend
}

// parsers read documents, in processes of their own where there is a program
// for that.
func (o Options) parsers() *extract.Parsers {
	if o.Readers.Path == "" {
		return extract.New()
	}
	return extract.NewConfined(o.Readers, filepath.Join(o.Config.Data, "cache", "readers"), o.Logger)
}

// parts are what the built-in tools work with.
func (p *Platform) parts(ctx context.Context, o Options, svc *services) (builtin.Parts, error) {
	parts := builtin.Parts{
		Model: o.Model, History: svc.messages, Memories: svc.memories, Search: svc.reading, Progress: svc.reading, Intake: svc.reading, Files: svc.files, Plans: p.plans, Catalog: p.library,
		Titles: p.store, Sets: p.store, MaxDecode: p.maxDecode, Silence: o.Config.Model.Silence, MaxTokens: o.Config.Model.AnswerTokens, Rerank: svc.reranker(o.Specs), Desk: svc.desk,
		Feedback: countedFeedback{svc.feedback, p.metrics}, Learning: svc.learning, Training: svc.training, Palace: p.palace,
	}
	var err error
	if parts.Architect, err = p.architect(o, svc.desk); err != nil {
		return parts, err
	}
	if p.sources, err = p.openSources(ctx, o); err != nil {
		return parts, err
	}
	parts.Sources, parts.People, parts.Secrets = p.sources, p.sources, p.sources
	web, err := theWeb(o.Config.Web, svc.parsers)
	if err != nil {
		return parts, err
	}
	if web != nil {
		parts.Web, parts.Servers = web, web
	}
	if p.connections, err = p.openConnections(ctx, o, web); err != nil {
		return parts, err
	}
	parts.Connections = p.connections
	if err := p.openMCP(o, svc, web, &parts); err != nil {
		return parts, err
	}
	if err := p.openWebhooks(ctx, o, web); err != nil {
		return parts, err
	}
	p.openClients(o, web)
	if svc.safety != nil {
		parts.Safety = svc.safety
	}
	if parts.WebSearch, err = theSearch(o.Config.Web); err != nil {
		return parts, err
	}
	// A nil pointer in an interface is not nil.
	if p.transcriber != nil {
		parts.Transcriber = p.transcriber
	}
	if p.speaker != nil {
		parts.Speaker, parts.Voices = p.speaker, voices{p.store}
	}
	return parts, nil
}

// countedFeedback counts what people say of answers in passing, as the API counts
// what they say on purpose (PREF-06).
type countedFeedback struct {
	*learning.Recorder
	metrics *telemetry.Metrics
}

func (o countedFeedback) Record(ctx context.Context, v identity.Viewer, f learning.Feedback) (learning.Event, error) {
	e, err := o.Recorder.Record(ctx, v, f)
	if err == nil {
		o.metrics.Preference(e.Signal)
	}
	return e, err
}

// reranker calls the reranking tool among specs; nil when there is none
// (RAG-12).
func (svc *services) reranker(specs []tool.Spec) builtin.Reranker {
	at := slices.IndexFunc(specs, func(s tool.Spec) bool { return s.Name == builtin.RerankTool })
	if at < 0 {
		return nil
	}
	return func(ctx context.Context, c *tool.Call, question string, passages []string) ([]float64, error) {
		texts := make([]any, len(passages))
		for i, p := range passages {
			texts[i] = p
		}
		call := *c
		call.Inputs = map[string]any{"question": question, "passages": texts}
		out, err := svc.box.Call(ctx, specs[at], &call)
		if err != nil {
			return nil, err
		}
		var scores []float64
		list, _ := out["scores"].([]any)
		for _, s := range list {
			score, _ := s.(float64)
			scores = append(scores, score)
		}
		return scores, nil
	}
}

// openLibrary makes the library and writes the defaults it lacks (ART-10). Every
// version is also a file below artifacts/ (DATA-15).
func (p *Platform) openLibrary(ctx context.Context, o Options) error {
	specs, err := builtin.Specs()
	if err != nil {
		return err
	}
	dir := filepath.Join(o.Config.Data, "artifacts")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("the folder of artifacts cannot be made: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the folder of artifacts cannot be opened: %w", err)
	}
	p.closes("the folder of artifacts", root.Close)
	p.library = artifacts.NewLibrary(p.store, append(specs, o.Specs...))
	p.palace = p.palaceLibrary()
	p.library.AdapterMode(o.Config.AdapterMode)
	p.library.Mirror(artifacts.NewFolder(root), o.Logger)
	if err := p.describe(); err != nil {
		return err
	}
	if err := p.library.Seed(ctx); err != nil {
		return fmt.Errorf("writing the default artifacts: %w", err)
	}
	return nil
}

// maxDecode is how long one answer may be written for, by plan (STREAM-09).
func (p *Platform) maxDecode(plan string) time.Duration { return p.plans.Named(plan).MaxDecode }

// describe puts the API itself in the library, for models that read about it;
// nobody calls it that way (API-11).
func (p *Platform) describe() error {
	specs, err := api.Specs()
	if err != nil {
		return fmt.Errorf("describing the API: %w", err)
	}
	p.library.Describe(specs)
	return nil
}
