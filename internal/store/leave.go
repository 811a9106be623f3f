package store

import (
	"encoding/json"

	"liminal/internal/changes"
)

// leavePatches ends the proposals about artifacts that go with an account.
func (s *Store) leavePatches(tx Tx, userID string) error {
	return s.endPatches(tx, `a.owner_user_id = @user`, Args{"user": userID}, "An artifact it was to change went with its account.")
}

// endPatches ends the proposals about artifacts that go. What they were to
// change together is not changed in part, and their workflows are told to ask
// nobody any more. The condition is on the artifacts, a.
func (s *Store) endPatches(tx Tx, condition string, args Args, reason string) error {
	list, err := all(tx, `SELECT `+patchColumns+` FROM config_patch p WHERE p.stage <> 'settled' AND p.id IN (SELECT c.patch_id
		FROM config_patch_change c JOIN artifact a ON a.id = c.artifact_id WHERE `+condition+`)`, args, scanPatch)
	if err != nil {
		return err
	}
	for _, p := range list {
		end := changes.Transition{PatchID: p.ID, Answer: json.RawMessage(`"withdraw"`), Loose: true}
		if p.Status == changes.Applied { // what was made of others' artifacts stays
			if _, err := s.answerPatch(tx, p, end); err != nil {
				return err
			}
			continue
		}
		end.Status, end.Stage = changes.Withdrawn, changes.Settled
		end.Event = changes.Event{Name: "Liminal", What: string(changes.Withdrawn), Reason: reason}
		if _, err := s.transitionPatch(tx, end); err != nil {
			return err
		}
	}
	return nil
}
