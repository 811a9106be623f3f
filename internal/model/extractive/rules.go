package extractive

import (
	_ "embed" // rules.txt
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed rules.txt
var ruleText string

// rules are the names of actions and intents, and the words for them and for
// kinds of documents. Go names none of them (PLAT-04, PLAT-05).
var rules = must(readRules(ruleText))

// The actions a message may want done with documents, by what does them.
var (
	doAnswer   = rules.name("action answer")
	doCondense = rules.name("action salient")
	doCompare  = rules.name("action side_by_side")
	doCheck    = rules.name("action quote_by_quote")
)

// The intents of llm.intent_classifier_v1, by what they are.
var (
	intentQuestion  = rules.name("intent question")
	intentJudgement = rules.name("intent judgement")
	intentFiles     = rules.name("intent files")
	intentCourtesy  = rules.name("intent courtesy")
	intentNone      = rules.name("intent none")
)

// anyKind is the kind of a document that may be of any.
const anyKind = "any"

// A cue is a way people ask for an action. Plain ones say so in so many
// words; the others only make it probable.
type cue struct {
	action string
	plain  bool
	re     *regexp.Regexp
}

// cues are looked for in this order; the first of an action that is found
// decides where in the message it stands.
var cues = must(rules.cues())

// rule is one line of rules.txt.
type rule struct {
	name, value string
	asked       bool // for by Go
}

// ruleSet is rules.txt in its order.
type ruleSet struct{ list []*rule }

// fragment is the name of another rule within a pattern. Counts of repetitions
// and classes of Unicode are written with other characters.
var fragment = regexp.MustCompile(`\{[a-z]+\}`)

// readRules reads rules.txt as its own comment says.
func readRules(text string) (ruleSet, error) {
	var s ruleSet
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		switch name, value, ok := strings.Cut(line, " = "); {
		case strings.TrimSpace(line) == "", line[0] == '#':
		case line[0] == ' ' && len(s.list) > 0:
			s.list[len(s.list)-1].value += " " + strings.TrimSpace(line)
		case !ok || line[0] == ' ':
			return s, fmt.Errorf("rules.txt:%d: %q is no line as in: name = value", n, line)
		case s.find(name) != nil && !strings.HasPrefix(name, "cue "):
			return s, fmt.Errorf("rules.txt:%d: %s stands here twice", n, name)
		default:
			var missing string
			value = fragment.ReplaceAllStringFunc(value, func(of string) string {
				if r := s.find(strings.Trim(of, "{}")); r != nil {
					r.asked = true
					return r.value
				}
				missing = of
				return of
			})
			if missing != "" {
				return s, fmt.Errorf("rules.txt:%d: %s stands for no line above", n, missing)
			}
			s.list = append(s.list, &rule{name: name, value: value})
		}
	}
	return s, nil
}

func (s ruleSet) find(name string) *rule {
	if at := slices.IndexFunc(s.list, func(r *rule) bool { return r.name == name }); at >= 0 {
		return s.list[at]
	}
	return nil
}

// name is the value of a rule. One that is missing is a fault of the program,
// which then does not start.
func (s ruleSet) name(of string) string {
	r := s.find(of)
	if r == nil {
		panic(fmt.Sprintf("rules.txt has no %q", of))
	}
	r.asked = true
	return r.value
}

// cues reads lines as
//
//	cue compare plainly = \bcompare\b
func (s ruleSet) cues() ([]cue, error) {
	var out []cue
	for _, r := range s.list {
		f := strings.Fields(r.name)
		if f[0] != "cue" {
			continue
		}
		known := len(f) == 3 && slices.ContainsFunc(s.list, func(a *rule) bool { return strings.HasPrefix(a.name, "action ") && a.value == f[1] })
		if !known || f[2] != "plainly" && f[2] != "maybe" {
			return nil, fmt.Errorf("rules.txt: %q is no cue of an action, which is: cue ACTION plainly, or maybe", r.name)
		}
		r.asked = true
		out = append(out, cue{f[1], f[2] == "plainly", compiled(flat.Replace(r.value))})
	}
	return out, nil
}

// kinds are the words of the kinds of documents, each with its kind.
func (s ruleSet) kinds() map[string]string {
	out := map[string]string{}
	for _, r := range s.list {
		if kind, ok := strings.CutPrefix(r.name, "kind "); ok {
			r.asked = true
			for w := range strings.FieldsSeq(r.value) {
				out[w] = kind
			}
		}
	}
	return out
}

// flat writes umlauts as two letters: to a pattern, a border of words stands
// only beside letters of ASCII.
var flat = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// pattern is a rule that is a pattern.
func pattern(name string) *regexp.Regexp { return compiled(rules.name(name)) }

// flatPattern is a rule that is a pattern for text that was made flat.
func flatPattern(name string) *regexp.Regexp { return compiled(flat.Replace(rules.name(name))) }

func compiled(pattern string) *regexp.Regexp { return must(regexp.Compile(pattern)) }

// wordSet is a rule that is a list of words.
func wordSet(name string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(rules.name(name)) {
		out[w] = true
	}
	return out
}

// must is for what is compiled into the program: a fault in it is found before
// anything runs.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
