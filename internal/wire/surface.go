package wire

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"liminal/api"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/learning"
	"liminal/internal/quota"
	"liminal/web"
)

// surface is the API over the platform, with the web client beside it.
func (p *Platform) surface(ctx context.Context, o Options, b *body) error {
	accounts, err := p.accounts(ctx, o)
	if err != nil {
		return err
	}
	p.handler = api.New(api.Options{
		Engine: p.engine, Accounts: accounts, Factors: accounts, Elsewhere: accounts,
		Conversations: p.store, Messages: p.store, Runs: p.store, Interrupts: p.store,
		Preferences: learning.NewRecorder(p.store, b.embedder),
		Library:     p.library, Files: b.files, Contexts: knowledge.Recording(p.store, b.embedder), Documents: p.store, Chunks: p.index,
		Log: p.log, Limits: quota.NewLimits(p.ledger), Once: quota.NewOnce(p.store, o.Logger),
		Version: o.Version, Model: api.ModelInfo{Name: o.Model.Name(), Generative: o.Model.Generative()},
		Temporal: temporalUI(o), PublicURL: o.Config.PublicURL, Client: web.Handler(), Logger: o.Logger,
		Checks: p.checks(accounts),
	})
	p.ops = p.handler
	return nil
}

// accounts signs people up and in.
func (p *Platform) accounts(ctx context.Context, o Options) (*identity.Accounts, error) {
	key, err := p.store.Secret(ctx, "tokens")
	if err != nil {
		return nil, fmt.Errorf("the key of access tokens: %w", err)
	}
	seal, err := p.store.Secret(ctx, "factors")
	if err != nil {
		return nil, fmt.Errorf("the key of second factors: %w", err)
	}
	return identity.NewAccounts(p.store, identity.Options{
		Key: key, Access: o.Config.Sessions.Access, Refresh: o.Config.Sessions.Refresh, Cache: p.cache,
		Tenants: o.Config.Accounts.Tenants, SignUpClosed: o.Config.Accounts.SignUp == "closed",
		Life: func(client, plan string) time.Duration {
			if client == identity.Mobile {
				return quota.PlanOf(plan).Mobile
			}
			return quota.PlanOf(plan).Web
		},
		Factors: p.store, FactorKey: seal, Providers: p.store,
		PublicURL: o.Config.PublicURL, Logger: o.Logger,
	})
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
