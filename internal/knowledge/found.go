package knowledge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/identity"
	"liminal/internal/words"
)

// found is what search finds. Before a question counts as vague, or as one the
// documents say nothing about, it is looked for once more as it may have been
// meant: by a phrase of words that say little each, and without a word that is
// none. What is found then has to fit well (RAG-16).
func (l *Library) found(ctx context.Context, v identity.Viewer, q Question, s scope) (Found, error) {
	f, err := l.search(ctx, v, q, s)
	switch {
	case err != nil || len(s.contexts) == 0:
		return f, err
	case f.Clarity == Vague:
		return l.byPhrase(ctx, v, q, s, f)
	case f.Clarity == Nothing:
		return l.withoutStray(ctx, v, q, s, f)
	}
	return f, nil
}

// maxPhrases bounds how many phrases of a vague question are looked for.
const maxPhrases = 2

// byPhrase looks for the phrases of a question all of whose words say little:
// "happens before" is one that a document may define. A phrase has to stand in
// what is found as it stands in the question; otherwise the question is vague.
func (l *Library) byPhrase(ctx context.Context, v identity.Viewer, q Question, s scope, vague Found) (Found, error) {
	list := phrases(q.Text)
	for _, p := range list[:min(len(list), maxPhrases)] {
		one := q
		one.Text = p.shouted(q.Text)
		f, err := l.search(ctx, v, one, s)
		if err != nil {
			return Found{}, err
		}
		fits := f.Confidence == High || p.quoted && strings.Contains(p.text, " ") && f.Confidence == Medium
		if fits && (f.Clarity == Clear || f.Clarity == Several) && slices.ContainsFunc(f.Passages[:min(len(f.Passages), supporting)], p.standsIn) {
			return f, nil
		}
	}
	return vague, nil
}

// phrase is a part of a question that may be meant as it stands.
type phrase struct {
	text   string
	quoted bool
}

// shouted is a question with the phrase in capitals and nothing else: that is how
// people write what they mean to the letter, and such words always count.
func (p phrase) shouted(question string) string {
	return strings.Replace(strings.ToLower(question), strings.ToLower(p.text), strings.ToUpper(p.text), 1)
}

func (p phrase) standsIn(of Passage) bool {
	re, err := regexp.Compile(`(?i)(?:^|[^\pL\pN])` + strings.Join(quotedWords(p.text), `[\s-]+`) + `(?:$|[^\pL\pN])`)
	return err == nil && re.MatchString(of.Text+"\n"+of.Heading+"\n"+of.Title)
}

func quotedWords(text string) []string {
	fields := strings.Fields(text)
	for i, w := range fields {
		fields[i] = regexp.QuoteMeta(w)
	}
	return fields
}

// inQuotes is what stands in quotation marks; an apostrophe within a word is none.
var inQuotes = regexp.MustCompile(`"([^"]{2,60})"|“([^”]{2,60})”|„([^“”]{2,60})[“”]|«([^»]{2,60})»|` + "`([^`]{2,60})`" + `|(?:^|[\s(])['‘]([^'‘’]{2,60})['’](?:$|[\s).,;:?!])`)

// phrases are those of a question: what is quoted, and else two words that stand
// side by side and are not both there for grammar alone.
func phrases(question string) []phrase {
	var out []phrase
	for _, m := range inQuotes.FindAllStringSubmatch(question, -1) {
		for _, text := range m[1:] {
			if text = strings.TrimSpace(text); text != "" {
				out = append(out, phrase{text, true})
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	list, lang := words.Split(question), words.Detect(question)
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if b.Start == a.End+1 && question[a.End] == ' ' && says(lang, a) && (says(lang, b) || relations[b.Text]) {
			out = append(out, phrase{question[a.Start:b.End], false})
		}
	}
	return out
}

// says reports whether a word is more than grammar.
func says(l words.Language, w words.Word) bool { return len(w.Text) > 1 && !words.Stop(l, w.Text) }

// relations are small words that make a term of the word before them.
var relations = map[string]bool{
	"before": true, "after": true, "between": true, "within": true, "without": true, "under": true, "over": true, "above": true,
	"below": true, "until": true, "vor": true, "nach": true, "zwischen": true, "ohne": true, "unter": true, "über": true,
}

// withoutStray looks for a question without the one word in it that is none: a
// slip of the keyboard must not keep what is plainly there from being found. It
// takes a question that still has two words to look for, and what is found has
// to fit well.
func (l *Library) withoutStray(ctx context.Context, v identity.Viewer, q Question, s scope, none Found) (Found, error) {
	rest, ok := unstrayed(q.Text)
	if !ok || inquire(rest).strong() < 2 {
		return none, nil
	}
	q.Text = rest
	f, err := l.search(ctx, v, q, s)
	if err != nil || f.Confidence == High {
		return f, err
	}
	return none, nil
}

// maxStray is how many words of a question may be strays: of more, nobody knows
// what is asked.
const maxStray = 1

// unstrayed is a question without what is no word in it; false where there is
// none, or more than one.
func unstrayed(question string) (string, bool) {
	list := words.Split(question)
	var strays []words.Word
	for i, w := range list {
		if stray(question, list, i) {
			strays = append(strays, w)
		}
	}
	if len(strays) == 0 || len(strays) > maxStray {
		return question, false
	}
	w := strays[0]
	return strings.TrimLeft(question[:w.Start]+question[w.End:], " ,.:;-])"), true
}

// stray reports whether a word of a question is none. A name that the documents
// do not know is one: who asks about it is told so.
func stray(question string, list []words.Word, i int) bool {
	raw := question[list[i].Start:list[i].End]
	if raw != strings.ToLower(raw) || len(raw) < 2 || len(list[i].Parts) > 0 && !mixed(raw) {
		return false
	}
	switch {
	case mixed(raw):
		return len(raw) <= shortStray && (i == 0 || i == len(list)-1) && !codeLike(raw)
	case strings.IndexFunc(raw, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0:
		return false
	case i == 0 && len(list) > 3 && asksFirst(question[list[1].Start:list[1].End]):
		return !words.Stop(words.Detect(question), list[0].Text)
	}
	return misspelt[raw]
}

// shortStray is how long letters and digits by chance are at most.
const shortStray = 5

// mixed reports whether a word has letters and digits.
func mixed(raw string) bool {
	return strings.IndexFunc(raw, unicode.IsDigit) >= 0 && strings.IndexFunc(raw, unicode.IsLetter) >= 0
}

// codeLike reports whether letters and digits may be the name of something: a
// letter with a number as in "a4", or three digits and more.
func codeLike(raw string) bool {
	digits := strings.Count(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, raw), "0")
	return digits > 2 || len(raw)-digits < 2
}

// asksFirst reports whether a word begins a question, written as at its beginning.
func asksFirst(raw string) bool {
	switch raw {
	case "What", "Who", "When", "Where", "Why", "Which", "How", "Is", "Are", "Does", "Do", "Can", "May", "Must",
		"Was", "Wer", "Wann", "Wo", "Warum", "Welche", "Welcher", "Welches", "Wie", "Ist", "Sind", "Darf", "Kann", "Muss", "Gibt":
		return true
	}
	return false
}

// misspelt are small words as they are often mistyped.
var misspelt = map[string]bool{
	"teh": true, "hte": true, "waht": true, "wath": true, "whta": true, "hwo": true, "adn": true, "deos": true, "wich": true, "whcih": true,
	"dei": true, "edr": true, "dsa": true, "udn": true, "nciht": true, "iwe": true, "wsa": true,
}
