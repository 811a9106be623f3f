package store

import (
	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// insertDrafts makes the artifacts that a proposal creates, and names them in
// its changes (C-58). A draft belongs to the change with its id, or, without
// one, to the next that creates and has no artifact yet.
func (s *Store) insertDrafts(tx Tx, v identity.Viewer, list []changes.Change, drafts []artifacts.Artifact) error {
	for _, a := range drafts {
		c := drafted(list, a.ID)
		if c == nil {
			return fault.New(fault.Invalid, "The draft %q belongs to no change of the proposal.", a.Name)
		}
		if err := s.insertDraft(tx, v, &a); err != nil {
			return err
		}
		c.ArtifactID, c.Base = a.ID, a.Version
	}
	return nil
}

func drafted(list []changes.Change, artifactID string) *changes.Change {
	for i := range list {
		if list[i].Creates && list[i].ArtifactID == artifactID {
			return &list[i]
		}
	}
	return nil
}

// insertDraft makes one draft, or takes up the one of that name that an
// earlier proposal left when it was not applied.
func (s *Store) insertDraft(tx Tx, v identity.Viewer, a *artifacts.Artifact) error {
	if statusOf(a.Schema) != isDraft {
		return fault.New(fault.Invalid, `What a proposal creates is a draft first: its document says "status": "draft".`)
	}
	if a.Visibility == "" {
		a.Visibility = "private"
	}
	if a.Visibility == "global" && v.Role == identity.RoleUser {
		return fault.New(fault.Forbidden, "Only an administrator or a power user proposes a new global artifact.")
	}
	a.OwnerID = v.UserID
	if a.Visibility == "global" || v.IsSystem() {
		a.OwnerID, a.Visibility = "", "global"
	}
	if a.CreatedBy == "" {
		a.CreatedBy = "user"
	}
	if err := tx.Lock("draft:" + a.OwnerID + ":" + a.Type + ":" + a.Name); err != nil {
		return err
	}
	left, err := leftDraft(tx, *a)
	switch {
	case err != nil:
		return err
	case left == nil:
		if err := fewDrafts(tx, v, *a); err != nil {
			return err
		}
		return s.insertArtifact(tx, a, "a draft: there is a proposal to begin with it")
	}
	if err := tx.Lock("artifact:" + left.ID); err != nil {
		return err
	}
	doc, by := a.Schema, a.CreatedBy
	*a = *left
	return s.advance(tx, a, doc, by, "a draft: there is a new proposal to begin with it")
}

// maxDrafts bounds the global drafts of one person: everybody's lists have them.
const maxDrafts = 100

// fewDrafts refuses one more global draft to who has left many. Administrators
// write global artifacts anyway.
func fewDrafts(tx Tx, v identity.Viewer, a artifacts.Artifact) error {
	if a.OwnerID != "" || v.IsAdmin() {
		return nil
	}
	var n int
	_, err := first(tx, `SELECT count(DISTINCT a.id) FROM artifact a JOIN config_patch_change c ON c.artifact_id = a.id
		JOIN config_patch p ON p.id = c.patch_id WHERE a.status = 'draft' AND a.owner_user_id IS NULL AND p.user_id = @user`, Args{"user": v.UserID}, &n)
	if err == nil && n >= maxDrafts {
		err = fault.New(fault.Conflict, "You have proposed %d new artifacts that were not made, which is the most. Propose one of them again, by its name, or ask an administrator to.", n).
			With(map[string]any{"field": "name", "reason": "drafts", "most": maxDrafts})
	}
	return err
}

// leftDraft finds what has the name already. It is a Conflict unless it is a
// draft that no proposal under way is about; nil: nothing has the name.
func leftDraft(tx Tx, a artifacts.Artifact) (*artifacts.Artifact, error) {
	list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact
		WHERE type = @type AND name = @name AND (owner_user_id = @user OR (@owned = 0 AND owner_user_id IS NULL))`,
		Args{"type": a.Type, "name": a.Name, "user": a.OwnerID, "owned": len(a.OwnerID)}, scanArtifact)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	taken := fault.New(fault.Conflict, "There is a %s named %q already. Propose a change to that one, or choose another name.", a.Type, a.Name).
		With(map[string]any{"field": "name", "reason": "taken", "artifact_id": list[0].ID})
	if statusOf(list[0].Schema) != isDraft {
		return nil, taken
	}
	var patchID int64
	open, err := first(tx, `SELECT p.id FROM config_patch_change c JOIN config_patch p ON p.id = c.patch_id
		WHERE c.artifact_id = @artifact AND p.status IN ('pending', 'approved') LIMIT 1`, Args{"artifact": list[0].ID}, &patchID)
	switch {
	case err != nil:
		return nil, err
	case open:
		return nil, fault.New(fault.Conflict, "Proposal %d would create a %s named %q already.", patchID, a.Type, a.Name).
			With(map[string]any{"field": "name", "reason": "taken", "patch_id": patchID})
	}
	return &list[0], nil
}
