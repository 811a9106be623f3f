package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// leastNoted is how many exchanges a lineage has that is worth a note.
const leastNoted = 4

// PalaceEnded implements palace.Keeper.
func (s *Store) PalaceEnded(ctx context.Context, v identity.Viewer, since time.Time, most int) (list []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT l.id FROM palace_lineage l WHERE l.user_id = @user AND l.seen_at >= @since AND l.noted_at IS NULL AND l.exchanges >= @least
			AND (l.seen_at < @silent OR EXISTS (SELECT 1 FROM palace_lineage n WHERE n.user_id = @user AND n.agent_id = l.agent_id AND n.created_at > l.seen_at)) ORDER BY l.seen_at LIMIT @most`,
			Args{"user": v.UserID, "since": stamp(since), "silent": stamp(s.clock().Add(-endedAfter)), "least": leastNoted, "most": most}, scanText)
		return err
	})
	return list, err
}

// PutPalaceNotes implements palace.Keeper.
func (s *Store) PutPalaceNotes(ctx context.Context, v identity.Viewer, lineage string, list []palace.Note) error {
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE palace_lineage SET noted_at = @now WHERE user_id = @user AND id = @lineage AND noted_at IS NULL`, Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage)), "now": s.now()})
		if err != nil || n == 0 { // somebody was quicker
			return err
		}
		for _, note := range list {
			if _, err := tx.Exec(`INSERT INTO palace_note (id, user_id, lineage_id, says, model, state, made_at) VALUES (@id, @user, @lineage, @says, @model, @state, @at)`,
				Args{"id": note.ID, "user": v.UserID, "lineage": note.Lineage, "says": writable(note.Says), "model": writable(note.Model), "state": string(note.State), "at": stamp(note.MadeAt)}); err != nil {
				return err
			}
			for _, block := range note.Blocks {
				if _, err := tx.Exec(`INSERT INTO palace_note_block (note_id, block_id, user_id) VALUES (@id, @block, @user) ON CONFLICT DO NOTHING`, Args{"id": note.ID, "block": block, "user": v.UserID}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

const notesOf = `SELECT n.id, n.lineage_id, a.number, n.says, n.model, n.state, n.made_at, n.decided_at
	FROM palace_note n JOIN palace_lineage l ON l.id = n.lineage_id JOIN palace_agent a ON a.id = l.agent_id WHERE n.user_id = @user`

func scanNote(scan Scan) (n palace.Note, err error) {
	err = scan(&n.ID, &n.Lineage, &n.Agent, &n.Says, &n.Model, &n.State, when{&n.MadeAt}, momentOf{&n.DecidedAt})
	return n, err
}

// notes are those of a condition with the blocks they name.
func notes(tx Tx, where string, args Args) ([]palace.Note, error) {
	list, err := all(tx, notesOf+where, args, scanNote)
	if err != nil || len(list) == 0 {
		return list, err
	}
	at := map[string]*palace.Note{}
	ids := make([]string, len(list))
	for i := range list {
		list[i].Blocks, list[i].Sources = []string{}, []palace.Block{}
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	of := Args{"user": args["user"]}
	return list, tx.Query(`SELECT k.note_id, `+blockColumns+` FROM palace_note_block k JOIN palace_block b ON b.id = k.block_id WHERE k.user_id = @user AND k.note_id IN `+of.in("note", ids)+` ORDER BY b.id`, of, func(scan Scan) error {
		var note string
		b, err := scanBlock(func(into ...any) error { return scan(append([]any{&note}, into...)...) })
		if n := at[note]; n != nil {
			n.Blocks, n.Sources = append(n.Blocks, b.UUID), append(n.Sources, b)
		}
		return err
	})
}

// PalaceNotes implements palace.Keeper. Ids are ordered by time.
func (s *Store) PalaceNotes(ctx context.Context, v identity.Viewer, f palace.NoteFilter, cursor string, limit int) (list []palace.Note, next string, err error) {
	from, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	args, where := Args{"user": v.UserID, "most": size + 1}, ""
	if f.State != "" {
		args["state"] = string(f.State)
		where += ` AND n.state = @state`
	}
	if f.Lineage != "" {
		args["lineage"] = orNil(id.Canonical(f.Lineage))
		where += ` AND n.lineage_id = @lineage`
	}
	if from.id != "" {
		args["before"] = from.id
		where += ` AND n.id < @before`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = notes(tx, where+` ORDER BY n.id DESC LIMIT @most`, args)
		return err
	})
	list, next = cut(list, size, func(n palace.Note) place { return place{n.MadeAt, n.ID} })
	return list, next, err
}

// PalaceNote implements palace.Keeper.
func (s *Store) PalaceNote(ctx context.Context, v identity.Viewer, note string) (n palace.Note, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := notes(tx, ` AND n.id = @id`, Args{"user": v.UserID, "id": orNil(id.Canonical(note))})
		n, err = only(list, err, "note")
		return err
	})
	return n, err
}

// DecidePalaceNote implements palace.Keeper.
func (s *Store) DecidePalaceNote(ctx context.Context, v identity.Viewer, note string, state palace.NoteState) error {
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE palace_note SET state = @state, decided_at = @now WHERE user_id = @user AND id = @id AND state <> @kept`,
			Args{"user": v.UserID, "id": orNil(id.Canonical(note)), "state": string(state), "now": s.now(), "kept": string(palace.NoteKept)})
		if err == nil && n == 0 && state != palace.NoteKept {
			err = fault.New(fault.Conflict, "The note is kept already, or is not there any more.")
		}
		return err
	})
}
