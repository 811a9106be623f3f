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

// asideTexts are those of results that are set aside which contents are in, with the names
// they are sealed under.
func asideTexts(list []view.Replacement, do func(name string, text *string) error) (out []view.Replacement, err error) {
	out = slices.Clone(list)
	for i := range out {
		r := &out[i]
		err = errors.Join(err, do("aside/"+r.Result+"/label", &r.Label), do("aside/"+r.Result+"/sum", &r.Sum))
	}
	return out, err
}

// epochTexts are those of an epoch that contents are in, with the names they are sealed
// under.
func epochTexts(e *view.Epoch, do func(name string, text *string) error) (err error) {
	e.Replace, err = asideTexts(e.Replace, do)
	e.Kept, e.Quotes = slices.Clone(e.Kept), slices.Clone(e.Quotes)
	for i := range e.Quotes {
		q := &e.Quotes[i]
		err = errors.Join(err, do("quote/"+q.Result+"/label", &q.Label), do("quote/"+q.Result+"/sum", &q.Sum))
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

// PutPalacePlan implements Keeper.
func (r *sealedRecords) PutPalacePlan(ctx context.Context, v identity.Viewer, p Planned) error {
	s, err := r.of(ctx, v)
	if err != nil {
		return err
	}
	p.Plan.Replace, _ = asideTexts(p.Plan.Replace, func(name string, text *string) error { *text = s.sealText(name, *text); return nil }) // none fails
	return r.Records.PutPalacePlan(ctx, v, p)
}

// PalacePlan implements Keeper.
func (r *sealedRecords) PalacePlan(ctx context.Context, v identity.Viewer, lineage string) (Planned, error) {
	p, err := r.Records.PalacePlan(ctx, v, lineage)
	if err != nil {
		return p, err
	}
	s, err := r.of(ctx, v)
	if err == nil {
		p.Plan.Replace, err = asideTexts(p.Plan.Replace, s.openText)
	}
	return p, err
}
