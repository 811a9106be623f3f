package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"path/filepath"
	"sync"
	"time"

	"liminal/internal/config"
	"liminal/internal/lora/remote"
	"liminal/internal/model"
	"liminal/internal/poll"
)

// sweepComposed is how often what was made of adapters that are gone is looked
// for: erasure promises that files go within ten minutes.
const sweepComposed = 5 * time.Minute

// Composed is a model whose server is handed adapters that were made here, with
// the store they are kept in; nil: the settings name no folder for them, or the
// server takes none.
func Composed(c config.Config, m model.Model, s RemoteServer, store *remote.Store, log *slog.Logger) *remote.Model {
	if c.Adapters.Dir == "" || !remote.Takes(s.Backend) {
		return nil
	}
	row, _ := model.BackendOf(s.Backend)
	return remote.New(remote.Options{
		Model: m, Backend: row, Server: remote.Server{URL: s.URL, Key: s.Key, HTTP: s.HTTP}, Name: s.Model, Base: servedBase(c, s.Model), Root: c.Data,
		Store: store, ServerDir: c.Adapters.ServerDir, Told: c.Adapters.Load == "api", MaxRank: c.Adapters.MaxRank, Asked: s.Asked, Logger: log,
	})
}

// servedBase is the folder of the model that a server serves by a name; empty:
// the settings do not say.
func servedBase(c config.Config, name string) string {
	base := c.Adapters.Base
	if base == "" {
		base = path.Base(name)
	}
	if base == "" || base == "." || base == "/" {
		return ""
	}
	return filepath.Join(c.ModelsDir(), base)
}

// RemoteServer is a model's server.
type RemoteServer struct {
	Backend, URL, Key, Model string
	HTTP                     *http.Client   // nil: one of its own
	Asked                    func(hit bool) // hears of each composed adapter whether it was there; nil: nobody
}

// ComposedStore opens the folder of composed adapters.
func ComposedStore(c config.Config, log *slog.Logger) (*remote.Store, error) {
	store, err := remote.OpenStore(remote.StoreOptions{Dir: c.Adapters.Dir, Root: c.Data, Keep: c.Adapters.Keep, Log: log})
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_LORA_DIR=%s cannot be used: %w", c.Adapters.Dir, err)
	}
	return store, nil
}

// composing is the folder of composed adapters, which all servers share.
type composing struct {
	sync.Once
	store *remote.Store
	err   error
}

// composes has the server of a model be handed adapters, where the settings and
// the server allow for it.
func (p *Platform) composes(o Options, m model.Model, s RemoteServer) (model.Model, error) {
	if o.Config.Adapters.Dir == "" || !remote.Takes(s.Backend) {
		return m, nil
	}
	first := false
	p.composing.Do(func() {
		p.composing.store, p.composing.err = ComposedStore(o.Config, o.Logger)
		first = p.composing.err == nil
	})
	if p.composing.err != nil {
		return nil, p.composing.err
	}
	s.Asked = func(hit bool) { p.metrics.AdapterRead(hit) }
	one := Composed(o.Config, m, s, p.composing.store, o.Logger)
	if first {
		stop := poll.Every(context.Background(), sweepComposed, func(ctx context.Context) {
			if err := one.Sweep(ctx); err != nil {
				o.Logger.WarnContext(ctx, "composed adapters were not looked through", "error", err)
			}
		})
		p.closes("composed adapters", func() error { stop(); return one.Close() })
	}
	return one, nil
}

// takesOf is what the router is told of the backend of the settings: with a folder
// for composed adapters it takes weights too.
func takesOf(c config.Config) model.Backend {
	b, _ := model.BackendOf(c.Model.Backend) // theModel has refused what is not known
	if c.Adapters.Dir != "" && remote.Takes(c.Model.Backend) {
		return b.Composing()
	}
	return b
}
