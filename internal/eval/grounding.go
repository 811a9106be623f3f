package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/grounding"
)

// GroundingOptions say which sentences are judged.
type GroundingOptions struct {
	Dir  string // holds worlds.json and sentences.jsonl, and a file for each of GroundingSets
	Part string // All, Tuned, Kept or one of GroundingSets
	Seed uint64
	// Alone has each sentence judged by itself. Otherwise it is read after those
	// that stand before it in the file, as a gate reads an answer.
	Alone bool
	// Check has a model asked about each sentence too, as the gate asks (the check
	// "model" of ground); nil: the rules judge alone.
	Check func(world, sentence string, a grounding.Asking) (answer string, ok bool)
}

// mostBefore is how many sentences are read before one.
const mostBefore = 4

// GroundingReport is how well figures that no result holds are told from those
// that one does.
type GroundingReport struct {
	Part      string                `json:"part,omitempty"`
	Alone     bool                  `json:"alone,omitempty"`
	Seed      uint64                `json:"seed"`
	Sentences int                   `json:"sentences"`
	Planted   Counted               `json:"planted"`      // of those with a planted claim, caught
	False     Counted               `json:"false_alarms"` // of those that are true, called unsupported
	Kinds     map[string]Counted    `json:"kinds"`
	Languages map[string][2]Counted `json:"languages"`         // planted, false alarms
	Checked   *grounding.Checked    `json:"checked,omitempty"` // by a model
	Paragraph time.Duration         `json:"paragraph_ns"`      // of the rules; with a model, its time too
	Wrong     []WronglyJudged       `json:"wrong,omitempty"`
}

// Counted is how many of how many.
type Counted struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

func (t Counted) plus(yes bool) Counted {
	t.Of++
	if yes {
		t.N++
	}
	return t
}

func (t Counted) add(o Counted) Counted { return Counted{t.N + o.N, t.Of + o.Of} }

func (t Counted) String() string {
	return fmt.Sprintf("%3d of %3d  %5.1f %%", t.N, t.Of, 100*float64(t.N)/float64(max(t.Of, 1)))
}

// WronglyJudged is a sentence that was judged wrongly.
type WronglyJudged struct {
	Kind        string   `json:"kind"` // empty: it is true
	Text        string   `json:"text"`
	Unsupported []string `json:"unsupported,omitempty"`
}

// groundingWorld is what calls of tools returned, and what was asked.
type groundingWorld struct {
	Today   string            `json:"today"`
	Said    string            `json:"said"`
	Markers map[string]string `json:"markers"`
	Calls   []struct {
		Tool   string `json:"tool"`
		Result any    `json:"result"`
		Kinds  []struct {
			In     string `json:"in"`
			Entity string `json:"entity"`
			ID     string `json:"id"`
			Line   string `json:"line"`
		} `json:"kinds"`
	} `json:"calls"`
}

// evidence is what the gate of an agent would hold.
func (w groundingWorld) evidence() (*grounding.Evidence, error) {
	today, err := time.Parse(time.DateOnly, w.Today)
	if err != nil {
		return nil, err
	}
	e := grounding.New(today, grounding.Options{
		Checks: grounding.Checks{IDs: true, Dates: true, Numbers: true, Refs: true}, Cite: true, Markers: w.Markers,
	})
	e.Words(w.Said)
	for i, c := range w.Calls {
		r := grounding.Result{Call: fmt.Sprint(i + 1), Tool: c.Tool, Value: c.Result}
		for _, k := range c.Kinds {
			r.Kinds = append(r.Kinds, grounding.Kind{In: k.In, Entity: k.Entity, ID: k.ID, Tell: func(v map[string]any) (line, title string) {
				line, _ = v[k.Line].(string)
				return line, line
			}})
		}
		e.Result(r)
	}
	return e, nil
}

