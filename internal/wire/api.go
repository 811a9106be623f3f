package wire

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"liminal/api"
	"liminal/internal/config"
	"liminal/internal/identity"
	"liminal/internal/insights"
	"liminal/internal/knowledge"
	"liminal/internal/mail"
	"liminal/internal/oauth"
	"liminal/internal/origin"
	"liminal/internal/quota"
	"liminal/internal/telemetry"
	"liminal/internal/vault"
	"liminal/web"
)

// buildAPI makes the API over the platform, with the web client beside it.
func (p *Platform) buildAPI(ctx context.Context, o Options, svc *services) error {
	accounts, err := p.accounts(ctx, o, svc)
	if err != nil {
		return err
	}
	p.closes("mails under way", accounts.Close)
	elsewhere, err := p.providers(o)
	if err != nil {
		return err
	}
	if err := p.setUp(ctx); err != nil {
		return err
	}
	p.vitals = telemetry.NewVitals(telemetry.VitalsOptions{
		Version: o.Version, Checks: p.checks(o), Needed: []string{"store"}, Gate: p.ready.Load, Logger: o.Logger,
	})
	sealed, err := p.protocolVault(ctx)
	if err != nil {
		return err
	}
	p.metrics.Watch(p.store.Figures)
	p.handler = p.measurable(api.New(api.Options{
		IdentityOptions: api.IdentityOptions{
			SignIns: accounts, Devices: accounts, Passwords: accounts, People: accounts, Administration: accounts, Factors: accounts, Keys: accounts, Grants: accounts, Clients: p.clients,
			Elsewhere: accounts, Providers: elsewhere, WebhookMail: accounts, SetupWord: p.setupWord,
		},
		ChatOptions: api.ChatOptions{
			Engine: p.engine, Conversations: svc.threads, Messages: p.store, Runs: p.store, Interrupts: p.store, Continuations: p.store, Items: p.store, Log: p.log,
			Preferences: svc.feedback, Insights: insights.NewReader(p.store, insights.Options{Wordless: o.Config.Changes.Redacted}),
			Configured: p.configured(o.Model),
		},
		BehaviourOptions: api.BehaviourOptions{
			Artifacts: p.library, Shapes: p.library, Proposals: svc.desk, Decisions: svc.desk, Recordings: p.store, DataSources: sourceAdmin{p.sources, p.library, p.surfaces}, Surfaces: p.surfaces, SurfaceTurns: p.store,
			Connections: connectionAdmin{p.connections, p.sources.secrets, p.library}, Webhooks: p.webhooks, Palace: p.palace,
		},
		KnowledgeOptions: api.KnowledgeOptions{
			Files: svc.files, Contexts: knowledge.Recording(p.store, svc.embedder), Sources: p.store, Documents: p.store,
			Titles: p.store, Sets: p.store, Chunks: p.index, Shares: p.store, Finder: p.store,
		},
		LearningOptions: p.learningOptions(o, svc),
		QuotaOptions: api.QuotaOptions{
			Limits: quota.NewLimits(p.ledger), Once: quota.NewOnce(p.store, o.Logger), Budgets: p.budgets(), Plans: p.plans,
			Intake: quota.Intake{
				Documents: o.Config.Uploads.Documents, Bytes: int64(o.Config.Uploads.Megabytes) << 20, PerMinute: o.Config.Uploads.PerMinute,
			},
		},
		SpeechOptions: p.speechOptions(),
		SiteOptions: api.SiteOptions{
			Version: o.Version, Model: api.ModelInfo{Name: o.Model.Name(), Generative: o.Model.Generative()}, Backends: p.registry, Environment: environment(o),
			WebSearch: searches(o.Config.Web), Temporal: temporalUI(o), PublicURL: o.Config.PublicURL, Pages: pages(o), Client: web.Handler(api.Arrives), Sealed: sealed,
		},
		TelemetryOptions: api.TelemetryOptions{
			Logger: o.Logger, Metrics: p.metrics, Traces: p.traces, Vitals: p.vitals, Payloads: o.Config.Log.Payloads,
		},
		Redacted: o.Config.Changes.Redacted,
	}))
	p.ops = telemetry.Ops(p.vitals, p.metrics)
	return nil
}

// protocolVault seals what clients of protocols hold for us between two calls, the
// same in every process.
func (p *Platform) protocolVault(ctx context.Context) (*vault.Vault, error) {
	key, err := p.store.Secret(ctx, "protocols")
	if err != nil {
		return nil, fmt.Errorf("the key of what clients hold: %w", err)
	}
	return vault.New(key, "liminal protocols")
}

