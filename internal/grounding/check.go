package grounding

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed check.txt
var instruction string

// Instruction is what a model that checks an answer is told to do.
func Instruction() string { return strings.TrimSpace(instruction) }

// Bounds of what a model is asked.
const (
	mostMaterial = 128 << 10 // bytes of evidence; beyond, the rules judge alone
	mostShown    = 2000      // bytes of the answer before the sentences
)

// Asking is what a model is asked about the sentences of a block.
type Asking struct {
	Material  string // the evidence: the same for a whole answer
	Question  string // what was shown before, and the sentences, numbered from 1
	Sentences int
}

// Turns are the texts of a request, of the person and of the model by turns. The
// evidence stands in turns of its own, which are the same for every block of an
// answer: a provider that keeps what it has read need read them once.
func (a Asking) Turns() []string {
	return []string{a.Material, "I have read it. Which sentences?", a.Question}
}

// Checker asks a model. It gives its answer's text; false: there is none, and the
// rules judge alone.
type Checker func(Asking) (answer string, ok bool)

// Checked counts what became of the sentences a model was asked about.
type Checked struct {
	Blocks     int `json:"blocks"`     // a model was asked about
	Unanswered int `json:"unanswered"` // of these, without an answer
	Refused    int `json:"refused"`    // sentences the rules found supported and the model wrong
	Accepted   int `json:"accepted"`   // sentences the rules doubted and the model found right
}

// Add adds what became of others.
func (c *Checked) Add(o Checked) {
	c.Blocks += o.Blocks
	c.Unanswered += o.Unanswered
	c.Refused += o.Refused
	c.Accepted += o.Accepted
}

// CheckedBy has a model asked about each block that says something which can be
// looked up. What it finds wrong is unsupported. What it finds right although the
// rules doubt it is supported where the values it names for it stand in evidence,
// and where no id is among the doubts: an id stands in a result, or it does not,
// and no model is asked whether it does.
func (r *Reading) CheckedBy(ask Checker) { r.ask = ask }

// Checked says what became of what a model was asked about.
func (r *Reading) Checked() Checked { return r.checked }

// verdicts asks about the sentences of a block, of which the n-th ends at
// ends[n]; nil: nobody knows. Each is read after those before it as if they were
// shown: what the rules doubt is mostly right, and what is not ends the answer.
func (r *Reading) verdicts(block string, ends []int) []judgement {
	if r.ask == nil {
		return nil
	}
	material := r.evidence.material()
	if len(material) > mostMaterial {
		return nil
	}
	topic, from := r.topic, 0
	list, says := make([]doubtful, len(ends)), false
	for i, end := range ends {
		s := r.evidence.read(block[from:end], topic)
		list[i] = doubtful{text: strings.TrimSpace(s.text), doubts: s.unsupported()}
		says = says || s.tells()
		topic, from = s.next(), end
	}
	if !says {
		return nil
	}
	r.checked.Blocks++
	answer, ok := r.ask(Asking{Material: material, Question: question(r.shown, list), Sentences: len(list)})
	out := make([]judgement, len(list))
	told := 0
	if ok {
		told = readVerdicts(answer, out)
	}
	if told == 0 {
		r.checked.Unanswered++
		return nil
	}
	for i := range out {
		out[i].doubted = list[i].doubts != nil
	}
	return out
}

// judgement is what a model says of a sentence.
type judgement struct {
	told    bool // it says something
	ok      bool
	said    string   // of a wrong one: the words that are wrong
	from    []string // of a right one that was doubted: values of the results it follows from
	doubted bool     // it was told of doubts
}

// doubtful is a sentence as a model is asked about it.
type doubtful struct {
	text   string
	doubts []string // what the rules found in no evidence
}

// decide is what remains unsupported of a sentence, given what a model says of it.
func (r *Reading) decide(s *sentence, doubts []string, j judgement) []string {
	switch {
	case !j.told:
		return doubts
	case !j.ok:
		said := strings.TrimSpace(j.said)
		if said == "" || !strings.Contains(s.text, said) {
			said = strings.TrimSpace(s.text)
		}
		if doubts == nil {
			r.checked.Refused++
		}
		return []string{said}
	case doubts == nil || s.lost():
		return doubts
	case j.doubted && !r.evidence.stand(j.from):
		return doubts
	}
	r.checked.Accepted++
	return nil
}

