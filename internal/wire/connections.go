package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"liminal/api"
	"liminal/artifacts"
	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/vault"
	"liminal/internal/webaccess"
)

// openConnections makes the desk of the accounts that people have elsewhere. It
// reaches what tools with via.http reach; nil web: nothing.
func (p *Platform) openConnections(ctx context.Context, o Options, web *webaccess.Client) (*connect.Desk, error) {
	key, err := p.store.Secret(ctx, "connections")
	if err != nil {
		return nil, fmt.Errorf("the key of connections: %w", err)
	}
	sealed, err := vault.New(key, "liminal connections")
	if err != nil {
		return nil, err
	}
	var client *http.Client
	if web != nil {
		client = web.Servers()
	}
	return connect.New(connect.Options{
		Store: p.store, Cache: p.cache, Vault: sealed, Spec: p.library.Connection, Secret: p.sources.Secret, HTTP: client, Logger: o.Logger,
	}), nil
}

// connectionAdmin is what people and administrators see of connections, and do to
// them.
type connectionAdmin struct {
	*connect.Desk
	secrets *secrets
	library *artifacts.Library
}

var _ api.Connections = connectionAdmin{}

// List implements api.Connections. What a person has connected is told also where
// its connection.spec is gone: they can end it.
func (c connectionAdmin) List(ctx context.Context, v identity.Viewer) ([]connect.Info, error) {
	mine, err := c.Mine(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []connect.Info
	known := func(name string) bool {
		return slices.ContainsFunc(out, func(i connect.Info) bool { return i.Name == name })
	}
	filter := artifacts.Filter{Type: artifacts.KindConnection, Limit: 100}
	for {
		page, next, err := c.library.List(ctx, v, filter)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			s, err := connect.Decode(a.Schema)
			if err != nil || a.IsDraft() || a.OwnerID != "" || known(a.Name) {
				continue
			}
			info, err := c.Look(ctx, v, a.Name, s, mine)
			if err != nil {
				return nil, err
			}
			out = append(out, info)
		}
		if next == "" {
			break
		}
		filter.Cursor = next
	}
	for _, k := range mine {
		if !known(k.Name) {
			out = append(out, connect.Info{Name: k.Name, Title: k.Name, Mine: &k})
		}
	}
	return out, nil
}

// SetClient implements api.Connections.
func (c connectionAdmin) SetClient(ctx context.Context, v identity.Viewer, name, id, secret string) error {
	if !v.IsAdmin() {
		return fault.New(fault.Forbidden, "Only administrators set the clients of connections.")
	}
	s, err := c.library.Connection(ctx, v, name)
	if err != nil {
		return err
	}
	value := ""
	if id != "" || secret != "" {
		raw, err := json.Marshal(map[string]string{"client_id": id, "client_secret": secret})
		if err != nil {
			return err
		}
		value = string(raw)
	}
	return c.secrets.SetSecret(ctx, v, s.Secret, value)
}
