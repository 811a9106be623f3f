package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"liminal/internal/vault"
	"liminal/internal/webaccess"
	"liminal/internal/webhook"
)

// openWebhooks makes the desk of webhooks, and the courier that sends what they are
// told, which does not run yet. They reach what tools with via.http reach; nil web:
// nothing.
func (p *Platform) openWebhooks(ctx context.Context, o Options, web *webaccess.Client) error {
	key, err := p.store.Secret(ctx, "webhooks")
	if err != nil {
		return fmt.Errorf("the key of webhooks: %w", err)
	}
	sealed, err := vault.New(key, "liminal webhooks")
	if err != nil {
		return err
	}
	mail, err := letters(o.Config)
	if err != nil {
		return err
	}
	reaches := func(*url.URL) error { return webhook.Unreachable() }
	var client *http.Client
	if web != nil {
		reaches, client = web.Reachable, web.Servers()
	}
	p.webhooks = webhook.NewDesk(webhook.DeskOptions{Endpoints: p.store, Deliveries: p.store, Vault: sealed, Reaches: reaches, Now: time.Now})
	if o.Only == "" {
		p.courier = webhook.NewCourier(webhook.CourierOptions{
			Queue: p.store, Vault: sealed, HTTP: client, Mail: mail, Logger: o.Logger, PublicURL: strings.TrimSuffix(cmp.Or(o.Config.PublicURL, o.URL), "/"),
		})
	}
	return nil
}

// startCourier begins to send what webhooks are told; nothing in a process that takes
// the calls of one queue alone.
func (p *Platform) startCourier(ctx context.Context) {
	if p.courier == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.courier.Run(ctx)
	}()
	p.closes("webhooks under way", func() error { cancel(); <-done; return nil })
}
