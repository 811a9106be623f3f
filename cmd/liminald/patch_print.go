package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"liminal/artifacts"
	"liminal/internal/rehearsal"
)

// patchView is a patch as the API shows it, as far as the command line prints
// it.
type patchView struct {
	ID            int64              `json:"id,omitempty"`
	OK            *bool              `json:"ok,omitempty"` // of one that was only tried
	Status        string             `json:"status,omitempty"`
	Stage         string             `json:"stage,omitempty"`
	Proposer      string             `json:"proposer,omitempty"`
	By            *actor             `json:"proposed_by,omitempty"`
	Justification string             `json:"justification,omitempty"`
	Changes       []changeView       `json:"changes"`
	Checks        []checkView        `json:"checks"`
	Verdict       rehearsal.Verdict  `json:"verdict"`
	Reasons       []string           `json:"reasons"`
	Needs         int                `json:"needs,omitempty"`
	Approvals     []json.RawMessage  `json:"approvals,omitempty"`
	CreatedAt     time.Time          `json:"created_at,omitzero"`
	RebasedTo     int64              `json:"rebased_to,omitempty"`
	Events        []eventView        `json:"events,omitempty"`
	May           map[string]mayView `json:"may,omitempty"`

	whole json.RawMessage // as the server said it, for --json
}

// UnmarshalJSON keeps all of it beside what is printed.
func (v *patchView) UnmarshalJSON(b []byte) error {
	type plain patchView
	*v = patchView{}
	if err := json.Unmarshal(b, (*plain)(v)); err != nil {
		return err
	}
	v.whole = bytes.Clone(b)
	return nil
}

// MarshalJSON gives back what the server said.
func (v patchView) MarshalJSON() ([]byte, error) { return v.whole, nil }

type actor struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type changeView struct {
	Kind    string            `json:"kind"`
	Name    string            `json:"name"`
	Base    int               `json:"base_version"`
	Current int               `json:"current_version"`
	Patch   json.RawMessage   `json:"patch,omitempty"`
	Before  json.RawMessage   `json:"before,omitempty"`
	Creates bool              `json:"creates"`
	Applied int               `json:"applied_version,omitempty"`
	Report  *rehearsal.Report `json:"report,omitempty"`
}

type checkView struct {
	Name     string              `json:"name"`
	State    string              `json:"state"`
	Problems []artifacts.Problem `json:"problems"`
}

type eventView struct {
	At     time.Time `json:"at"`
	By     *actor    `json:"by"`
	What   string    `json:"what"`
	Reason string    `json:"reason"`
}

type mayView struct {
	OK  bool   `json:"ok"`
	Why string `json:"why"`
}

// failed reports whether the patch cannot go on as it is.
func (v patchView) failed() bool {
	return v.OK != nil && !*v.OK || v.Status == "invalid" || v.Verdict == rehearsal.Block
}

// title names what a patch changes: default v7 → v8.
func (v patchView) title() string {
	var names []string
	for _, c := range v.Changes {
		switch {
		case c.Creates:
			names = append(names, c.Name+" (new)")
		case c.Applied > 0:
			names = append(names, fmt.Sprintf("%s v%d → v%d", c.Name, c.Base, c.Applied))
		default:
			names = append(names, fmt.Sprintf("%s v%d → v%d", c.Name, c.Base, c.Base+1))
		}
	}
	return strings.Join(names, ", ")
}

func nameOfActor(a *actor) string {
	if a == nil {
		return "Liminal"
	}
	return a.Name
}

// harmless is a text without what a terminal obeys: who proposed a patch wrote
// much of what is printed of it.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, text)
}

func printPatches(w io.Writer, all []patchView) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "ID\tSTATUS\tSTAGE\tVERDICT\tCHANGES\tBY\tSINCE")
	for _, v := range all {
		fmt.Fprintf(tab, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n",
			v.ID, v.Status, v.Stage, v.Verdict, harmless(v.title()), nameOfActor(v.By), v.CreatedAt.Local().Format("2006-01-02 15:04"))
	}
	return tab.Flush()
}

// printStanding is how a patch stands after an act, in a line, and what can be
// done next.
func printStanding(b *strings.Builder, v patchView) {
	fmt.Fprintf(b, "patch %d: %s: %s", v.ID, v.title(), v.Status)
	if v.Needs > 1 && v.Status == "pending" {
		fmt.Fprintf(b, ", %d of %d approvals", len(v.Approvals), v.Needs)
	}
	b.WriteByte('\n')
	var next []string
	for _, verb := range slices.Sorted(maps.Keys(v.May)) {
		if v.May[verb].OK {
			next = append(next, strings.ReplaceAll(verb, "roll_back", "rollback"))
		}
	}
	if len(next) > 0 {
		fmt.Fprintf(b, "next: %s\n", strings.Join(next, ", "))
	}
}

