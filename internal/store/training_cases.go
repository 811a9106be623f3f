package store

import (
	"context"
	"slices"

	"liminal/internal/identity"
	"liminal/internal/learning/dataset"
)

// Of what was said before an answer, training reads so many messages (TRAIN-02),
// and so many bytes of each.
const (
	trainedBefore = 200
	maxTurnText   = 32 << 10
)

// TrainingCases returns the viewer's newest events, at most limit, by ascending
// id, of one of their clusters, or of all for an empty one, each with what was
// said before the answer on the path that is shown. Those nothing may be learnt
// from are among them, marked: they are counted as they are left out. What was
// answered with words of strangers may be somebody else's wish (TRAIN-13): its turn
// noted that; untrusted are the tools that say it of answers from before turns did.
func (s *Store) TrainingCases(ctx context.Context, v identity.Viewer, clusterID string, limit int, untrusted []string) (list []dataset.Case, err error) {
	condition, args := "", Args{"user": v.UserID, "limit": limit}
	if clusterID != "" {
		condition, args["cluster"] = ` AND e.cluster_id = @cluster`, clusterID
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list = nil
		found, err := all(tx, `SELECT `+caseColumns+`, m.seq, m.aside FROM preference_event e JOIN message m ON m.id = e.message_id
			WHERE e.user_id = @user AND m.user_id = @user`+condition+` ORDER BY e.id DESC LIMIT @limit`, args, scanSpot)
		if err != nil {
			return err
		}
		answered := map[string]bool{}
		for _, e := range found { // the newest first
			c := dataset.Case{Case: e.Case, Withheld: e.closed}
			c.Answer = e.whole
			c.Untrusted = e.strange || slices.ContainsFunc(e.tools, func(name string) bool { return slices.Contains(untrusted, name) })
			if c.TurnID, c.Turns, err = turnsBefore(tx, v, e); err != nil {
				return err
			}
			if !answered[e.answer] { // a copy in a branch is the same answer
				list = append(list, c)
			}
			answered[e.answer] = true
		}
		slices.Reverse(list)
		return nil
	})
	return list, err
}

// caseSpot is a case with where its answer stands.
type caseSpot struct {
	storedCase
	seq, aside int
}

func scanSpot(scan Scan) (p caseSpot, err error) {
	p.storedCase, err = scanCase(func(dest ...any) error { return scan(append(dest, &p.seq, &p.aside)...) })
	return p, err
}

// turnsBefore are the messages before an answer: those on the path that is shown,
// and what it answers. Answers to the same words in one place are versions of one
// turn.
func turnsBefore(tx Tx, v identity.Viewer, p caseSpot) (turnID string, turns []dataset.Turn, err error) {
	args := Args{"conversation": p.ConversationID, "user": v.UserID, "seq": p.seq, "aside": p.aside, "limit": trainedBefore}
	var asked, family string
	found, err := first(tx, `SELECT content, coalesce(version_of, id), seq FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = @aside AND seq < @seq AND role = 'user'
		ORDER BY seq DESC LIMIT 1`, args, &asked, &family, &p.seq)
	if err != nil {
		return "", nil, err
	}
	args["seq"] = p.seq
	list, err := all(tx, `SELECT `+messageColumns+` FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq < @seq AND NOT suppressed
		ORDER BY seq DESC LIMIT @limit`, args, scanMessage)
	if err != nil {
		return "", nil, err
	}
	for _, m := range slices.Backward(list) {
		if !m.Withheld() && (m.Role == "user" || m.Role == "assistant") {
			turns = append(turns, dataset.Turn{Role: m.Role, Content: ending(m.Content)})
		}
	}
	if !found {
		return "", turns, nil
	}
	return family + " " + asked, append(turns, dataset.Turn{Role: "user", Content: ending(asked)}), nil
}

// ending is a text without its beginning, where it is very long.
func ending(text string) string { return text[max(0, len(text)-maxTurnText):] }
