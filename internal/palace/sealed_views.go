package palace

import (
	"context"
	"errors"
	"slices"

	"liminal/internal/identity"
	"liminal/internal/view"
)

// PutSent implements Tx.
func (t sealedTx) PutSent(exchange string, s Sent) error {
	s.Edits, s.Hash = t.seal("edits/"+exchange, s.Edits), t.sealText("sent/"+exchange, s.Hash)
	s.Refused = t.sealText("refused/"+exchange, s.Refused)
	return t.Tx.PutSent(exchange, s)
}

// openSent opens what was sent of an exchange.
func (s sealer) openSent(exchange string, sent *Sent) error {
	if sent == nil {
		return nil
	}
	return errors.Join(s.openText("sent/"+exchange, &sent.Hash), s.openText("refused/"+exchange, &sent.Refused))
}

// epochTexts are those of an epoch that contents are in, with the names they are sealed
// under.
func epochTexts(e *view.Epoch, do func(name string, text *string) error) (err error) {
	e.Replace, e.Kept = slices.Clone(e.Replace), slices.Clone(e.Kept)
	for i := range e.Replace {
		r := &e.Replace[i]
		err = errors.Join(err, do("aside/"+r.Result+"/label", &r.Label), do("aside/"+r.Result+"/sum", &r.Sum))
	}
	for i := range e.Kept {
		err = errors.Join(err, do("aside/"+e.Kept[i].Result+"/why", &e.Kept[i].Why))
	}
	return errors.Join(err, do("epoch/"+e.Client+"/ended", &e.Ended))
}

// PutEpoch implements Tx.
func (t sealedTx) PutEpoch(e view.Epoch) error {
	_ = epochTexts(&e, func(name string, text *string) error { *text = t.sealText(name, *text); return nil }) // none fails
	return t.Tx.PutEpoch(e)
}

// PalaceEdits implements Records.
func (r *sealedRecords) PalaceEdits(ctx context.Context, v identity.Viewer, exchange string) ([]byte, error) {
	edits, err := r.Records.PalaceEdits(ctx, v, exchange)
	if err != nil {
		return nil, err
	}
	s, err := r.of(ctx, v)
	if err != nil {
		return nil, err
	}
	return s.open("edits/"+exchange, edits)
}

// PalaceEpochs implements Records.
func (r *sealedRecords) PalaceEpochs(ctx context.Context, v identity.Viewer, lineage string) ([]Epoch, error) {
	list, err := r.Records.PalaceEpochs(ctx, v, lineage)
	if err != nil {
		return nil, err
	}
	s, err := r.of(ctx, v)
	for i := range list {
		err = errors.Join(err, epochTexts(&list[i].Epoch, s.openText))
	}
	return list, err
}
