package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/safety"
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
	if id.Unkept(conversationID) {
		return t, chat.ErrNothingKept()
	}
	var seq, aside int
	var m chat.Message
	found, err := first(tx, `SELECT role, content, content_struct, meta, seq, aside FROM message
		WHERE id = @id AND conversation_id = @conversation AND user_id = @user`,
		Args{"id": messageID, "conversation": conversationID, "user": v.UserID}, &t.Role, &m.Content, decode{&m.Struct}, decode{&m.Meta}, &seq, &aside)
	if err == nil && !found {
		err = missing("message")
	}
	if err != nil {
		return t, err
	}
	t.Withheld = m.Withheld() || m.Risk() == string(safety.High)
	_, err = first(tx, `SELECT content FROM message WHERE conversation_id = @conversation AND user_id = @user
		AND aside = @aside AND role = 'user' AND seq < @seq ORDER BY seq DESC LIMIT 1`,
		Args{"conversation": conversationID, "user": v.UserID, "seq": seq, "aside": aside}, &t.Question)
	return t, err
}

// PutPreference implements learning.Store.
func (s *Store) PutPreference(ctx context.Context, v identity.Viewer, e learning.Event) (learning.Event, error) {
	meta, err := encoded(e.Meta, len(e.Meta) == 0)
	if err != nil {
		return e, err
	}
	e.UserID, e.CreatedAt = v.UserID, stamp(s.orNow(e.CreatedAt))
	var was *learning.Event
	err = s.write(ctx, v, func(tx Tx) error {
		if _, err := target(tx, v, e.ConversationID, e.MessageID); err != nil {
			return err
		}
		if err := tx.Lock("conversation:" + e.ConversationID); err != nil {
			return err
		}
		if was, err = latestOfAnswer(tx, v, e.MessageID); err != nil {
			return err
		}
		err := tx.Query(`INSERT INTO preference_event (user_id, conversation_id, message_id, explicit_signal, score,
			context_embedding, context_text, corrected_text, cluster_id, created_at, meta)
			VALUES (@user, @conversation, @message, @signal, @score, @embedding, @context, @corrected, @cluster, @now, @meta)
			RETURNING id`,
			Args{
				"user": v.UserID, "conversation": e.ConversationID, "message": e.MessageID, "signal": e.Signal, "score": e.Score,
				"embedding": packed(e.Embedding), "context": e.ContextText, "corrected": optional(e.Corrected),
				"cluster": optional(e.ClusterID), "now": e.CreatedAt, "meta": meta,
			}, func(scan Scan) error { return scan(&e.ID) })
		if err != nil || e.HeardIn() == "" {
			return err
		}
		return noteHeard(tx, v, e)
	})
	if err == nil {
		err = s.rateAdapters(ctx, v, e.MessageID, was, &e)
	}
	return e, err
}

// noteHeard marks the message an event was heard in.
func noteHeard(tx Tx, v identity.Viewer, e learning.Event) error {
	noted := learning.Noted{PreferenceID: e.ID, Signal: e.Signal, MessageID: e.MessageID}
	return markHeard(tx, v, e, func(was *learning.Noted) (*learning.Noted, error) {
		if was != nil {
			return nil, fault.New(fault.Conflict, "What this message says of an answer is noted already.")
		}
		return &noted, nil
	})
}

