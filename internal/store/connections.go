package store

import (
	"context"

	"liminal/internal/connect"
	"liminal/internal/identity"
)

var _ connect.Store = (*Store)(nil)

const connectionColumns = `user_id, name, account_id, account_name, sealed, scopes, version, refused, created_at, updated_at, expires_at`

func scanConnection(scan Scan) (k connect.Kept, err error) {
	err = scan(&k.UserID, &k.Name, &k.AccountID, &k.AccountName, &k.Sealed, decode{&k.Scopes}, &k.Version, &k.Refused,
		when{&k.CreatedAt}, when{&k.UpdatedAt}, when{&k.ExpiresAt})
	return k, err
}

func connection(tx Tx, v identity.Viewer, name string) (connect.Kept, error) {
	list, err := all(tx, `SELECT `+connectionColumns+` FROM connection WHERE user_id = @user AND name = @name`, Args{"user": v.UserID, "name": name}, scanConnection)
	return only(list, err, "connection")
}

// Connect implements connect.Store.
func (s *Store) Connect(ctx context.Context, v identity.Viewer, k connect.Kept) error {
	scopes, err := encoded(k.Scopes, false)
	if err != nil {
		return err
	}
	return s.write(ctx, identity.System(), func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO connection (user_id, name, account_id, account_name, sealed, scopes, version, refused, created_at, updated_at, expires_at)
			VALUES (@user, @name, @id, @account, @sealed, @scopes, 1, @no, @now, @now, @expires)
			ON CONFLICT (user_id, name) DO UPDATE SET account_id = @id, account_name = @account, sealed = @sealed, scopes = @scopes,
				version = connection.version + 1, refused = @no, updated_at = @now, expires_at = @expires`,
			Args{
				"user": v.UserID, "name": k.Name, "id": writable(k.AccountID), "account": writable(k.AccountName), "sealed": k.Sealed, "scopes": scopes,
				"no": false, "now": s.now(), "expires": moment(k.ExpiresAt),
			})
		if err != nil {
			return err
		}
		return s.audit(tx, v.UserID, identity.AuditEvent{What: identity.ConnectionMade, UserID: v.UserID, Became: map[string]any{"connection": k.Name}})
	})
}

// Connection implements connect.Store.
func (s *Store) Connection(ctx context.Context, v identity.Viewer, name string) (k connect.Kept, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		k, err = connection(tx, v, name)
		return err
	})
	return k, err
}

// Connections implements connect.Store.
func (s *Store) Connections(ctx context.Context, v identity.Viewer) (list []connect.Kept, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+connectionColumns+` FROM connection WHERE user_id = @user ORDER BY name`, Args{"user": v.UserID}, scanConnection)
		return err
	})
	return list, err
}

// Renew implements connect.Store.
func (s *Store) Renew(ctx context.Context, v identity.Viewer, k connect.Kept) (renewed bool, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE connection SET sealed = @sealed, refused = @refused, version = version + 1, updated_at = @now, expires_at = @expires
			WHERE user_id = @user AND name = @name AND version = @version`,
			Args{"user": v.UserID, "name": k.Name, "sealed": k.Sealed, "refused": k.Refused, "now": s.now(), "expires": moment(k.ExpiresAt), "version": k.Version})
		renewed = n == 1
		return err
	})
	return renewed, err
}

// Disconnect implements connect.Store.
func (s *Store) Disconnect(ctx context.Context, v identity.Viewer, name string) (k connect.Kept, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if k, err = connection(tx, v, name); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM connection WHERE user_id = @user AND name = @name`, Args{"user": v.UserID, "name": name}); err != nil {
			return err
		}
		return s.audit(tx, v.UserID, identity.AuditEvent{What: identity.ConnectionEnded, UserID: v.UserID, Was: map[string]any{"connection": name}})
	})
	return k, err
}
