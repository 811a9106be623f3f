package bench

import (
	"cmp"
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
	"liminal/internal/model"
	"liminal/internal/quota"
	"liminal/internal/run"
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
	conf      config.Config
	version   string
	model     model.Model       // what the platform was opened with
	temporal  *devserver.Server // nil when the engine is somebody else's
	address   string            // of the engine's frontend
	namespace string
	platform  *wire.Platform
	handler   http.Handler
	log       stream.Log
	engine    engine
	people    []identity.Viewer
}

// engine is what the benchmark asks of the platform.
type engine interface {
	Chat(ctx context.Context, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error)
	Answer(ctx context.Context, v identity.Viewer, interruptID string, a run.Answer) (run.Interrupt, error)
}

// build starts a platform on what conf names, or on an empty folder.
func build(ctx context.Context, conf config.Config, dir, version string) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(context.WithoutCancel(ctx)))
		}
	}()
	if conf.Production() {
		conf.Data = dir // files only
		h.address, h.namespace = conf.Temporal.Address, conf.Temporal.Namespace
	} else if conf, err = h.embed(ctx, dir); err != nil {
		return h, err
	}
	h.conf, h.version = conf, version
	if err = h.open(ctx, nil); err != nil {
		return h, err
	}
	if some, err := h.platform.Store().Accounts(ctx); err != nil || some {
		return h, cmp.Or(err, errors.New("the database holds accounts; a benchmark needs one of its own, fresh from liminald migrate"))
	}
	return h, h.populate(ctx)
}

// open starts the platform with a model; nil: the default's.
func (h *house) open(ctx context.Context, m model.Model) (err error) {
	h.model = m
	h.platform, err = wire.Open(ctx, wire.Options{
		Config: h.conf, Logger: slog.New(slog.DiscardHandler), Temporal: h.address, Version: h.version,
		Tools: []tool.Tool{noop{}}, Specs: []tool.Spec{noopSpec()}, Model: m,
	})
	if err != nil {
		return err
	}
	h.handler, h.log, h.engine = h.platform.Handler(), h.platform.Log(), h.platform.Engine()
	return h.platform.StartWorker(ctx)
}

// speakBy opens the platform anew, where another model is to answer than before.
func (h *house) speakBy(ctx context.Context, m model.Model) error {
	if m == h.model {
		return nil
	}
	err := h.platform.Close(ctx)
	h.platform = nil
	if err != nil {
		return err
	}
	return h.open(ctx, m)
}

// embed starts an engine on the folder.
func (h *house) embed(ctx context.Context, dir string) (config.Config, error) {
	conf, err := config.Load(nil, map[string]string{"data": dir, "temporal": "127.0.0.1:0", "temporal-ui": "127.0.0.1:0"})
	if err != nil {
		return conf, err
	}
	h.temporal, err = devserver.Start(ctx, devserver.Options{
		Dir: conf.TemporalDir(), Frontend: conf.Temporal.Listen, UI: conf.Temporal.UI,
	})
	if err != nil {
		return conf, err
	}
	h.address, h.namespace = h.temporal.Address(), h.temporal.Namespace()
	return conf, nil
}

// populate makes the accounts and the workflows that are measured.
func (h *house) populate(ctx context.Context) error {
	store := h.platform.Store()
	for n := range people {
		u, err := store.CreateUser(ctx, identity.User{
			ID: id.New(), Email: fmt.Sprintf("bench%d@liminal.invalid", n), Handle: fmt.Sprintf("bench%d", n),
			Role: identity.RoleUser, Plan: quota.Paid, Active: true, Locale: "en",
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
