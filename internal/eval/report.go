package eval

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is what a run measured, a row a set, encoder and way of searching.
// Over holds the same over the questions of all sets.
type Report struct {
	Sets []SetReport `json:"sets"`
	Rows []Row       `json:"rows"`
	Over []Row       `json:"over_all_sets"`
}

// SetReport is a set that was measured.
type SetReport struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Questions int    `json:"questions"`
	Apart     int    `json:"apart"` // of these, without a word of their passage
}

// Row is the figures of one way of searching: shares of the questions whose
// passage is among the first so many, the mean of 1/rank (0 below the tenth),
// and recall at 5 of the questions that have no word of their passage.
type Row struct {
	Set      string  `json:"set,omitempty"`
	Encoder  string  `json:"encoder,omitempty"` // empty for words alone
	Way      string  `json:"way"`
	Recall1  float64 `json:"recall_at_1"`
	Recall5  float64 `json:"recall_at_5"`
	Recall10 float64 `json:"recall_at_10"`
	MRR      float64 `json:"mrr"`
	Apart5   float64 `json:"apart_recall_at_5"`
	// Of Search alone: the share of questions it holds to be answerable, of
	// this set and of the others, and the mean similarity it reports.
	Answered   float64 `json:"answered,omitempty"`
	Misled     float64 `json:"misled,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`

	questions, apart, strangers int
}

// add adds the rows of one set and encoder.
func (r *Report) add(s Set, encoder string, m measured, first bool) {
	for _, way := range []string{Words, Vectors, Fused, Search} {
		row := Row{Set: s.Name, Encoder: encoder, Way: way}
		if way == Words {
			if !first {
				continue
			}
			row.Encoder = ""
		}
		for i, t := range m.tries {
			row.count(t, s.Questions[i].Apart)
		}
		if way == Search {
			row.strangers, row.Misled = m.strangers, float64(m.misled)
		}
		r.Rows = append(r.Rows, row)
	}
}

// count adds one question; the figures are sums until mean makes them means.
func (r *Row) count(t try, apart bool) {
	r.questions++
	rank := t.ranks[r.Way]
	hit := func(within int) float64 {
		if rank > 0 && rank <= within {
			return 1
		}
		return 0
	}
	r.Recall1 += hit(1)
	r.Recall5 += hit(5)
	r.Recall10 += hit(deep)
	if rank > 0 {
		r.MRR += 1 / float64(rank)
	}
	if apart {
		r.apart++
		r.Apart5 += hit(5)
	}
	if r.Way == Search {
		r.Similarity += t.similarity
		if answerable(t.clarity) {
			r.Answered++
		}
	}
}

// conclude sums the sets up and makes means of all sums.
func (r *Report) conclude() {
	at := map[[2]string]int{}
	for _, row := range r.Rows {
		key := [2]string{row.Encoder, row.Way}
		i, known := at[key]
		if !known {
			i = len(r.Over)
			at[key] = i
			r.Over = append(r.Over, Row{Encoder: row.Encoder, Way: row.Way})
		}
		r.Over[i].join(row)
	}
	for _, rows := range [][]Row{r.Rows, r.Over} {
		for i := range rows {
			rows[i].mean()
		}
	}
}

func (r *Row) join(o Row) {
	r.questions += o.questions
	r.apart += o.apart
	r.Recall1 += o.Recall1
	r.Recall5 += o.Recall5
	r.Recall10 += o.Recall10
	r.MRR += o.MRR
	r.Apart5 += o.Apart5
	r.Answered += o.Answered
	r.strangers += o.strangers
	r.Misled += o.Misled
	r.Similarity += o.Similarity
}

func (r *Row) mean() {
	n, apart := float64(max(r.questions, 1)), float64(max(r.apart, 1))
	for _, x := range []*float64{&r.Recall1, &r.Recall5, &r.Recall10, &r.MRR, &r.Answered, &r.Similarity} {
		*x /= n
	}
	r.Apart5 /= apart
	r.Misled /= float64(max(r.strangers, 1))
}

// Print writes the report as a table.
func (r Report) Print(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range r.Sets {
		fmt.Fprintf(tab, "%s: %d questions, %d of them without a word of the passage. %s\n", s.Name, s.Questions, s.Apart, s.Title)
	}
	fmt.Fprint(tab, "\nset\tencoder\tway\trecall@1\t@5\t@10\tMRR\tapart@5\tanswered\tmisled\tsimilarity\n")
	for _, row := range r.Rows {
		row.print(tab, row.Set)
	}
	if len(r.Sets) > 1 {
		for _, row := range r.Over {
			row.print(tab, "all")
		}
	}
	return tab.Flush()
}

func (r Row) print(w io.Writer, set string) {
	encoder := r.Encoder
	if encoder == "" {
		encoder = "–"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", set, encoder, r.Way, r.Recall1, r.Recall5, r.Recall10, r.MRR, r.Apart5)
	if r.Way == Search {
		fmt.Fprintf(w, "\t%.2f\t%.2f\t%.2f", r.Answered, r.Misled, r.Similarity)
	}
	fmt.Fprintln(w)
}
