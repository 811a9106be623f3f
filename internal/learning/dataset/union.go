package dataset

// Union is one dataset of several, of which each is what one adapter learnt from:
// its rows have the number of theirs (Row.Teacher). What a conversation holds out
// of one is not trained on in another. Pairs, and answers that were disliked, are
// not among it: who is to answer as others do has no wishes besides. It is enough
// where each of them is.
func Union(parts ...Dataset) Dataset {
	aside := map[string]bool{}
	for _, d := range parts {
		for _, r := range d.Held {
			aside[r.ConversationID] = true
		}
	}
	out := Dataset{Manifest: Manifest{LeftOut: map[Reason]int{}, Sources: []Source{}}}
	f := &out.Manifest
	for i, d := range parts {
		kept := map[int64]bool{}
		for _, r := range d.Train {
			if !aside[r.ConversationID] {
				r.Teacher = i
				out.Train, kept[r.EventID] = append(out.Train, r), true
			}
		}
		for _, r := range d.Held {
			r.Teacher = i
			out.Held, kept[r.EventID] = append(out.Held, r), true
		}
		missing := d.Manifest.Missing
		if missing == "" && len(kept) == len(d.Held) {
			missing = FewRows
		}
		if f.Missing == "" {
			f.Missing = missing
		}
		f.add(d.Manifest, kept)
	}
	f.Rows, f.HeldOut = len(out.Train), len(out.Held)
	return out
}

// add adds what a manifest says of the rows that are kept.
func (f *Manifest) add(m Manifest, kept map[int64]bool) {
	f.Cases, f.Targets = f.Cases+m.Cases, f.Targets+m.Targets
	f.Redacted, f.Damped, f.Capped = f.Redacted+m.Redacted, f.Damped+m.Damped, f.Capped+m.Capped
	for why, n := range m.LeftOut {
		f.LeftOut[why] += n
	}
	for _, s := range m.Sources {
		if (s.Side == SideTrain || s.Side == SideHeld) && kept[s.EventID] {
			f.Sources = append(f.Sources, s)
			f.Tokens += s.Tokens
		}
	}
}