// markHeard changes what a message of the event's conversation keeps of the feedback
// that was heard in it; nil from change: it stays as it is.
func markHeard(tx Tx, v identity.Viewer, e learning.Event, change func(was *learning.Noted) (*learning.Noted, error)) error {
	args := Args{"id": e.HeardIn(), "conversation": e.ConversationID, "user": v.UserID}
	meta := map[string]json.RawMessage{}
	found, err := first(tx, `SELECT meta FROM message WHERE id = @id AND conversation_id = @conversation AND user_id = @user AND role = 'user'`,
		args, decode{&meta})
	if err == nil && !found {
		err = missing("message")
	}
	if err != nil {
		return err
	}
	var was *learning.Noted
	if raw, there := meta[learning.MetaNoted]; there {
		was = &learning.Noted{}
		if err := json.Unmarshal(raw, was); err != nil {
			return err
		}
	}
	now, err := change(was)
	if err != nil || now == nil {
		return err
	}
	if meta[learning.MetaNoted], err = json.Marshal(now); err != nil {
		return err
	}
	if args["meta"], err = encoded(meta, false); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE message SET meta = @meta WHERE id = @id AND conversation_id = @conversation AND user_id = @user`, args)
	return err
}

// DropPreference implements learning.Store.
func (s *Store) DropPreference(ctx context.Context, v identity.Viewer, back learning.Retraction) (gone learning.Event, err error) {
	var was, now *learning.Event
	err = s.write(ctx, v, func(tx Tx) error {
		if gone, err = preference(tx, v, back); err != nil {
			return err
		}
		if err := tx.Lock("conversation:" + gone.ConversationID); err != nil {
			return err
		}
		if gone, err = preference(tx, v, back); err != nil { // somebody was quicker
			return err
		}
		if was, err = latestOfAnswer(tx, v, gone.MessageID); err != nil {
			return err
		}
		list := []learning.Event{gone}
		if back.Earlier {
			list, err = all(tx, `SELECT `+preferenceColumns+` FROM preference_event
				WHERE user_id = @user AND message_id = @message AND id <= @id ORDER BY id`,
				Args{"user": v.UserID, "message": gone.MessageID, "id": gone.ID}, scanPreference)
			if err != nil {
				return err
			}
		}
		for _, e := range list {
			if err := drop(tx, v, e); err != nil {
				return err
			}
		}
		now, err = latestOfAnswer(tx, v, gone.MessageID)
		return err
	})
	if err == nil {
		err = s.rateAdapters(ctx, v, gone.MessageID, was, now)
	}
	return gone, err
}

// drop removes an event, and says so in the message it was heard in.
func drop(tx Tx, v identity.Viewer, e learning.Event) error {
	if _, err := tx.Exec(`DELETE FROM preference_event WHERE id = @id AND user_id = @user`, Args{"id": e.ID, "user": v.UserID}); err != nil || e.HeardIn() == "" {
		return err
	}
	return markHeard(tx, v, e, func(was *learning.Noted) (*learning.Noted, error) {
		if was == nil || was.PreferenceID != e.ID {
			return nil, nil
		}
		was.Undone = true
		return was, nil
	})
}

func preference(tx Tx, v identity.Viewer, back learning.Retraction) (learning.Event, error) {
	list, err := all(tx, `SELECT `+preferenceColumns+` FROM preference_event WHERE id = @id AND user_id = @user`,
		Args{"id": back.ID, "user": v.UserID}, scanPreference)
	if err != nil {
		return learning.Event{}, err
	}
	if len(list) == 0 || back.MessageID != "" && list[0].MessageID != back.MessageID {
		return learning.Event{}, missing("feedback")
	}
	return list[0], nil
}

// latestOfAnswer is what the viewer said last of an answer, the copies of it in
// branches included: they were made by one run, and count as one. nil: nothing.
func latestOfAnswer(tx Tx, v identity.Viewer, messageID string) (*learning.Event, error) {
	list, err := all(tx, `SELECT `+preferenceColumns+` FROM preference_event WHERE user_id = @user AND id = (
		SELECT max(e.id) FROM preference_event e JOIN message m ON m.id = e.message_id
		WHERE e.user_id = @user AND (m.id = @id OR m.run_id = (SELECT run_id FROM message WHERE id = @id AND user_id = @user)))`,
		Args{"user": v.UserID, "id": messageID}, scanPreference)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func latestPreferences(tx Tx, v identity.Viewer, messageIDs ...string) ([]learning.Event, error) {
	args := Args{"user": v.UserID}
	return all(tx, `SELECT `+preferenceColumns+` FROM preference_event WHERE user_id = @user AND id IN (
		SELECT max(id) FROM preference_event WHERE user_id = @user AND message_id IN `+args.in("message", messageIDs)+` GROUP BY message_id)`,
		args, scanPreference)
}

// LatestPreferences implements learning.Store.
func (s *Store) LatestPreferences(ctx context.Context, v identity.Viewer, messageIDs ...string) (map[string]learning.Event, error) {
	by := make(map[string]learning.Event, len(messageIDs))
	if len(messageIDs) == 0 {
		return by, nil
	}
	err := s.read(ctx, v, func(tx Tx) error {
		list, err := latestPreferences(tx, v, messageIDs...)
		for _, e := range list {
			by[e.MessageID] = e
		}
		return err
	})
	return by, err
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
		list, err = all(tx, `SELECT `+preferenceColumns+` FROM preference_event
			WHERE user_id = @user AND (created_at, id) < (@at, @id) ORDER BY created_at DESC, id DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "id": last, "limit": size + 1}, scanPreference)
		return err
	})
	list, next = cut(list, size, func(e learning.Event) place { return place{e.CreatedAt, strconv.FormatInt(e.ID, 10)} })
	return list, next, err
}

const preferenceColumns = `id, user_id, conversation_id, message_id, explicit_signal, score, context_embedding,
	context_text, corrected_text, cluster_id, created_at, meta`

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
