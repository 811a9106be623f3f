package store

import (
	"context"

	"liminal/internal/identity"
)

// Continued is the viewer's latest conversation in which just that has been said;
// empty: there is none.
func (s *Store) Continued(ctx context.Context, v identity.Viewer, digest string) (conversationID string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		_, err := first(tx, `SELECT id FROM conversation WHERE user_id = @user AND continuation = @digest ORDER BY updated_at DESC, id DESC LIMIT 1`,
			Args{"user": v.UserID, "digest": digest}, &conversationID)
		return err
	})
	return conversationID, err
}

// Continues notes what has been said in a conversation of the viewer's; of one
// that is gone, nothing.
func (s *Store) Continues(ctx context.Context, v identity.Viewer, digest, conversationID string) error {
	return s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`UPDATE conversation SET continuation = @digest WHERE id = @id AND user_id = @user`,
			Args{"digest": digest, "id": conversationID, "user": v.UserID})
		return err
	})
}
