package store

import (
	"bytes"
	"context"
	"encoding/json"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

var _ artifacts.Store = (*Store)(nil)

const artifactColumns = `id, owner_user_id, type, name, description, visibility, version, schema, fs_path,
	created_by, created_at, updated_at, meta, status, rollout`

func scanArtifact(scan Scan) (a artifacts.Artifact, err error) {
	var status string
	err = scan(&a.ID, text{&a.OwnerID}, &a.Type, &a.Name, &a.Description, &a.Visibility, &a.Version, decode{&a.Schema}, &a.FSPath,
		&a.CreatedBy, when{&a.CreatedAt}, when{&a.UpdatedAt}, decode{&a.Meta}, &status, decode{&a.Rollout})
	a.Meta = withStatus(a.Meta, status)
	return a, err
}

// What an artifact can be: a draft is there so that a proposal has something to
// change, and nothing uses it (C-58). The document's own status says which.
const (
	active  = "active"
	isDraft = "draft"
)

func statusOf(doc json.RawMessage) string {
	var d struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(doc, &d) == nil && d.Status == isDraft {
		return isDraft
	}
	return active
}

// withStatus is meta as the nouns read it: with the status of a draft.
func withStatus(meta map[string]any, status string) map[string]any {
	if status != isDraft {
		if meta["status"] == isDraft {
			delete(meta, "status")
		}
		return meta
	}
	if meta == nil {
		meta = map[string]any{}
	}
	meta["status"] = isDraft
	return meta
}

// CreateArtifact implements artifacts.Store. A global artifact has no owner
// and is an administrator's to write (ART-08).
func (s *Store) CreateArtifact(ctx context.Context, v identity.Viewer, a artifacts.Artifact, note string) (artifacts.Artifact, error) {
	if a.Visibility == "" {
		a.Visibility = "private"
	}
	if a.Visibility == "global" && !v.IsAdmin() {
		return a, fault.New(fault.Forbidden, "Only an administrator creates global artifacts.")
	}
	a.OwnerID = v.UserID
	if a.Visibility == "global" {
		a.OwnerID = ""
	}
	err := s.write(ctx, v, func(tx Tx) error { return s.insertArtifact(tx, &a, note) })
	if fault.CodeOf(err) == fault.Conflict {
		err = fault.Wrap(fault.Conflict, err, "There is a %s named %q already. Change that one, or choose another name.", a.Type, a.Name).
			With(map[string]any{"field": "name", "reason": "taken"})
	}
	return a, err
}

func (s *Store) insertArtifact(tx Tx, a *artifacts.Artifact, note string) error {
	if a.ID == "" {
		a.ID = id.New()
	}
	a.Version, a.CreatedAt = 1, s.now()
	a.UpdatedAt = a.CreatedAt
	a.Meta = withStatus(a.Meta, statusOf(a.Schema))
	meta, err := encoded(a.Meta, len(a.Meta) == 0)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO artifact (`+artifactColumns+`) VALUES (@id, @owner, @type, @name, @description, @visibility,
		@version, @schema, @path, @by, @now, @now, @meta, @status, NULL)`,
		Args{
			"id": a.ID, "owner": optional(a.OwnerID), "type": a.Type, "name": a.Name, "description": a.Description,
			"visibility": a.Visibility, "version": a.Version, "schema": rawJSON(a.Schema), "path": a.FSPath,
			"by": a.CreatedBy, "now": a.CreatedAt, "meta": meta, "status": statusOf(a.Schema),
		}); err != nil {
		return err
	}
	return insertVersion(tx, *a, note)
}

// insertVersion records the version an artifact has now; it is never changed.
func insertVersion(tx Tx, a artifacts.Artifact, note string) error {
	_, err := tx.Exec(`INSERT INTO artifact_version (artifact_id, version, schema, fs_path, created_at, created_by, change_note)
		VALUES (@id, @version, @schema, @path, @now, @by, @note)`,
		Args{"id": a.ID, "version": a.Version, "schema": rawJSON(a.Schema), "path": a.FSPath, "now": a.UpdatedAt, "by": a.CreatedBy, "note": note})
	return err
}

func artifact(tx Tx, v identity.Viewer, id string) (artifacts.Artifact, error) {
	list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE id = @id AND `+artifactVisible,
		Args{"id": id, "user": v.UserID}, scanArtifact)
	return only(list, err, "artifact")
}