// groundingSentence is a sentence that is true in its world, and what is planted
// in it.
type groundingSentence struct {
	World string `json:"world"`
	Lang  string `json:"lang"`
	Text  string `json:"text"`
	From  string `json:"from"`
	To    string `json:"to"`
	Kind  string `json:"kind"` // date, time, figure, number, id, docket, name, status; matter, record: of another record; none: nothing is planted

	before []string // the true sentences before it: an answer is read from its beginning
}

// Sets of sentences beside the first, whose halves are Tuned and Kept. Each was
// written when what it is to measure stood, and before it was measured.
const (
	Fresh    = "fresh"    // of two more worlds, when the kept half had been looked at
	Last     = "last"     // of another, when Fresh had been
	Held     = "held"     // of four more, when Last had been
	Sealed   = "sealed"   // of four more, together with Held, and measured when what Held showed was mended
	Draft    = "draft"    // of seven more and those of Practice, by who wrote the program, while Practice was mended
	Practice = "practice" // of five more, by somebody else again, as answers run on; mended by
	Final    = "final"    // of five more, together with Practice, and measured once when what Practice showed was mended

	// What a language model answers under the prompts of our agents, of seven worlds
	// each; what is planted was drawn by a seeded program. Both were written together
	// by somebody who did not know how this judges.
	AskedSet  = "asked"      // mended by
	AskedKept = "asked_kept" // measured once when what AskedSet showed was mended
)

// nothing is the kind of a sentence in which nothing is planted.
const nothing = "none"

// GroundingSets are the sets that have a file of their own.
func GroundingSets() []string {
	return []string{Fresh, Last, Held, Sealed, Practice, Draft, Final, AskedSet, AskedKept}
}

func loadGrounding(dir, which string) (map[string]groundingWorld, []groundingSentence, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "worlds.json"))
	if err != nil {
		return nil, nil, err
	}
	var worlds map[string]groundingWorld
	if err := json.Unmarshal(raw, &worlds); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(dir, "worlds.json"), err)
	}
	name := filepath.Join(dir, "sentences.jsonl")
	if slices.Contains(GroundingSets(), which) {
		name = filepath.Join(dir, which+".jsonl")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	var list []groundingSentence
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var s groundingSentence
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if _, ok := worlds[s.World]; !ok || s.Kind != nothing && (s.From == s.To || !strings.Contains(s.Text, s.From)) {
			return nil, nil, fmt.Errorf("%s:%d: nothing of the world %q is planted in %q", name, n, s.World, s.Text)
		}
		if last := len(list) - 1; last >= 0 && list[last].World == s.World && list[last].Lang == s.Lang {
			s.before = append(slices.Clip(list[last].before[max(0, len(list[last].before)-mostBefore+1):]), list[last].Text)
		}
		list = append(list, s)
	}
	return worlds, list, lines.Err()
}

