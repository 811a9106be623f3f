package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"liminal/e2e/iopressure"
)

// silence is the longest a person may see nothing after a worker's death.
const silence = 5 * time.Second

// Count is what became of one noun.
type Count struct {
	Told      int `json:"told"`
	Lost      int `json:"lost"`
	Doubled   int `json:"doubled"`
	Reordered int `json:"reordered"`
	Wrong     int `json:"wrong"` // failed, not what was asked, or seen by another
}

// Recovery is how soon streams that were being read went on after one kind of
// fault.
type Recovery struct {
	Faults   int           `json:"faults"`
	Streams  int           `json:"streams"`
	Cut      int           `json:"cut"` // of them, those that the next fault hit before they went on
	P50      time.Duration `json:"p50_ns"`
	Max      time.Duration `json:"max_ns"`
	MaxRun   string        `json:"max_run,omitempty"`
	Bounded  bool          `json:"bounded"` // the bar of five seconds is on it
	HealedIn time.Duration `json:"healed_in_ns"`
	late     []late        // where it is bounded
}

// late is one silence above the bar, and how long the disk stood still in it.
type late struct {
	run   string
	wait  time.Duration
	stall iopressure.Stall
}

// Report is what one storm did.
type Report struct {
	Deployment string               `json:"lane"`
	Seed       uint64               `json:"seed"`
	Lasted     time.Duration        `json:"lasted_ns"`
	People     int                  `json:"people"`
	Counts     map[string]*Count    `json:"counts"`
	Kinds      map[string]int       `json:"kinds"` // accepted turns
	Recoveries map[string]*Recovery `json:"recoveries"`
	Clients    map[string]int       `json:"clients"`
	Crashes    map[string]int       `json:"crashes,omitempty"`
	Violations []Violation          `json:"violations"`
	// Spoiled are silences above the bar for most of which the machine's disk
	// stood still: no violations yet, but to be measured again.
	Spoiled []Violation `json:"spoiled,omitempty"`
	// Again says of each storm before this one why it was not the last.
	Again  []string `json:"again,omitempty"`
	Folder string   `json:"folder,omitempty"`
}

// nouns are the rows of the table, in its order.
var nouns = []string{"turns", "answers", "messages", "events", "questions", "uploads", "walls"}

// broken reports whether a bar is.
func (r *Report) broken() bool { return len(r.Violations) > 0 }

// spoiled reports whether the disk's standing still is all that speaks against
// the program.
func (r *Report) spoiled() bool { return !r.broken() && len(r.Spoiled) > 0 }

// newReport counts what a storm did. disk is what was recorded of the disk
// meanwhile; nil where nothing was.
func newReport(seen Observed, stored map[string]*Holding, struck []Struck, found []Violation, disk *iopressure.Recorder) *Report {
	r := &Report{Counts: map[string]*Count{}, Kinds: map[string]int{}, Violations: found, People: len(stored)}
	for _, noun := range nouns {
		r.Counts[noun] = &Count{}
	}
	r.count(seen, stored)
	r.Recoveries = recoveries(seen.Turns, struck, disk)
	for name, rec := range r.Recoveries {
		r.judge(name, rec.late)
	}
	r.countViolations(r.Violations)
	return r
}

// judge tells the longest silence after one kind of fault, of those that the
// program is to blame for and of those that the disk spoiled.
func (r *Report) judge(name string, all []late) {
	slices.SortFunc(all, func(a, b late) int { return cmp.Compare(b.wait, a.wait) })
	first := func(most bool) []Violation {
		for _, l := range all {
			if l.stall.Most() != most {
				continue
			}
			text := fmt.Sprintf("after %q a reader saw nothing for %s; the bar is %s", name, l.wait.Round(time.Millisecond), silence)
			if most {
				text += "; " + l.stall.String()
			}
			return []Violation{{What: "events", How: "late", Run: l.run, Text: text}}
		}
		return nil
	}
	r.Violations = append(r.Violations, first(false)...)
	r.Spoiled = append(r.Spoiled, first(true)...)
}

// condemn makes violations of what was spoiled once too often.
func (r *Report) condemn() {
	r.countViolations(r.Spoiled)
	r.Violations, r.Spoiled = append(r.Violations, r.Spoiled...), nil
}

// countViolations puts violations in their rows.
func (r *Report) countViolations(list []Violation) {
	for _, v := range list {
		c := r.Counts[v.What]
		switch v.How {
		case "lost":
			c.Lost++
		case "doubled":
			c.Doubled++
		case "reordered":
			c.Reordered++
		default:
			c.Wrong++
		}
	}
}

// count counts what clients were told.
func (r *Report) count(seen Observed, stored map[string]*Holding) {
	for _, t := range seen.Turns {
		if t.accepted() {
			r.turn(t)
		}
	}
	for _, u := range seen.Uploads {
		if u.Path != "" {
			r.Counts["uploads"].Told++
		}
	}
	for _, h := range stored {
		r.Counts["walls"].Told += h.Tried
		for _, list := range h.Conversations {
			r.Counts["messages"].Told += len(list)
		}
	}
}

// turn counts what was told of one.
func (r *Report) turn(t *Turn) {
	r.Kinds[t.Kind]++
	r.Counts["turns"].Told++
	answered := t.Direct != nil
	for _, reader := range t.Readers {
		r.Counts["events"].Told += len(reader.events())
		end := reader.end()
		answered = answered || end != nil && end.Kind == "message_done"
	}
	if answered {
		r.Counts["answers"].Told++
	}
	for _, reply := range t.Replies {
		if reply.Taken {
			r.Counts["questions"].Told++
		}
	}
}

