package palace

import (
	"context"
	"errors"
	"slices"

	"liminal/internal/identity"
)

// classifiedTexts are those of an answer that contents may be in.
func classifiedTexts(c *Classified, do func(name string, text *string) error) error {
	return errors.Join(do("answer/"+c.ID, &c.Answer), do("refused/"+c.ID, &c.Refused))
}

// PutPalaceClassified implements Keeper.
func (r *sealedRecords) PutPalaceClassified(ctx context.Context, v identity.Viewer, c Classified, w Wishes) error {
	s, err := r.of(ctx, v)
	if err != nil {
		return err
	}
	_ = classifiedTexts(&c, func(name string, text *string) error { *text = s.sealText(name, *text); return nil }) // none fails
	return r.Records.PutPalaceClassified(ctx, v, c, w)
}

// PalaceClassified implements Keeper.
func (r *sealedRecords) PalaceClassified(ctx context.Context, v identity.Viewer, lineage, cursor string, limit int) ([]Classified, string, error) {
	list, next, err := r.Records.PalaceClassified(ctx, v, lineage, cursor, limit)
	if err != nil {
		return list, next, err
	}
	s, err := r.of(ctx, v)
	for i := range list {
		err = errors.Join(err, classifiedTexts(&list[i], s.openText))
	}
	return list, next, err
}

// PutPalaceNotes implements Keeper.
func (r *sealedRecords) PutPalaceNotes(ctx context.Context, v identity.Viewer, lineage string, list []Note) error {
	s, err := r.of(ctx, v)
	if err != nil {
		return err
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Says = s.sealText("note/"+list[i].ID, list[i].Says)
	}
	return r.Records.PutPalaceNotes(ctx, v, lineage, list)
}

// openNote opens what a note and the blocks that it is drawn from say.
func (s sealer) openNote(n *Note) error {
	err := s.openText("note/"+n.ID, &n.Says)
	for i := range n.Sources {
		err = errors.Join(err, s.openBlock(&n.Sources[i]))
	}
	return err
}

// PalaceNotes implements Keeper.
func (r *sealedRecords) PalaceNotes(ctx context.Context, v identity.Viewer, f NoteFilter, cursor string, limit int) ([]Note, string, error) {
	list, next, err := r.Records.PalaceNotes(ctx, v, f, cursor, limit)
	if err != nil {
		return list, next, err
	}
	s, err := r.of(ctx, v)
	for i := range list {
		err = errors.Join(err, s.openNote(&list[i]))
	}
	return list, next, err
}

// PalaceNote implements Keeper.
func (r *sealedRecords) PalaceNote(ctx context.Context, v identity.Viewer, id string) (Note, error) {
	n, err := r.Records.PalaceNote(ctx, v, id)
	if err != nil {
		return n, err
	}
	s, err := r.of(ctx, v)
	return n, errors.Join(err, s.openNote(&n))
}