// opened says whether the viewer may write versions of another person's artifact.
func opened(tx Tx, v identity.Viewer, a *artifacts.Artifact) error {
	if a.OwnerID == "" || a.OwnerID == v.UserID || v.IsSystem() {
		return nil
	}
	var n int
	_, err := first(tx, `SELECT count(*) FROM artifact WHERE id = @id AND `+artifactOpened, Args{"id": a.ID, "user": v.UserID}, &n)
	a.Opened = n > 0
	return err
}

// only is the one row of a list that cannot have more.
func only[T any](list []T, err error, what string) (T, error) {
	var none T
	if err == nil && len(list) == 0 {
		err = missing(what)
	}
	if err != nil {
		return none, err
	}
	return list[0], nil
}

// Artifact implements artifacts.Store.
func (s *Store) Artifact(ctx context.Context, v identity.Viewer, id string) (a artifacts.Artifact, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		a, err = artifact(tx, v, id)
		return err
	})
	if err != nil || a.OwnerID == "" || a.OwnerID == v.UserID || v.IsSystem() {
		return a, err
	}
	err = s.look(ctx, v, func(tx Tx) error { return opened(tx, v, &a) })
	return a, err
}

// ArtifactNamed implements artifacts.Store.
func (s *Store) ArtifactNamed(ctx context.Context, v identity.Viewer, kind, name string) (a artifacts.Artifact, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE type = @type AND name = @name AND `+artifactNamed+nearestFirst+` LIMIT 1`,
			Args{"type": kind, "name": name, "user": v.UserID}, scanArtifact)
		a, err = only(list, err, kind+" named "+name)
		return err
	})
	return a, err
}

// ArtifactsNamed implements artifacts.Store.
func (s *Store) ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]artifacts.Artifact, error) {
	found := make(map[string]artifacts.Artifact, len(names))
	err := s.look(ctx, v, func(tx Tx) error {
		args := Args{"type": kind, "user": v.UserID}
		list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE type = @type AND name IN `+args.in("name", names)+` AND `+artifactNamed+nearestFirst, args, scanArtifact)
		for _, a := range list {
			if _, nearer := found[a.Name]; !nearer {
				found[a.Name] = a
			}
		}
		return err
	})
	return found, err
}

// nearestFirst has a viewer's own before a global one, and the oldest of several.
const nearestFirst = ` ORDER BY CASE WHEN owner_user_id = @user THEN 0 WHEN owner_user_id IS NULL THEN 1 ELSE 2 END, created_at, id`

// ListArtifacts implements artifacts.Store: the latest changed first.
func (s *Store) ListArtifacts(ctx context.Context, v identity.Viewer, f artifacts.Filter) (list []artifacts.Artifact, next string, err error) {
	after, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	size, whose := pageSize(f.Limit), artifactNamed
	if f.Shared {
		whose = artifactVisible
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+artifactColumns+` FROM artifact
			WHERE `+whose+` AND (updated_at, id) < (@at, @id)
			AND (@type = '' OR type = @type) AND (@visibility = '' OR visibility = @visibility) AND (@status = '' OR status = @status)
			ORDER BY updated_at DESC, id DESC LIMIT @limit`,
			Args{
				"user": v.UserID, "at": after.at, "id": orNil(after.id), "type": f.Type, "visibility": f.Visibility,
				"status": f.Status, "limit": size + 1,
			}, scanArtifact)
		return err
	})
	list, next = cut(list, size, func(a artifacts.Artifact) place { return place{a.UpdatedAt, a.ID} })
	return list, next, err
}

// AppendVersion implements artifacts.Store (ART-06, ART-09). A version that
// somebody writes over one being rolled out ends the rollout: it is for everybody.
func (s *Store) AppendVersion(ctx context.Context, v identity.Viewer, id string, base int, schema json.RawMessage, by, note string) (a artifacts.Artifact, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("artifact:" + id); err != nil {
			return err
		}
		if a, err = artifact(tx, v, id); err != nil {
			return err
		}
		if err := opened(tx, v, &a); err != nil {
			return err
		}
		if a.OwnerID != v.UserID && !a.Opened && (a.OwnerID != "" || !v.IsAdmin()) {
			return fault.New(fault.Forbidden, "The artifact %q is not yours to change. Copy it under a name of your own.", a.Name)
		}
		if a.Version != base {
			return moved(a, base)
		}
		a.Rollout = nil
		return s.advance(tx, &a, schema, by, note)
	})
	return a, err
}

