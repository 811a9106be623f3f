package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"liminal/internal/identity"
	"liminal/internal/learning"
)

var _ learning.Store = (*Store)(nil)

// Target implements learning.Store.
func (s *Store) Target(ctx context.Context, v identity.Viewer, conversationID, messageID string) (t learning.Target, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		t, err = target(tx, v, conversationID, messageID)
		return err
	})
	return t, err
}

func target(tx Tx, v identity.Viewer, conversationID, messageID string) (learning.Target, error) {
	var t learning.Target
	var seq int
	found, err := first(tx, `SELECT role, suppressed, seq FROM message
		WHERE id = @id AND conversation_id = @conversation AND user_id = @user`,
		Args{"id": messageID, "conversation": conversationID, "user": v.UserID}, &t.Role, &t.Suppressed, &seq)
	if err == nil && !found {
		err = missing("message")
	}
	if err != nil {
		return t, err
	}
	_, err = first(tx, `SELECT content FROM message WHERE conversation_id = @conversation AND user_id = @user
		AND role = 'user' AND seq < @seq ORDER BY seq DESC LIMIT 1`,
		Args{"conversation": conversationID, "user": v.UserID, "seq": seq}, &t.Question)
	return t, err
}

// PutPreference implements learning.Store.
func (s *Store) PutPreference(ctx context.Context, v identity.Viewer, e learning.Event) (learning.Event, error) {
	meta, err := encoded(e.Meta, len(e.Meta) == 0)
	if err != nil {
		return e, err
	}
	e.UserID, e.CreatedAt = v.UserID, stamp(s.orNow(e.CreatedAt))
	err = s.write(ctx, v, func(tx Tx) error {
		if _, err := target(tx, v, e.ConversationID, e.MessageID); err != nil {
			return err
		}
		return tx.Query(`INSERT INTO preference_event (user_id, conversation_id, message_id, explicit_signal, score,
			context_embedding, context_text, corrected_text, cluster_id, created_at, meta)
			VALUES (@user, @conversation, @message, @signal, @score, @embedding, @context, @corrected, @cluster, @now, @meta)
			RETURNING id`,
			Args{
				"user": v.UserID, "conversation": e.ConversationID, "message": e.MessageID, "signal": e.Signal, "score": e.Score,
				"embedding": packed(e.Embedding), "context": e.ContextText, "corrected": optional(e.Corrected),
				"cluster": optional(e.ClusterID), "now": e.CreatedAt, "meta": meta,
			}, func(scan Scan) error { return scan(&e.ID) })
	})
	if err == nil {
		err = s.rateAdapters(ctx, e)
	}
	return e, err
}

// ListPreferences implements learning.Store.
func (s *Store) ListPreferences(ctx context.Context, v identity.Viewer, cursor string, limit int) (list []learning.Event, next string, err error) {
	last := int64(0)
	after, err := beginOf(cursor, func(key string) bool {
		last, err = strconv.ParseInt(key, 10, 64)
		return err == nil
	})
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT id, user_id, conversation_id, message_id, explicit_signal, score, context_embedding,
			context_text, corrected_text, cluster_id, created_at, meta FROM preference_event
			WHERE user_id = @user AND (created_at, id) < (@at, @id) ORDER BY created_at DESC, id DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "id": last, "limit": size + 1}, scanPreference)
		return err
	})
	list, next = cut(list, size, func(e learning.Event) place { return place{e.CreatedAt, strconv.FormatInt(e.ID, 10)} })
	return list, next, err
}

func scanPreference(scan Scan) (e learning.Event, err error) {
	var vec []byte
	err = scan(&e.ID, &e.UserID, &e.ConversationID, &e.MessageID, &e.Signal, &e.Score, &vec,
		&e.ContextText, text{&e.Corrected}, text{&e.ClusterID}, when{&e.CreatedAt}, decode{&e.Meta})
	if err == nil {
		e.Embedding, err = unpacked(vec)
	}
	return e, err
}

// packed is a vector as it is stored: float32, little-endian.
func packed(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpacked(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("a vector of %d bytes", len(b))
	}
	v := make([]float32, 0, len(b)/4)
	for ; len(b) > 0; b = b[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return v, nil
}
