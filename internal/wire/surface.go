package wire

import (
	"context"
	"fmt"
	"net/http"

	"go.temporal.io/sdk/client"

	"liminal/api"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/learning"
	"liminal/internal/quota"
	"liminal/web"
)

// surface is the API over the platform, with the web client beside it.
func (p *Platform) surface(ctx context.Context, o Options, b *body) (http.Handler, error) {
	key, err := p.store.Secret(ctx, "tokens")
	if err != nil {
		return nil, fmt.Errorf("the key of access tokens: %w", err)
	}
	accounts, err := identity.NewAccounts(p.store, identity.Options{
		Key: key, Access: o.Config.Sessions.Access, Refresh: o.Config.Sessions.Refresh,
	})
	if err != nil {
		return nil, err
	}
	return api.New(api.Options{
		Engine: p.engine, Accounts: accounts,
		Conversations: p.store, Messages: p.store, Runs: p.store, Interrupts: p.store,
		Library: p.library, Files: b.files, Contexts: knowledge.Recording(p.store, b.embedder), Documents: p.store, Chunks: b.index,
		Preferences: learning.NewRecorder(p.store, b.embedder),
		Log:         p.hub, Limits: quota.NewLimits(p.hub), Once: quota.NewOnce(p.store, o.Logger),
		Version: o.Version, Model: api.ModelInfo{Name: o.Model.Name(), Generative: o.Model.Generative()},
		Temporal: temporalUI(o), PublicURL: o.Config.PublicURL, Client: web.Handler(), Logger: o.Logger,
		Checks: p.checks(accounts),
	}), nil
}

// checks are what /healthz asks.
func (p *Platform) checks(accounts *identity.Accounts) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"store": func(ctx context.Context) error {
			_, err := accounts.FirstRun(ctx)
			return err
		},
		"temporal": func(ctx context.Context) error {
			_, err := p.temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		},
	}
}

func temporalUI(o Options) *api.TemporalUI {
	if o.Config.Temporal.UIURL == "" {
		return nil
	}
	return &api.TemporalUI{Base: o.Config.Temporal.UIURL, Namespace: o.Config.Temporal.Namespace}
}
