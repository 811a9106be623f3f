package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/config"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/sqlite"
	"liminal/internal/store"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/wire"
	"liminal/internal/wire/devserver"
)

// people is how many take part. Each may have a few turns under way at once,
// and 64 hands must never wait for that limit.
const people = 256

// house is a platform of the benchmark's own, complete and embedded.
type house struct {
	conf     config.Config
	temporal *devserver.Server
	platform *wire.Platform
	handler  http.Handler
	log      stream.Log
	engine   engine
	beside   *sqlite.DB // the platform's own file, opened once more
	people   []identity.Viewer
}

// engine is what the benchmark asks of the platform.
type engine interface {
	Chat(ctx context.Context, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error)
	Answer(ctx context.Context, v identity.Viewer, interruptID string, a run.Answer) (run.Interrupt, error)
}

// build starts a platform on an empty folder.
func build(ctx context.Context, dir, version string) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(context.WithoutCancel(ctx)))
		}
	}()
	if h.conf, err = config.Load(nil, map[string]string{"data": dir, "temporal": "127.0.0.1:0", "temporal-ui": "127.0.0.1:0"}); err != nil {
		return h, err
	}
	h.temporal, err = devserver.Start(ctx, devserver.Options{
		Dir: h.conf.TemporalDir(), Frontend: h.conf.Temporal.Listen, UI: h.conf.Temporal.UI,
	})
	if err != nil {
		return h, err
	}
	h.platform, err = wire.Open(ctx, wire.Options{
		Config: h.conf, Logger: slog.New(slog.DiscardHandler), Temporal: h.temporal.Address(), Version: version,
		Tools: []tool.Tool{noop{}}, Specs: []tool.Spec{noopSpec()}, Model: metronome{},
	})
	if err != nil {
		return h, err
	}
	if err = h.platform.StartWorker(ctx); err != nil {
		return h, err
	}
	h.handler, h.log, h.engine = h.platform.Handler(), h.platform.Log(), h.platform.Engine()
	if h.beside, err = sqlite.Open(ctx, h.conf.StoreFile(), sqlite.Options{}); err != nil {
		return h, err
	}
	return h, h.populate(ctx)
}

// populate makes the accounts and the workflows that are measured.
func (h *house) populate(ctx context.Context) error {
	shelf := store.New(h.beside, store.Options{})
	for n := range people {
		u, err := shelf.CreateUser(ctx, identity.User{
			ID: id.New(), Email: fmt.Sprintf("bench%d@liminal.invalid", n), Handle: fmt.Sprintf("bench%d", n),
			Role: identity.RoleUser, Plan: "free", Active: true, Locale: "en",
		}, identity.Credential{Hash: "none", Algorithm: "none"})
		if err != nil {
			return err
		}
		h.people = append(h.people, u.Viewer(""))
	}
	for name, doc := range workflowDocuments() {
		_, err := h.platform.Library().Create(ctx, identity.System(), artifacts.Draft{
			Type: artifacts.KindWorkflow, Name: name, Visibility: artifacts.Global, Schema: []byte(doc),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *house) close(ctx context.Context) error {
	var errs []error
	if h.beside != nil {
		errs = append(errs, h.beside.Close())
	}
	if h.platform != nil {
		errs = append(errs, h.platform.Close(ctx))
	}
	if h.temporal != nil {
		errs = append(errs, h.temporal.Stop())
	}
	return errors.Join(errs...)
}

// person of a call: consecutive calls are different people.
func (h *house) person(n int) identity.Viewer {
	return h.people[((n%people)+people)%people]
}