// moved is the Conflict of a change whose base is no longer the current version
// (ART-09, CFG-06).
func moved(a artifacts.Artifact, base int) error {
	return fault.New(fault.Conflict, "The artifact %q is at version %d; your change was made from version %d. Read it again and redo the change.", a.Name, a.Version, base).
		With(map[string]any{
			"field": "base_version", "artifact_id": a.ID, "current": a.Version, "base": base,
			"current_version": a.Version, "base_version": base,
		})
}

// advance makes schema the next version of a, with a's rollout.
func (s *Store) advance(tx Tx, a *artifacts.Artifact, schema json.RawMessage, by, note string) error {
	rollout, err := encoded(a.Rollout, a.Rollout == nil)
	if err != nil {
		return err
	}
	status := statusOf(schema)
	a.Version++
	a.Schema, a.CreatedBy, a.UpdatedAt, a.Meta = schema, by, s.now(), withStatus(a.Meta, status)
	if _, err := tx.Exec(`UPDATE artifact SET version = @version, schema = @schema, created_by = @by, updated_at = @now,
		status = @status, rollout = @rollout WHERE id = @id AND version = @version - 1`,
		Args{
			"id": a.ID, "version": a.Version, "schema": rawJSON(schema), "by": by, "now": a.UpdatedAt,
			"status": status, "rollout": rollout,
		}); err != nil {
		return err
	}
	return insertVersion(tx, *a, note)
}

// Versions implements artifacts.Store: the newest first.
func (s *Store) Versions(ctx context.Context, v identity.Viewer, id string) (list []artifacts.Version, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if _, err := artifact(tx, v, id); err != nil {
			return err
		}
		list, err = all(tx, `SELECT `+versionColumns+` FROM artifact_version WHERE artifact_id = @id ORDER BY version DESC`,
			Args{"id": id}, scanVersion)
		return err
	})
	return list, err
}

const versionColumns = `artifact_id, version, schema, created_by, change_note, created_at`

func scanVersion(scan Scan) (n artifacts.Version, err error) {
	err = scan(&n.ArtifactID, &n.Version, decode{&n.Schema}, &n.CreatedBy, &n.ChangeNote, when{&n.CreatedAt})
	return n, err
}

// VersionOf implements artifacts.Store.
func (s *Store) VersionOf(ctx context.Context, v identity.Viewer, id string, version int) (n artifacts.Version, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if _, err := artifact(tx, v, id); err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+versionColumns+` FROM artifact_version WHERE artifact_id = @id AND version = @version`,
			Args{"id": id, "version": version}, scanVersion)
		n, err = only(list, err, "version")
		return err
	})
	return n, err
}

// Seed implements artifacts.Store (ART-10).
func (s *Store) Seed(ctx context.Context, v identity.Viewer, seeds []artifacts.Seed) error {
	if !v.IsSystem() {
		return fault.New(fault.Forbidden, "Only the system seeds artifacts.")
	}
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("seed"); err != nil {
			return err
		}
		for _, seed := range seeds {
			if err := s.seed(tx, seed); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) seed(tx Tx, seed artifacts.Seed) error {
	list, err := sown(tx, seed)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return s.insertArtifact(tx, &artifacts.Artifact{
			Type: seed.Type, Name: seed.Name, Description: seed.Description,
			Visibility: "global", Schema: seed.Schema, CreatedBy: "system",
		}, "ships with the program")
	}
	if grown(list[0], seed) {
		return nil
	}
	// An administrator may be changing it.
	if err := tx.Lock("artifact:" + list[0].ID); err != nil {
		return err
	}
	if list, err = sown(tx, seed); err != nil || len(list) == 0 || grown(list[0], seed) {
		return err
	}
	return s.advance(tx, &list[0], seed.Schema, "system", "ships with a newer program")
}

// sown finds the artifact of a seed, if there is one.
func sown(tx Tx, seed artifacts.Seed) ([]artifacts.Artifact, error) {
	return all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE owner_user_id IS NULL AND type = @type AND name = @name`,
		Args{"type": seed.Type, "name": seed.Name}, scanArtifact)
}

// grown reports whether an artifact is what its seed would make it, or
// somebody's own by now.
func grown(a artifacts.Artifact, seed artifacts.Seed) bool {
	return a.CreatedBy != "system" || sameJSON(a.Schema, seed.Schema)
}

// sameJSON compares documents by meaning: a database may reformat what it keeps.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(doc json.RawMessage) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