// setUp makes the word that the first account asks for.
func (p *Platform) setUp(ctx context.Context) error {
	secret, err := p.store.Secret(ctx, "setup")
	if err != nil {
		return fmt.Errorf("the secret of the setup word: %w", err)
	}
	p.setupWord = identity.SetupWord(secret)
	return nil
}

// SetupWord is what the first account asks for that is made from elsewhere;
// empty when there is an account.
func (p *Platform) SetupWord(ctx context.Context) (string, error) {
	has, err := p.store.Accounts(ctx)
	if err != nil || has {
		return "", err
	}
	return p.setupWord, nil
}

// pages are the names people reach this process by, and the pages that may
// change something here.
func pages(o Options) *origin.Policy {
	return origin.New(origin.Options{
		Listen: o.Config.Listen, URLs: []string{o.Config.PublicURL}, Hosts: o.Config.AllowedHosts, Local: o.Local,
	})
}

// accounts signs people up and in.
func (p *Platform) accounts(ctx context.Context, o Options, svc *services) (*identity.Accounts, error) {
	key, err := p.store.Secret(ctx, "tokens")
	if err != nil {
		return nil, fmt.Errorf("the key of access tokens: %w", err)
	}
	seal, err := p.store.Secret(ctx, "factors")
	if err != nil {
		return nil, fmt.Errorf("the key of second factors: %w", err)
	}
	letters, err := letters(o.Config)
	if err != nil {
		return nil, err
	}
	return identity.NewAccounts(p.store, identity.Options{
		Key: key, Access: o.Config.Sessions.Access, Refresh: o.Config.Sessions.Refresh, Cache: p.metrics.Cache(p.cache),
		Life: lifeOf(o.Config.Sessions.Refresh, p.plans), Mail: letters, Confirm: o.Config.Mail.URL != "",
		Factors: p.store, FactorKey: seal, Keys: p.store, Grants: p.store, Providers: p.store, Administration: p.store,
		Tenants: o.Config.Accounts.Tenants, SignUpClosed: o.Config.Accounts.SignUp == "closed", Plan: o.Config.Accounts.Plan,
		PublicURL: cmp.Or(o.Config.PublicURL, o.URL), Forget: p.leave(svc.files.RemoveHome), Logger: o.Logger,
	})
}

// lifeOf is how long a sign-in lasts without use (AUTH-18): an app's as its
// plan says, a browser's as the settings say, or longer where its plan does.
func lifeOf(configured time.Duration, plans *quota.PlanTable) func(client, plan string) time.Duration {
	return func(client, plan string) time.Duration {
		if client == identity.Mobile {
			return plans.Named(plan).Mobile
		}
		return max(configured, plans.Named(plan).Web)
	}
}

// letters is how mails leave: over a mail server, or into a folder (G-11).
func letters(c config.Config) (identity.Mail, error) {
	if c.Mail.URL != "" {
		return mail.NewSMTP(c.Mail.URL, c.Mail.From)
	}
	return mail.NewOutbox(c.OutboxDir(), c.Mail.From)
}

// providers are where people may sign in beside here; nil when there are none.
func (p *Platform) providers(o Options) (*oauth.Providers, error) {
	if o.Config.Accounts.OAuthFile == "" {
		return nil, nil //nolint:nilnil // none is an answer
	}
	clients, err := oauth.Read(o.Config.Accounts.OAuthFile)
	if err != nil {
		return nil, err
	}
	return oauth.New(clients, oauth.Options{Cache: p.cache}), nil
}

// checks are what /healthz asks (OBS-07).
func (p *Platform) checks(o Options) map[string]func(context.Context) error {
	checks := map[string]func(context.Context) error{
		"store": func(ctx context.Context) error {
			_, err := p.store.Accounts(ctx)
			return err
		},
		"files": telemetry.Folder(o.Config.Data),
		"temporal": func(ctx context.Context) error {
			_, err := p.temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		},
	}
	if p.ping != nil {
		checks["redis"] = p.ping
	}
	if p.intake != nil {
		checks["palace"] = func(context.Context) error { return p.intake.Health() }
	}
	return checks
}

func temporalUI(o Options) *api.TemporalUI {
	if o.Config.Temporal.UIURL == "" {
		return nil
	}
	return &api.TemporalUI{Base: o.Config.Temporal.UIURL, Namespace: o.Config.Temporal.Namespace}
}