// recoveries measures, for each kind of fault, the time until the next event
// of every stream that was being read when it struck and had begun to speak. A
// silence that the next fault cuts short counts up to it: what follows is
// measured as the next fault's, and held to its bar.
func recoveries(turns []*Turn, struck []Struck, disk *iopressure.Recorder) map[string]*Recovery {
	out := map[string]*Recovery{}
	waits := map[string][]time.Duration{}
	for i, s := range struck {
		rec := out[s.Name]
		if rec == nil {
			rec = &Recovery{Bounded: s.Name == faultWorker || s.Name == faultServer}
			out[s.Name] = rec
		}
		rec.Faults++
		rec.HealedIn = max(rec.HealedIn, s.Healed.Sub(s.At))
		for _, t := range turns {
			for _, wait := range t.waited(s.At) {
				if i+1 < len(struck) && s.At.Add(wait).After(struck[i+1].At) {
					wait = struck[i+1].At.Sub(s.At)
					rec.Cut++
				}
				if rec.Bounded && wait > silence {
					rec.late = append(rec.late, late{run: t.Run, wait: wait, stall: disk.Stall(s.At, s.At.Add(wait))})
				}
				waits[s.Name] = append(waits[s.Name], wait)
				if wait > rec.Max {
					rec.Max, rec.MaxRun = wait, t.Run
				}
			}
		}
	}
	for name, list := range waits {
		slices.Sort(list)
		out[name].Streams, out[name].P50 = len(list), list[len(list)/2]
	}
	return out
}

// waited is how long after a moment each reader of a turn that the moment
// affected got its next event.
func (t *Turn) waited(at time.Time) (waits []time.Duration) {
	if t.Kind == kindHang || t.Kind == kindCancel {
		return nil // silent of its own accord
	}
	for _, reader := range t.Readers {
		if wait, affected := reader.waited(at); affected {
			waits = append(waits, wait)
		}
	}
	return waits
}

// waited is how long after a moment the next event came. It is not affected
// when it was not reading then, had not yet seen a word, or nothing came for
// it any more.
func (r *Reader) waited(at time.Time) (time.Duration, bool) {
	reading := slices.ContainsFunc(r.Legs, func(l *Leg) bool {
		// A connection that the fault broke ends a moment after it.
		return !l.Left && l.Began.Before(at) && l.Ended.After(at)
	})
	if !reading {
		return 0, false
	}
	spoke := false
	for _, e := range r.events() {
		if e.At.Before(at) {
			spoke = e.Kind == "token" || e.Kind == "reset" || spoke && !e.ends()
			continue
		}
		if e.gap() {
			continue // says only that something was lost
		}
		return e.At.Sub(at), spoke
	}
	return 0, false
}

// write is the report for people.
func (r *Report) write(out io.Writer) {
	fmt.Fprintf(out, "\n%s, seed %d: %s, %d people\n\n", r.Deployment, r.Seed, r.Lasted.Round(time.Second), r.People)
	fmt.Fprintf(out, "  %-10s %8s %6s %8s %10s %6s\n", "", "told", "lost", "doubled", "reordered", "wrong")
	for _, noun := range nouns {
		c := r.Counts[noun]
		fmt.Fprintf(out, "  %-10s %8d %6d %8d %10d %6d\n", noun, c.Told, c.Lost, c.Doubled, c.Reordered, c.Wrong)
	}
	fmt.Fprintf(out, "\n  %-40s %6s %8s %6s %10s %10s %10s\n", "until the next event (or fault) after", "faults", "streams", "cut", "p50", "max", "healed in")
	for _, name := range slices.Sorted(maps.Keys(r.Recoveries)) {
		rec := r.Recoveries[name]
		fmt.Fprintf(out, "  %-40s %6d %8d %6d %10s %10s %10s\n", name, rec.Faults, rec.Streams, rec.Cut,
			rec.P50.Round(time.Millisecond), rec.Max.Round(time.Millisecond), rec.HealedIn.Round(time.Millisecond))
	}
	counted(out, "turns by kind", r.Kinds)
	counted(out, "what clients lived through", r.Clients)
	counted(out, "processes that ended by themselves", r.Crashes)
	for i, why := range r.Again {
		fmt.Fprintf(out, "\nStorm %d was measured again: %s\n", i+1, why)
	}
	if !r.broken() {
		fmt.Fprintf(out, "\nNothing was lost, doubled or reordered.\n")
		return
	}
	fmt.Fprintf(out, "\n%d promises were not kept:\n", len(r.Violations))
	for _, v := range r.Violations {
		fmt.Fprintf(out, "  %s\n", v)
	}
	fmt.Fprintf(out, "\nLook at %s: the *.log of each process, and told.json and stored.json for a run's id.\n", r.Folder)
}

func counted(out io.Writer, title string, n map[string]int) {
	keys := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	first := true
	for _, key := range keys {
		if n[key] == 0 {
			continue
		}
		if first {
			fmt.Fprintf(out, "\n  %s\n", title)
			first = false
		}
		fmt.Fprintf(out, "    %6d %s\n", n[key], key)
	}
}
