package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"liminal/api"
	models "liminal/internal/backends"
	"liminal/internal/config"
	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/observed"
	"liminal/internal/model/probe"
	"liminal/internal/vault"
	"liminal/internal/webaccess"
)

// registryEvery is how often a process that shares its store looks whether
// another has changed the model backends.
const registryEvery = 2 * time.Second

// probeLimit is how long the list of a server's models may take.
const probeLimit = 10 * time.Second

// openRegistry opens the model backends, those of the store beside that of the
// settings.
func (p *Platform) openRegistry(ctx context.Context, o Options) error {
	key, err := p.store.Secret(ctx, "model backends")
	if err != nil {
		return fmt.Errorf("the key of model backends: %w", err)
	}
	sealed, err := vault.New(key, "liminal model keys")
	if err != nil {
		return err
	}
	p.registry, err = models.Open(ctx, models.Options{
		Store: p.store, Vault: sealed, Logger: o.Logger, Protocols: protocols(),
		Environment: models.Served{
			Title: titleOfEnvironment(o), Protocol: o.Config.Model.Backend, Model: o.Model, One: o.Config.Model.Name, InProcess: model.IsInProcess(o.Model),
		},
		Dial: p.dialBackend(o), Probe: probeBackend, Refuse: refuseServer,
	})
	if err != nil {
		return fmt.Errorf("the model backends: %w", err)
	}
	if o.Config.Production() {
		stop := p.registry.Follow(ctx, registryEvery)
		p.closes("the model backends", func() error { stop(); return nil })
	}
	return nil
}

// titleOfEnvironment is what people call the backend of the settings.
func titleOfEnvironment(o Options) string {
	if o.Config.Model.Name != "" {
		return o.Config.Model.Name
	}
	return o.Model.Name()
}

// serverless are the backends that ask no server.
var serverless = []string{"extractive", "scripted", localLoRA}

// protocols are those that an administrator may name: all that ask a server.
func protocols() []models.Protocol {
	var list []models.Protocol
	for _, name := range config.Backends() {
		if slices.Contains(serverless, name) {
			continue
		}
		m := config.Model{Backend: name}
		p := models.Protocol{Name: name, URL: m.OpenAIServer(), Key: m.MissingKey() != ""}
		if name == "anthropic" {
			p.URL = anthropic.DefaultURL
		}
		list = append(list, p)
	}
	return list
}

// dialBackend makes the models of backends.
func (p *Platform) dialBackend(o Options) func(models.Backend, string) (model.Model, error) {
	client := backendClient()
	return func(b models.Backend, key string) (model.Model, error) {
		style, known := model.BackendOf(b.Protocol)
		if !known {
			return nil, fmt.Errorf("%q is no protocol of this program", b.Protocol)
		}
		version := b.APIVersion
		if version == "" {
			version = o.Config.Model.OpenAIVersion
		}
		m, err := modelServer{backend: style, url: b.URL, key: key, model: b.Model, version: version, http: client}.open(o.Logger)
		if err != nil {
			return nil, err
		}
		if m, err = p.composes(o, m, RemoteServer{Backend: b.Protocol, URL: b.URL, Key: key, Model: b.Model, HTTP: client}); err != nil {
			return nil, err
		}
		seen := observed.Options{Provider: b.Protocol, Prices: p.prices, Metrics: p.metrics, Logger: o.Logger}
		if b.Price != nil {
			seen.Price = &observed.Price{Input: b.Price.Input, Output: b.Price.Output, CacheRead: b.Price.CacheRead, CacheWrite: b.Price.CacheWrite}
		}
		return observed.New(m, seen), nil
	}
}

// backendClient dials what administrators name as servers. It follows nobody
// elsewhere: the key would go along.
func backendClient() *http.Client {
	const connect = 10 * time.Second // LORA-24
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second, ControlContext: webaccess.DialServer}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connect, ForceAttemptHTTP2: true,
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		},
	}
}

// probeBackend asks the server of a backend as `liminald doctor` does.
func probeBackend(ctx context.Context, b models.Backend, key string) models.Answered {
	client := backendClient()
	defer client.CloseIdleConnections()
	f := probe.Ask(ctx, probe.Server{
		Backend: b.Protocol, URL: b.URL, Key: key, APIVersion: b.APIVersion, Model: b.Model,
		URLSetting: "its URL", KeySetting: "its key", ModelSetting: "its model", Limit: probeLimit, HTTP: client,
	})
	return models.Answered{OK: f.Health != probe.Ill, Says: f.Says, Hint: f.Hint, Models: f.Models}
}

// environment is what administrators are shown of the backend of the settings.
func environment(o Options) api.EnvironmentBackend {
	c := o.Config.Model
	e := api.EnvironmentBackend{Protocol: c.Backend, Model: c.Name, KeySet: c.OpenAIKey != ""}
	switch c.Backend {
	case "extractive", "scripted", localLoRA:
		e.KeySet = false
	case "anthropic":
		e.URL, e.KeySet = c.AnthropicURL, c.AnthropicKey != ""
	default:
		e.URL = c.OpenAIServer()
	}
	if u, err := url.Parse(e.URL); err == nil {
		e.URL = u.Redacted()
	}
	return e
}

// refuseServer says why a URL is not asked whatever its name leads to; the rest
// shows when it is dialled.
func refuseServer(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !webaccess.Servable(a) {
		return fmt.Errorf("%s is no address that a server of yours can have", u.Hostname())
	}
	return nil
}