// tells reports whether a sentence says something that can be looked up.
func (s *sentence) tells() bool {
	return len(s.claims) > 0 || len(s.markers) > 0 || len(s.whole.seen) > 0
}

// lost reports whether a sentence names an id, in its words or in a marker, that
// nothing returned.
func (s *sentence) lost() bool {
	if !s.options.Checks.IDs {
		return false
	}
	return slices.ContainsFunc(s.markers, func(m marker) bool {
		return m.kind == cites && s.find(m.entity, m.value) < 0
	}) || slices.ContainsFunc(s.claims, func(c claim) bool {
		return c.sort == sortID && !s.inName(&c) && !s.supported(&c) && !s.stands(&c)
	})
}

// stands reports whether any evidence holds a claim, whatever it is said of.
func (s *sentence) stands(c *claim) bool {
	return slices.ContainsFunc(c.keys, func(k key) bool { return len(s.index[k.resolve(s.today)]) > 0 })
}

// stand reports whether evidence holds each of some values, and there is one.
func (e *Evidence) stand(values []string) bool {
	if len(values) == 0 {
		return false
	}
	if told := e.material(); e.compact == "" {
		e.compact = squeeze(told)
	}
	return !slices.ContainsFunc(values, func(v string) bool {
		// 12500.00 and 12,500 are 12500 in a result.
		if n, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", ""), 64); err == nil && e.plain[int64(math.Float64bits(n))] {
			return false
		}
		v = squeeze(v)
		return v == "" || !strings.Contains(e.compact, v)
	})
}

// squeeze is a text without what a number may be written with and without: 12,500
// is 12500, and an escaped letter of JSON was none to begin with.
func squeeze(text string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" .,'\"\u00a0\u202f", c) {
			return -1
		}
		return c
	}, strings.ToLower(text))
}

// material is all that an answer may be drawn from, as a model reads it.
func (e *Evidence) material() string {
	if e.told != "" {
		return e.told
	}
	var b strings.Builder
	day := e.today.time()
	b.WriteString("Today: " + day.Format("2006-01-02 (Monday)") + "\n")
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n" + title + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	part("The answer was written under these instructions:", e.rules)
	part("The person wrote:", e.wrote)
	part("Records that earlier answers cited:", e.cited)
	b.WriteString("\nResults:\n")
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false) // a value is quoted as it stands
	for _, r := range e.results {
		if b.Len() > mostMaterial {
			break // nobody is asked
		}
		_ = lines.Encode(map[string]any{"tool": r.Tool, "result": r.Value}) // what was JSON is JSON
	}
	e.told, e.compact = b.String(), ""
	return e.told
}

// question is the sentences of a block, and what was shown before them.
func question(before string, list []doubtful) string {
	var b strings.Builder
	if before != "" {
		b.WriteString("The answer so far:\n" + before + "\n\n")
	}
	b.WriteString("Sentences:\n")
	for i, s := range list {
		b.WriteString(strconv.Itoa(i+1) + ": " + s.text)
		if s.doubts != nil {
			doubts, _ := json.Marshal(s.doubts)
			b.WriteString("   (doubts: " + string(doubts) + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// readVerdicts takes the verdicts out of what a model wrote, and says how many
// there are. What is no verdict is passed over: text around them, numbers of no
// sentence; of two for one sentence the first counts.
func readVerdicts(answer string, out []judgement) (told int) {
	for line := range strings.Lines(answer) {
		begin, end := strings.IndexByte(line, '{'), strings.LastIndexByte(line, '}')
		if begin < 0 || end < begin {
			continue
		}
		var v struct {
			N    int      `json:"n"`
			OK   *bool    `json:"ok"`
			Said string   `json:"said"`
			From []string `json:"from"`
		}
		if json.Unmarshal([]byte(line[begin:end+1]), &v) != nil || v.OK == nil || v.N < 1 || v.N > len(out) || out[v.N-1].told {
			continue
		}
		out[v.N-1] = judgement{told: true, ok: *v.OK, said: v.Said, from: v.From}
		told++
	}
	return told
}

// show keeps the end of what is shown, for the sentences after it.
func (r *Reading) show(text string) {
	if r.shown += text; len(r.shown) > 2*mostShown {
		r.shown = strings.ToValidUTF8(r.shown[len(r.shown)-mostShown:], "")
	}
}
