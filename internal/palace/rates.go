package palace

import "slices"

// rates are the tokens of the parts of an exchange.
type rates struct {
	global, fresh []int64
	perByte       float64 // of the answer
}

// rates lays what the backend counted to the parts, by their bytes. Of a lineage that
// goes on what is new is what this request has more than the last one and its answer;
// where that is nothing (a model may drop its earlier thinking), and at first, all
// parts have the same rate.
func (t *taking) rates(l *known, global, fresh []part) rates {
	total := t.e.Usage.Total()
	all, news := 0, 0
	for _, p := range slices.Concat(global, t.asked.messages) {
		all += p.span.To - p.span.From
	}
	echoed := map[string]bool{}
	for _, p := range l.places[min(l.Sent, len(l.places)):] {
		echoed[p.Hash] = true
	}
	for _, p := range fresh {
		if !echoed[p.hash] {
			news += p.span.To - p.span.From
		}
	}
	per := 0.0
	if all -= t.less; all > 0 { // the backend counted what was sent
		per = float64(total) / float64(all)
	}
	perFresh := per
	if more := total - l.Input - l.Output; l.Input > 0 && more > 0 && news > 0 {
		perFresh = float64(more) / float64(news)
	}
	of := func(list []part, per float64) (out []int64) {
		for _, p := range list {
			out = append(out, int64(float64(p.span.To-p.span.From)*per+0.5))
		}
		return out
	}
	r := rates{global: of(global, per), fresh: of(fresh, perFresh)}
	said := 0
	for _, p := range t.answer.parts {
		said += p.span.To - p.span.From
	}
	if said > 0 {
		r.perByte = float64(t.e.Usage.Output) / float64(said)
	}
	return r
}
