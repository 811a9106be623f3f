package palace

import (
	"context"
	"errors"

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
