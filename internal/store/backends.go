package store

import (
	"context"

	"liminal/internal/backends"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ backends.Store = (*Store)(nil)

// backendCounter is the counter that every change of a backend raises.
const backendCounter = "model backends"

const backendColumns = `name, title, protocol, url, model, models, api_version, api_key, key_end, max_tokens, price,
	choosable, is_default, created_at, updated_at`

func scanBackend(scan Scan) (b backends.Backend, err error) {
	err = scan(&b.Name, &b.Title, &b.Protocol, &b.URL, &b.Model, decode{&b.Models}, &b.APIVersion, &b.Sealed, &b.KeyEnd,
		&b.MaxTokens, decode{&b.Price}, &b.Choosable, &b.Default, when{&b.CreatedAt}, when{&b.UpdatedAt})
	if len(b.Sealed) == 0 {
		b.Sealed = nil
	}
	return b, err
}

// BackendVersion implements backends.Store.
func (s *Store) BackendVersion(ctx context.Context) (n int64, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		n, err = backendVersion(tx)
		return err
	})
	return n, err
}

func backendVersion(tx Tx) (n int64, err error) {
	_, err = first(tx, `SELECT value FROM counter WHERE name = @name`, Args{"name": backendCounter}, &n)
	return n, err
}

// Backends implements backends.Store.
func (s *Store) Backends(ctx context.Context) (list []backends.Backend, version int64, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		if version, err = backendVersion(tx); err != nil {
			return err
		}
		list, err = all(tx, `SELECT `+backendColumns+` FROM model_backend ORDER BY name <> 'environment', name`, nil, scanBackend)
		return err
	})
	return list, version, err
}

// AddBackend implements backends.Store.
func (s *Store) AddBackend(ctx context.Context, b backends.Backend, e backends.Entry) error {
	return s.changeBackends(ctx, e, func(tx Tx) ([]string, error) {
		var n int
		if _, err := first(tx, `SELECT count(*) FROM model_backend`, nil, &n); err != nil {
			return nil, err
		}
		if n > backends.MaxBackends {
			return nil, fault.New(fault.Conflict, "There are %d model backends already. Remove one first.", backends.MaxBackends).With(map[string]any{"reason": "full"})
		}
		args, err := backendArgs(b)
		if err != nil {
			return nil, err
		}
		n64, err := tx.Exec(`INSERT INTO model_backend (`+backendColumns+`)
			VALUES (@name, @title, @protocol, @url, @model, @models, @version, @key, @end, @tokens, @price, @choosable, @default, @created, @updated)
			ON CONFLICT (name) DO NOTHING`, args)
		if err == nil && n64 == 0 {
			err = fault.New(fault.Conflict, "Another model backend is called %q.", b.Name).With(map[string]any{"field": "name", "reason": "taken"})
		}
		return e.Fields, err
	})
}

// ChangeBackend implements backends.Store.
func (s *Store) ChangeBackend(ctx context.Context, name string, e backends.Entry, change func(*backends.Backend) ([]string, error)) error {
	return s.changeBackends(ctx, e, func(tx Tx) ([]string, error) {
		b, err := backend(tx, name)
		if err != nil {
			return nil, err
		}
		fields, err := change(&b)
		if err != nil || len(fields) == 0 {
			return nil, err
		}
		args, err := backendArgs(b)
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec(`UPDATE model_backend SET title = @title, protocol = @protocol, url = @url, model = @model, models = @models,
			api_version = @version, api_key = @key, key_end = @end, max_tokens = @tokens, price = @price, choosable = @choosable, updated_at = @updated
			WHERE name = @name`, args)
		return fields, err
	})
}

// RemoveBackend implements backends.Store.
func (s *Store) RemoveBackend(ctx context.Context, name string, e backends.Entry) error {
	return s.changeBackends(ctx, e, func(tx Tx) ([]string, error) {
		b, err := backend(tx, name)
		if err != nil {
			return nil, err
		}
		if b.Default {
			return nil, fault.New(fault.Conflict, "The model backend %s answers where nobody chose. Let another one do that first.", b.Shown()).
				With(map[string]any{"reason": "default"})
		}
		_, err = tx.Exec(`DELETE FROM model_backend WHERE name = @name`, Args{"name": name})
		return []string{}, err
	})
}

// DefaultBackend implements backends.Store.
func (s *Store) DefaultBackend(ctx context.Context, name string, e backends.Entry) error {
	return s.changeBackends(ctx, e, func(tx Tx) ([]string, error) {
		b, err := backend(tx, name)
		if err != nil || b.Default {
			return nil, err
		}
		if _, err := tx.Exec(`UPDATE model_backend SET is_default = @no WHERE name <> @name`, Args{"name": name, "no": false}); err != nil {
			return nil, err
		}
		_, err = tx.Exec(`UPDATE model_backend SET is_default = @yes WHERE name = @name`, Args{"name": name, "yes": true})
		return []string{}, err
	})
}

func backend(tx Tx, name string) (b backends.Backend, err error) {
	list, err := all(tx, `SELECT `+backendColumns+` FROM model_backend WHERE name = @name`, Args{"name": name}, scanBackend)
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "There is no such model backend.")
	}
	if err != nil {
		return b, err
	}
	return list[0], nil
}

// changeBackends makes a change with its entry, and raises the version. change
// names the fields it changed; nil: there was nothing to change.
func (s *Store) changeBackends(ctx context.Context, e backends.Entry, change func(tx Tx) ([]string, error)) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(backendCounter); err != nil {
			return err
		}
		fields, err := change(tx)
		if err != nil || fields == nil {
			return err
		}
		named, err := encoded(fields, len(fields) == 0)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO model_backend_change (id, backend, actor_id, action, fields, created_at)
			VALUES (@id, @backend, @actor, @action, @fields, @at)`,
			Args{"id": e.ID, "backend": e.Backend, "actor": optional(e.ActorID), "action": e.Action, "fields": named, "at": moment(e.At)}); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO counter (name, value) VALUES (@name, 1)
			ON CONFLICT (name) DO UPDATE SET value = counter.value + 1`, Args{"name": backendCounter})
		return err
	})
}

func backendArgs(b backends.Backend) (Args, error) {
	models, err := encoded(b.Models, len(b.Models) == 0)
	if err != nil {
		return nil, err
	}
	price, err := encoded(b.Price, b.Price == nil)
	if err != nil {
		return nil, err
	}
	var key any
	if len(b.Sealed) > 0 {
		key = b.Sealed
	}
	return Args{
		"name": b.Name, "title": b.Title, "protocol": b.Protocol, "url": b.URL, "model": b.Model, "models": models,
		"version": b.APIVersion, "key": key, "end": b.KeyEnd, "tokens": b.MaxTokens, "price": price,
		"choosable": b.Choosable, "default": b.Default, "created": moment(b.CreatedAt), "updated": moment(b.UpdatedAt),
	}, nil
}

// BackendEntries implements backends.Store.
func (s *Store) BackendEntries(ctx context.Context, limit int) (list []backends.Entry, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT c.id, c.backend, c.actor_id, u.email, c.action, c.fields, c.created_at
			FROM model_backend_change c LEFT JOIN app_user u ON u.id = c.actor_id
			ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`, Args{"limit": limit},
			func(scan Scan) (e backends.Entry, err error) {
				err = scan(&e.ID, &e.Backend, text{&e.ActorID}, text{&e.Actor}, &e.Action, decode{&e.Fields}, when{&e.At})
				return e, err
			})
		return err
	})
	return list, err
}