func printPatch(b *strings.Builder, v patchView) {
	fmt.Fprintf(b, "patch %d: %s\n%s by %s; %s\n\n", v.ID, v.title(), v.Status, nameOfActor(v.By), v.Justification)
	for _, c := range v.Changes {
		fmt.Fprintf(b, "%s %s, on version %d", artifacts.Alias(c.Kind), c.Name, c.Base)
		if c.Current != 0 && c.Current != c.Base && c.Applied == 0 {
			fmt.Fprintf(b, " (it is at %d now: rebase)", c.Current)
		}
		b.WriteByte('\n')
		writeOps(b, c.Before, c.Patch)
	}
	b.WriteByte('\n')
	printRehearsal(b, v)
	for _, e := range v.Events {
		fmt.Fprintf(b, "%s  %-11s %s", e.At.Local().Format("2006-01-02 15:04:05"), e.What, nameOfActor(e.By))
		if e.Reason != "" {
			fmt.Fprintf(b, ": %s", e.Reason)
		}
		b.WriteByte('\n')
	}
	if len(v.May) > 0 {
		b.WriteByte('\n')
		printStanding(b, v)
	}
}

// printChecks lists the checks, with what each found and what the rehearsal
// says in a line.
func printChecks(b *strings.Builder, v patchView) {
	for _, c := range v.Checks {
		fmt.Fprintf(b, "%-12s %s", c.Name, c.State)
		writeProblems(b, c.Problems)
		b.WriteByte('\n')
	}
	if v.Verdict != "" {
		fmt.Fprintf(b, "verdict: %s\n", v.Verdict)
	}
	for _, reason := range v.Reasons {
		fmt.Fprintf(b, "  %s\n", reason)
	}
}

// printRehearsal is the checks, and each report with its figures.
func printRehearsal(b *strings.Builder, v patchView) {
	printChecks(b, v)
	for _, c := range v.Changes {
		if c.Report != nil {
			fmt.Fprintf(b, "\nrehearsal of %s on %d of %d recorded runs, %d ms\n", c.Name, c.Report.Sample.Taken, c.Report.Sample.Population, c.Report.TookMS)
			printReport(b, c.Report)
		}
	}
}

func printReport(b *strings.Builder, r *rehearsal.Report) {
	if r.Views != nil {
		printViews(b, r.Views)
		return
	}
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "  go another way\t%d\n", r.Moved)
	fmt.Fprintf(tab, "  not known\t%d\n", r.Unknown)
	for _, row := range []struct {
		name string
		two  rehearsal.Two
	}{
		{"fail", r.Failed},
		{"cut", r.Cut},
		{"questions to people", r.Questions},
		{"calls to models", r.Models},
		{"calls to tools", r.Tools},
	} {
		fmt.Fprintf(tab, "  %s\t%d → %d\n", row.name, row.two.Before, row.two.After)
	}
	fmt.Fprintf(tab, "  median time\t%.0f → %.0f ms\n", r.MS.Before, r.MS.After)
	if r.Cost != (rehearsal.BeforeAfter{}) {
		fmt.Fprintf(tab, "  cost\t%.4f → %.4f USD\n", r.Cost.Before, r.Cost.After)
	}
	fmt.Fprintf(tab, "  nodes seen\t%d of %d\n", r.Coverage.NodesSeen, r.Coverage.Nodes)
	_ = tab.Flush() // a builder takes everything
	for _, p := range r.Places {
		fmt.Fprintf(b, "  %d × after %s: %s instead of %s\n", p.Runs, orNothing(p.After, "the start"), orNothing(p.New, "the end"), orNothing(p.Old, "the end"))
	}
}

// printViews is the report of a policy.palace.
func printViews(b *strings.Builder, v *rehearsal.Views) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "  histories that differ\t%d of %d\n", v.Differ, v.Histories)
	for _, row := range []struct {
		name string
		two  rehearsal.Two
	}{
		{"epochs", v.Epochs},
		{"results set aside", v.Results},
		{"tokens of them", v.Tokens},
		{"needed again", v.Regretted},
		{"requests a backend would refuse", v.Invalid},
	} {
		fmt.Fprintf(tab, "  %s\t%d → %d\n", row.name, row.two.Before, row.two.After)
	}
	fmt.Fprintf(tab, "  cost\t%.4f → %.4f USD, recorded %.4f\n", v.Cost.Before, v.Cost.After, v.Recorded)
	if v.Told {
		fmt.Fprintf(tab, "  it lies between\t%.4f and %.4f USD\n", v.Low, v.High)
	}
	_ = tab.Flush() // a builder takes everything
}

func orNothing(s, nothing string) string {
	if s == "" {
		return nothing
	}
	return s
}
