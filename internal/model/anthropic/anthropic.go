// Package anthropic is the models of Anthropic, over the Messages API.
//
// The official SDK is the transport: it speaks HTTP and decodes the stream. It
// never retries (Temporal does), reads no environment, and leaves no spans of
// its own. What a request says and what an answer means is decided here.
//
// The package may import model, fault and the SDK.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"liminal/internal/fault"
	"liminal/internal/model"
)

// The defaults of Options.
const (
	DefaultURL   = "https://api.anthropic.com"
	DefaultModel = "claude-sonnet-4-6"
)

// maxTokens is the longest answer of a request that names none, in tokens.
const maxTokens = 4096

// connect is how long a connection may take to be made (LORA-24). How long the
// answer may take, only the caller's context says.
const connect = 10 * time.Second

// Options of a provider.
type Options struct {
	BaseURL string           // DefaultURL without
	APIKey  string           // required
	Model   string           // asked where a request names none; DefaultModel without
	HTTP    *http.Client     // without: one with bounds on connecting only
	Now     func() time.Time // time.Now without
	Backend model.Backend    // what it can do with adapters; that of "anthropic" without
}

// New makes a provider. It fails for options that cannot work; whether the
// server is there and takes the key shows with the first request.
func New(o Options) (model.Model, error) {
	o.BaseURL, o.Model = cmp.Or(o.BaseURL, DefaultURL), cmp.Or(o.Model, DefaultModel)
	at, err := url.Parse(o.BaseURL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fault.New(fault.Invalid, "The address of Anthropic's API is no URL of http or https: set ANTHROPIC_BASE_URL, or leave it out.")
	}
	if strings.TrimSpace(o.APIKey) == "" {
		return nil, fault.New(fault.Internal, "Anthropic's models need a key: set ANTHROPIC_API_KEY.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	if o.HTTP == nil {
		o.HTTP = newClient()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Backend.Name == "" {
		o.Backend, _ = model.BackendOf("anthropic")
	}
	// The service alone: the SDK's client would bring its sixty others into the
	// program, and look for keys in the environment.
	messages := sdk.NewMessageService(
		option.WithEnvironmentProduction(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithBaseURL(o.BaseURL), option.WithAPIKey(o.APIKey), option.WithHTTPClient(o.HTTP),
	)
	p := &provider{Options: o, messages: messages, secrets: []string{o.APIKey}}
	if password, ok := at.User.Password(); ok && password != "" {
		_, written, _ := strings.Cut(at.User.String(), ":")
		p.secrets = append(p.secrets, password, written) // of a gateway
	}
	return p, nil
}

// newClient bounds how long connecting takes, and nothing else: a model may
// think for minutes before its first byte. It follows nobody elsewhere: the
// key would go along.
func newClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: connect,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     90 * time.Second,
		},
	}
}

type provider struct {
	Options
	messages sdk.MessageService
	secrets  []string // that stand in no error
}

// Name implements model.Model.
func (p *provider) Name() string { return p.Model }

// Generative implements model.Model.
func (*provider) Generative() bool { return true }

// OnLoopback says whether the server is on this machine.
func (p *provider) OnLoopback() bool {
	u, err := url.Parse(p.BaseURL)
	return err == nil && model.IsLoopback(u)
}

// Stream implements model.Model.
func (p *provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		q := p.question(req)
		model.TellApplied(ctx, q.applied)
		stream := p.messages.NewStreaming(ctx, q.params)
		defer func() { _ = stream.Close() }() // the answer is over or given up
		a := answer{question: q}
		for stream.Next() {
			current := stream.Current()
			events := a.read(current)
			if d := current.Delta; len(events) == 0 && current.Type == "content_block_delta" {
				model.Heard(ctx, len(d.PartialJSON)+len(d.Text))
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
				if err := ctx.Err(); err != nil {
					yield(model.Event{}, err)
					return
				}
			}
			if a.over && a.unusable() {
				yield(model.Event{}, upstream(errors.New("it called "+a.torn+" with arguments that are no JSON"), "The language model called the tool %s with arguments that are no JSON. Try again.", a.torn))
			}
			if a.over {
				return
			}
		}
		yield(model.Event{}, p.failure(ctx, stream.Err()))
	}
}
