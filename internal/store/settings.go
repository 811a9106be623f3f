package store

import (
	"context"

	"liminal/internal/identity"
)

// Settings implements identity.Store.
func (s *Store) Settings(ctx context.Context, userID string) (n identity.Settings, err error) {
	err = s.look(ctx, identity.System(), func(tx Tx) error {
		n, err = settings(tx, userID)
		return err
	})
	return n, err
}

func settings(tx Tx, userID string) (n identity.Settings, err error) {
	_, err = first(tx, `SELECT locale, timezone, default_voice, default_style, flags FROM user_settings WHERE user_id = @user`,
		Args{"user": userID}, text{&n.Locale}, text{&n.Timezone}, text{&n.DefaultVoice}, text{&n.DefaultStyle}, decode{&n.Flags})
	return n, err
}

// ChangeSettings implements identity.Store.
func (s *Store) ChangeSettings(ctx context.Context, userID string, c identity.SettingsChange) (n identity.Settings, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock("settings:" + userID); err != nil {
			return err
		}
		was, err := settings(tx, userID)
		if err != nil {
			return err
		}
		if n, err = c.Apply(was); err != nil {
			return err
		}
		flags, err := encoded(n.Flags, len(n.Flags) == 0)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO user_settings (user_id, locale, timezone, default_voice, default_style, flags)
			VALUES (@user, @locale, @timezone, @voice, @style, @flags)
			ON CONFLICT (user_id) DO UPDATE SET locale = excluded.locale, timezone = excluded.timezone,
			default_voice = excluded.default_voice, default_style = excluded.default_style, flags = excluded.flags`,
			Args{
				"user": userID, "locale": optional(n.Locale), "timezone": optional(n.Timezone),
				"voice": optional(n.DefaultVoice), "style": optional(n.DefaultStyle), "flags": flags,
			})
		return err
	})
	return n, err
}
