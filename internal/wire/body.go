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
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/quota"
	"liminal/internal/routing"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// body is what stands on the stores: files, knowledge, tools.
type body struct {
	messages chat.Messages // with what hot conversations said last in the cache (DATA-12)
	turns    chat.Turns
	threads  chat.Conversations // which take their memories with them
	memories *artifacts.Memories
	feedback *learning.Recorder
	embedder embed.Embedder
	files    *files.Roots
	reading  *knowledge.Library
	parsers  *knowledge.Parsers
	box      *tool.Box
	router   activities.Router
	safety   judge // nil: nobody looks
	desk     *changes.Desk
}

// furnish opens files, knowledge and tools, and seeds the library.
func (p *Platform) furnish(ctx context.Context, o Options) (*body, error) {
	key, err := p.store.Secret(ctx, "links")
	if err != nil {
		return nil, fmt.Errorf("the key of download links: %w", err)
	}
	encoder, err := theEncoder(o.Config, o.Logger)
	if err != nil {
		return nil, err
	}
	recent := chat.NewRecent(p.store, p.cache, o.Logger)
	b := &body{
		messages: recent, turns: recent.Turns(p.store), threads: recent.Conversations(p.store),
		embedder: encoder, parsers: o.parsers(),
	}
	if b.files, err = files.OpenRoots(usersDir(o.Config), p.store, key); err != nil {
		return nil, err
	}
	p.closes("people's files", b.files.Close)
	b.reading = knowledge.NewLibrary(knowledge.Options{
		Contexts: p.store, Documents: p.store, Index: p.index, Embedder: b.embedder, Former: formers(encoder), Parsers: b.parsers,
		K: o.Config.RAG.TopK, High: o.Config.RAG.High, Medium: o.Config.RAG.Low, Logger: o.Logger,
		FileBytes: func(v identity.Viewer) int64 { return quota.PlanOf(v.Plan).FileBytes },
	})
	p.closes("the parsers of documents", b.reading.Close)
	if err := p.shelve(ctx, o); err != nil {
		return nil, err
	}
	b.files.Accept(p.library.Readable)
	b.feedback = learning.NewRecorder(p.store, encoder).Changed(recent.Forget)
	b.memories = artifacts.NewMemories(p.library, p.store)
	b.threads = b.memories.Conversations(b.threads)
	if b.safety, err = p.judge(ctx, o); err != nil {
		return nil, err
	}
	b.desk = p.desk(o, b)
	parts, err := p.parts(o, b)
	if err != nil {
		return nil, err
	}
	tools := builtin.Tools(parts)
	b.box, err = tool.NewBox(append(tools, o.Tools...), tool.Options{
		Logger: o.Logger, Breakers: p.breakers, Decodes: p.decodes,
	})
	backend, _ := model.BackendOf(o.Config.Model.Backend) // theModel has refused what is not known
	router := activities.NewRouter(p.library, routing.Backend{Modes: backend.Modes, Max: backend.Max}, o.Logger)
	router.Remember(p.cache)
	b.router = router
	return b, err
}

// parsers read documents, in processes of their own where there is a program
// for that.
func (o Options) parsers() *knowledge.Parsers {
	if o.Readers.Path == "" {
		return knowledge.NewParsers()
	}
	return knowledge.ConfinedParsers(o.Readers, filepath.Join(o.Config.Data, "cache", "readers"))
}

// parts are what the built-in tools work with.
func (p *Platform) parts(o Options, b *body) (builtin.Parts, error) {
	parts := builtin.Parts{
		Model: o.Model, History: b.messages, Memories: b.memories, Search: b.reading, Intake: b.reading, Files: b.files, Catalog: p.library,
		Titles: p.store, Sets: p.store, MaxDecode: maxDecode, Rerank: b.reranker(o.Specs), Desk: b.desk,
		Feedback: overheard{b.feedback, p.metrics},
	}
	var err error
	if parts.Architect, err = p.architect(o, b.desk); err != nil {
		return parts, err
	}
	web, err := theWeb(o.Config.Web, b.parsers)
	if err != nil {
		return parts, err
	}
	if web != nil {
		parts.Web = web
	}
	if b.safety != nil {
		parts.Safety = b.safety
	}
	parts.WebSearch, err = theSearch(o.Config.Web)
	return parts, err
}

// overheard counts what people say of answers in passing, as the API counts
// what they say on purpose (PREF-06).
type overheard struct {
	*learning.Recorder
	metrics *telemetry.Metrics
}

func (o overheard) Record(ctx context.Context, v identity.Viewer, f learning.Feedback) (learning.Event, error) {
	e, err := o.Recorder.Record(ctx, v, f)
	if err == nil {
		o.metrics.Preference(e.Signal)
	}
	return e, err
}

// reranker calls the reranking tool among specs; nil when there is none
// (RAG-12).
func (b *body) reranker(specs []tool.Spec) builtin.Reranker {
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
		out, err := b.box.Call(ctx, specs[at], &call)
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

// shelve makes the library and writes the defaults it lacks (ART-10). Every
// version is also a file below artifacts/ (DATA-15).
func (p *Platform) shelve(ctx context.Context, o Options) error {
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
func maxDecode(plan string) time.Duration { return quota.PlanOf(plan).MaxDecode }

// describe puts the API itself on the shelf, for models that read about it;
// nobody calls it that way (API-11).
func (p *Platform) describe() error {
	specs, err := api.Specs()
	if err != nil {
		return fmt.Errorf("describing the API: %w", err)
	}
	p.library.Describe(specs)
	return nil
}
