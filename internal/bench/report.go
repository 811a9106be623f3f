package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Row is one measured figure.
type Row struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Floor is the value as a multiple of the bare engine's, where the bare
	// engine does the same; 0 where it does not.
	Floor float64 `json:"floor_ratio,omitempty"`
	// Target says what was aimed at, in words; empty where nothing was.
	Target string `json:"target,omitempty"`
	// Met is nil where there is no target.
	Met *bool `json:"met,omitempty"`
	// Of says how many samples the figure was made of.
	Of string `json:"of"`
}

// Report is everything one run of the benchmark measured, and on what.
type Report struct {
	Version string `json:"version"`
	Machine string `json:"machine"`
	// Stands is what the platform stood on. The targets are for the embedded
	// default; elsewhere rows have none.
	Stands string `json:"stands"`
	Quick  bool   `json:"quick"`
	Rows   []Row  `json:"rows"`
}

func (r *Report) add(rows ...Row) {
	for _, row := range rows {
		if r.Stands != embedded {
			row.Target, row.Met = "", nil
		}
		r.Rows = append(r.Rows, row)
	}
}

// embedded is what a platform stands on without settings.
const embedded = "SQLite, embedded Temporal"

// row is a figure without a target.
func row(what string, value float64, unit, of string) Row {
	return Row{What: what, Value: value, Unit: unit, Of: of}
}

// ratio adds the figure as a multiple of the floor's.
func (r Row) ratio(floor float64) Row {
	if floor > 0 {
		r.Floor = r.Value / floor
	}
	return r
}

// atMost and atLeast add a target.
func (r Row) atMost(limit float64) Row {
	return r.aim(fmt.Sprintf("≤ %s %s", number(limit), r.Unit), r.Value <= limit)
}

func (r Row) atLeast(limit float64) Row {
	return r.aim(fmt.Sprintf("≥ %s %s", number(limit), r.Unit), r.Value >= limit)
}

// aim adds a target in words; several are joined, and all must be met.
func (r Row) aim(target string, met bool) Row {
	if r.Met != nil {
		met = met && *r.Met
		target = r.Target + ", " + target
	}
	r.Target, r.Met = strings.TrimSpace(target), &met
	return r
}

// Missed counts the targets that were not met.
func (r Report) Missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.Met != nil && !*row.Met {
			n++
		}
	}
	return n
}

// Print writes the table.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Liminal %s on %s\nstanding on %s\n", r.Version, r.Machine, r.Stands)
	if r.Quick {
		b.WriteString("Quick: small counts, to see that all of it works. Figures to compare come without --quick.\n")
	}
	b.WriteString("\n")
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "figure\tvalue\t× floor\ttarget\tmet\tof")
	for _, row := range r.Rows {
		fmt.Fprintf(tab, "%s\t%s %s\t%s\t%s\t%s\t%s\n", row.What, number(row.Value), row.Unit, times(row.Floor), row.Target, verdict(row.Met), row.Of)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func times(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}

func verdict(met *bool) string {
	switch {
	case met == nil:
		return ""
	case *met:
		return "yes"
	default:
		return "NO"
	}
}

// number writes three significant digits and no more than are there.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