// Grounding judges each sentence as it is, and with what is planted in it.
func Grounding(o GroundingOptions) (GroundingReport, error) {
	worlds, list, err := loadGrounding(o.Dir, o.Part)
	if err != nil {
		return GroundingReport{}, err
	}
	r := GroundingReport{Part: o.Part, Alone: o.Alone, Seed: o.Seed, Kinds: map[string]Counted{}, Languages: map[string][2]Counted{}}
	if o.Check != nil {
		r.Checked = &grounding.Checked{}
	}
	evidence := map[string]*grounding.Evidence{}
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		if evidence[name], err = worlds[name].evidence(); err != nil {
			return r, fmt.Errorf("the world %s: %w", name, err)
		}
	}
	spent := time.Duration(0)
	one := func(grounding.Record) int { return 1 }
	judge := func(s groundingSentence, text string) (found []string, shown string) {
		reading := evidence[s.World].Read()
		if !o.Alone {
			for _, before := range s.before {
				for range reading.Judge(before, one) {
				}
			}
		}
		if o.Check != nil {
			reading.CheckedBy(func(a grounding.Asking) (string, bool) { return o.Check(s.World, text, a) })
		}
		began := time.Now()
		for p := range reading.Judge(text, one) {
			found = append(found, p.Unsupported...)
			shown += p.Text
			for _, c := range p.Chips {
				shown += " " + c.ID
			}
		}
		spent += time.Since(began)
		if r.Checked != nil {
			r.Checked.Add(reading.Checked())
		}
		return found, shown
	}
	for _, s := range halfOf(list, o.Part, o.Seed) {
		language := r.Languages[s.Lang]
		found, _ := judge(s, s.Text)
		r.False, language[1] = r.False.plus(len(found) > 0), language[1].plus(len(found) > 0)
		if len(found) > 0 {
			r.Wrong = append(r.Wrong, WronglyJudged{Text: s.Text, Unsupported: found})
		}
		r.Sentences++
		if s.Kind == nothing {
			r.Languages[s.Lang] = language
			continue
		}
		planted := strings.Replace(s.Text, s.From, s.To, 1)
		refused, shown := judge(s, planted)
		// A marker of a record that nothing returned vanishes, and the sentence stays.
		caught := len(refused) > 0 || s.Kind == "id" && !strings.Contains(shown, s.To)
		r.Planted, language[0], r.Kinds[s.Kind] = r.Planted.plus(caught), language[0].plus(caught), r.Kinds[s.Kind].plus(caught)
		if !caught {
			r.Wrong = append(r.Wrong, WronglyJudged{Kind: s.Kind, Text: planted})
		}
		r.Languages[s.Lang] = language
		r.Sentences++
	}
	if r.Sentences > 0 {
		r.Paragraph = spent / time.Duration(r.Sentences)
	}
	return r, nil
}

// halfOf is the half of a list that a seed draws; a sentence stays with what is
// planted in it.
func halfOf[T any](list []T, which string, seed uint64) []T {
	if which == All || slices.Contains(GroundingSets(), which) {
		return list
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(list))
	half := order[:len(list)/2]
	if which == Kept {
		half = order[len(list)/2:]
	}
	slices.Sort(half)
	out := make([]T, len(half))
	for i, at := range half {
		out[i] = list[at]
	}
	return out
}

// Print writes the report as text; each adds the sentences judged wrongly.
func (r GroundingReport) Print(w io.Writer, each bool) error {
	var b strings.Builder
	part := "all"
	if slices.Contains(GroundingSets(), r.Part) {
		part = r.Part
	} else if r.Part != All {
		part = fmt.Sprintf("the %s half, seed %d", r.Part, r.Seed)
	}
	how := "each after those before it"
	if r.Alone {
		how = "each by itself"
	}
	fmt.Fprintf(&b, "%d sentences (%s), %s, %v each\n\n", r.Sentences, part, how, r.Paragraph.Round(time.Microsecond))
	if c := r.Checked; c != nil {
		fmt.Fprintf(&b, "a model was asked about %d, without an answer to %d; it refused %d that the rules let pass, and accepted %d that they doubt\n\n", c.Blocks, c.Unanswered, c.Refused, c.Accepted)
	}
	fmt.Fprintf(&b, "planted, caught  %s\nfalse alarms     %s\n\n", r.Planted, r.False)
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(&b, "  %-8s       %s\n", kind, r.Kinds[kind])
	}
	for _, lang := range slices.Sorted(maps.Keys(r.Languages)) {
		fmt.Fprintf(&b, "  %s caught      %s\n  %s false       %s\n", lang, r.Languages[lang][0], lang, r.Languages[lang][1])
	}
	if each {
		b.WriteByte('\n')
		for _, one := range r.Wrong {
			if one.Kind == "" {
				fmt.Fprintf(&b, "false alarm %q: %s\n", one.Unsupported, one.Text)
			} else {
				fmt.Fprintf(&b, "missed %s: %s\n", one.Kind, one.Text)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
