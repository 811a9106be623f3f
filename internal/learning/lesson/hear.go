package lesson

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/learning"
	"liminal/internal/words"
)

// maxNote is how long a note is that is read, in bytes: who says how they want
// to be answered does so in a few words, and what is longer is material.
const maxNote = 1200

// Read is what a program can follow of a lesson's words, nil for nothing: for
// lessons that a person reworded.
func Read(text string) *learning.Directive {
	for _, w := range heard(text, true) {
		if d := w.directive(); d != nil {
			return d
		}
	}
	return nil
}

// heard are the wishes of a note, each kind once, in the order of kinds. liked
// is whether it was said of an answer that the person liked: "short and clear"
// asks for more of it then, and else for nothing. It would rather miss some than
// hear what was not said; a note that says both ways of a kind says neither.
func heard(note string, liked bool) []wish {
	if len(note) > maxNote {
		return nil
	}
	found := map[kind][]string{}
	for _, clause := range clauses(note) {
		for _, w := range plainly(clause, liked) {
			if !slices.Contains(found[w.kind], w.value) {
				found[w.kind] = append(found[w.kind], w.value)
			}
		}
	}
	var out []wish
	for _, k := range kinds {
		if len(found[k]) == 1 {
			out = append(out, wishOf(k, found[k][0]))
		}
	}
	return out
}

var (
	instead = regexp.MustCompile(`\b(?:instead of|rather than|and not|anstatt|anstelle von|anstelle der|statt)\b`)
	// courteous ends a wish: what follows it is another.
	courteous = regexp.MustCompile(`, (please|bitte)(\s*(?:[.!;\n]|$))`)
	lacking   = regexp.MustCompile(`\b(?:not enough|too few|too little|nicht genug|nicht genügend|zu wenige?)\b`)
	ends      = regexp.MustCompile(`[.;!?\n,:()]+|\b(?:but|however|aber|sondern|jedoch|stattdessen)\b`)
)

// clauses are the parts of a note that say one thing each, in small letters.
func clauses(note string) []string {
	note = words.Fold(note)
	note = strings.NewReplacer("e.g.", "eg", "z.b.", "zb", "z. b.", "zb", "tl;dr", "tldr", "hör auf, ", "hör auf ").Replace(note)
	note = courteous.ReplaceAllString(note, " $1$2")
	note = lacking.ReplaceAllString(instead.ReplaceAllString(note, " please, no "), "more")
	var out []string
	for _, c := range ends.Split(note, -1) {
		if c = strings.Join(strings.Fields(c), " "); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// plainly are the wishes of one clause.
func plainly(clause string, liked bool) []wish {
	var out []wish
	for _, p := range phrases {
		at := p.says.FindStringIndex(clause)
		if at == nil || p.form == praise && !liked || p.form == blame && liked {
			continue
		}
		before := clause[:at[0]]
		no, w := nay.MatchString(lastWords(before, 3)), wishOf(p.kind, p.value)
		switch {
		case took.MatchString(before), p.kind == kindLanguage && !ofAnswers.MatchString(clause[at[1]:]), no && (p.form == demand || p.form == praise):
			continue
		case p.form == either && (no || !liked && why.MatchString(clause)):
			w = w.opposite()
		}
		out = append(out, w)
	}
	if slices.ContainsFunc(out, func(w wish) bool { return w.kind == kindAddress }) { // "in German say du"
		out = slices.DeleteFunc(out, func(w wish) bool { return w.kind == kindLanguage })
	}
	for _, n := range nouns {
		if value := n.value(clause, liked); value != "" {
			out = append(out, wishOf(n.kind, value))
		}
	}
	return out
}

var (
	nay = regexp.MustCompile(`\b(?:not|never|no|don't|doesn't|didn't|shouldn't|isn't|wasn't|needn't|without|nicht|nie|kein\w*|ohne)\b`)
	why = regexp.MustCompile(`\b(?:why|warum|wieso|weshalb|again|schon wieder|immer noch)\b`)
	// ofAnswers follows "in German" where it is about answers: "in German law" is not.
	ofAnswers = regexp.MustCompile(`^ ?(?:$|\d|(?:please|bitte|next|from|only|always|again|and|or|und|oder|instead|though|thanks|danke|the|this|now|nur|immer|wieder|antworten|answer|replies|is|was|ist|war|wäre|would|auch|too|mir)\b)`)
	took      = regexp.MustCompile(`\b(?:takes?|took|taking|waited?|loads?|runs?|dauert\w*)( \w+)?\s*$`) // "took too long" speaks of time
)

// lastWords are up to n words at the end of a text.
func lastWords(text string, n int) string {
	list := strings.Fields(text)
	return strings.Join(list[max(0, len(list)-n):], " ")
}

// phrase is a way to say a wish.
type phrase struct {
	kind  kind
	value string
	form  form
	says  *regexp.Regexp
}

// form is what a phrase says where "not" stands before it, and where the answer
// was liked or not.
type form int

const (
	demand form = iota // "shorter": nothing after "not"
	excess             // "too long": the same after "not"
	blame              // "so long": the same after "not", and nothing of a liked answer
	praise             // "short": of liked answers only, and nothing after "not"
	either             // "in German": the opposite after "not", and after "why"
)

func ways(k kind, value string, f form, patterns ...string) phrase {
	return phrase{k, value, f, regexp.MustCompile(`(?:^|[^\p{L}])(?:` + strings.Join(patterns, "|") + `)(?:[^\p{L}]|$)`)}
}

const (
	enTell = `(?:be|is|keep|stay|make|answer|reply|respond|write|prefer|want|like|give|say|put|more)`
	deTell = `(?:halte?|bleibe?|mache?|antworte|schreibe?|fass|sag|möchte|will|mag|hätte|gib|formuliere?)`
	some   = `(?: [\p{L}']+){0,3} `
)

var phrases = []phrase{
	ways(kindLength, "short", excess,
		`(?:too|overly|way too) (?:long|verbose|wordy|lengthy|detailed|chatty)(?: winded)?`, `too much (?:text|detail|information|info|prose|fluff|to read)`, `long[- ]winded`, `tldr`,
		`zu (?:lang|ausführlich|langatmig|weitschweifig|wortreich|detailliert)`, `zu viel (?:text|drumherum|geschwafel|blabla|information|zu lesen)`),
	ways(kindLength, "short", blame, `so (?:long|verbose|wordy|lengthy|detailed|chatty|much text)`, `(?:so|sehr) (?:lang|ausführlich|viel text)`),
	ways(kindLength, "short", demand,
		`shorter`, `briefer`, `more (?:concise|succinct|brief|compact)(?:ly)?`, `less (?:verbose|wordy|text|detail|detailed|long|chatty)`, `fewer (?:words|sentences)`,
		enTell+some+`(?:short|brief|concise|succinct|to the point)(?:ly)?`, enTell+` (?:short|brief|concise|briefly|concisely)`, `(?:be|get|come) to the point`, `half (?:as long|the length|of (?:it|this))`,
		`(?:in|at most|no more than|maximum|max) (?:one|two|three|a few|\d)(?: short)? (?:sentences?|lines?|paragraphs?)`, `(?:short|brief|concise)(?: answers?| replies| responses?| sentences| version)? please`, `please (?:be )?(?:short|brief|concise)`, `cut (?:it|this) (?:down|short)`,
		`kürzer(?:e[nrs]?)?`, `knapper(?:e[nrs]?)?`, `kompakter(?:e[nrs]?)?`, `kürze? (?:das|es|dich|die antworten?)`, `weniger (?:text|ausführlich|worte|wörter|sätze)`,
		deTell+some+`(?:kurz|knapp)`, deTell+` (?:kurz|knapp)`, deTell+some+`(?:kurze|knappe) antworten?`, `(?:komme? zum|zum) punkt`, `in (?:einem|zwei|drei|wenigen|höchstens \w+|maximal \w+) (?:satz|sätzen|zeilen)`, `bitte (?:kurz|knapp)`, `kurz(?:e)?(?: und (?:knapp|bündig))? bitte`, `kurz und (?:knapp|bündig)`),
	ways(kindLength, "short", praise, `(?:short|brief|concise|succinct|compact)`, `to the point`, `kurz`, `knapp`, `prägnant`, `bündig`, `kurze[nr]? antworte?n?`, `auf den punkt`),
	ways(kindLength, "long", excess,
		`(?:too|overly|way too) (?:short|brief|terse|shallow|superficial)`, `not (?:detailed|long|thorough) enough`, `zu (?:kurz|knapp|oberflächlich)`, `nicht (?:ausführlich|detailliert|lang|gründlich) genug`),
	ways(kindLength, "long", blame, `so (?:short|brief|terse|shallow|superficial)`, `so (?:kurz|knapp|oberflächlich)`),
	ways(kindLength, "long", demand,
		`longer`, `more (?:detail|details|detailed|thorough|thoroughly|depth|in-depth|context|background)`, `(?:in|with)(?: more| greater)? (?:detail|depth)`,
		`elaborate`, `go deeper`, `expand on`, `less (?:short|brief|terse)`, enTell+some+`(?:detailed|thorough|in-depth)`,
		`ausführlicher(?:e[nrs]?)?`, `länger(?:e[nrs]?)?`, `detaillierter(?:e[nrs]?)?`, `mehr (?:details?|tiefe|hintergrund|kontext|erklärung|text)`, `mehr ins detail`, `ins detail gehen`,
		deTell+some+`(?:ausführlich|detailliert)`, deTell+` (?:ausführlich|detailliert)`, `bitte (?:ausführlich|detailliert)`, `at greater length`),
	ways(kindLength, "long", praise, `(?:detailed|thorough|in-depth|comprehensive)`, `ausführlich(?:e[nrs]?)?`, `detailliert(?:e[nrs]?)?`, `gründlich`),
	ways(kindLanguage, "de", either, `(?:in|into|use|speak|to) german`, `german please`, `(?:please|always) german`, `auf deutsch`, `deutsch(?:e antworten?)? bitte`, `bitte deutsch`, `(?:nur|immer) deutsch`, `german (?:answers|replies)`, `deutsche[nr]? antworte?n?`, `german would be (?:better|nice)`, `deutsch wäre`),
	ways(kindLanguage, "en", either, `(?:in|into|use|speak|to) english`, `english please`, `(?:please|always) english`, `auf englisch`, `englisch(?:e antworten?)? bitte`, `bitte englisch`, `(?:nur|immer) englisch`, `english (?:answers|replies)`, `englische[nr]? antworte?n?`, `english would be (?:better|nice)`, `englisch wäre`),
	ways(kindAddress, "du", excess, `(?:so|zu) förmlich`), // "too formal" in English is about tone
	ways(kindAddress, "du", either, `(?:duze?n?|geduzt|per du|mit du|du sagen|sag(?: \w+)? du|say du|use du|das du|beim du)`, `address me informally`, `(?:mich|uns) mit "?du"? an\w*`),
	ways(kindAddress, "sie", either, `(?:sieze?n?|gesiezt|per sie|mit sie|sie sagen|sag(?: \w+)? sie|say sie|use sie|das sie|beim sie)`, `address me formally`, `(?:mich|uns) mit "?sie"? an\w*`),
	ways(kindOpening, "no", demand, `(?:start|begin|lead|open)(?: directly| straight| right away)? with the (?:answer|result|solution)`, `answer first`, `(?:straight|directly) to the (?:answer|point)`, `(?:komme?|gehe?)? ?(?:gleich|direkt|sofort) (?:zur sache|zur antwort|zum punkt)`, `mit der antwort (?:anfangen|beginnen)`, `(?:beginne|fang(?:e)?)(?: \w+)? mit der antwort(?: \w+)?(?: an)?`, `erst die antwort`),
	ways(kindCode, "first", demand, `code (?:comes |goes |should come )?(?:first|at the top|before)`, `(?:start|begin|lead|open) with (?:the )?code`, `first the code`, `(?:erst|zuerst|als erstes)(?: bitte)? (?:den |der )?code`, `(?:den |der )?code(?: gehört| soll)? (?:zuerst|vor|nach oben|an den anfang|als erstes)`),
	ways(kindCode, "last", demand, `explain (?:it )?(?:first|before)`, `explanation (?:\w+ ){0,3}(?:first|before)`, `code (?:last|at the end|afterwards)`, `(?:erst|zuerst)(?: bitte)? (?:erklären|die erklärung)`, `(?:den |der )?code (?:danach|am ende|zuletzt)`),
	ways(kindSimple, "yes", excess, `(?:too|overly) (?:complicated|technical|complex|academic|convoluted|difficult)`, `(?:too )?hard to (?:read|understand|follow)`, `too much (?:technical )?jargon`, `zu (?:kompliziert|technisch|komplex|schwierig|akademisch|verschachtelt|schwer verständlich|fachlich)`, `(?:ohne|keine|zu viele) (?:fachbegriffe|fachsprache|fremdwörter|fachwörter|fachausdrücke)`, `(?:no|without|avoid) (?:technical )?jargon`),
	ways(kindSimple, "yes", blame, `so (?:complicated|technical|complex|academic)`, `so (?:kompliziert|technisch|komplex)`),
	ways(kindSimple, "yes", demand,
		`simpler`, `plainer`, `easier to (?:understand|read|follow)`, `in (?:plain|simple)(?:r)? (?:words|english|language|terms)`, `(?:plain|simple) (?:words|english|language|terms)`, `less (?:technical|jargon|complicated|complex)`, `(?:for|to) (?:a )?(?:beginners?|layman|laymen|lay people)`, `shorter sentences`,
		`einfacher(?:e[nrs]?)?`, `verständlicher(?:e[nrs]?)?`, `leichter verständlich`, `(?:in )?(?:einfachen?|leichter?) (?:worten?|sprache|wörtern?)`, `weniger (?:fachbegriffe|technisch|fachsprache|kompliziert|fremdwörter)`, `kürzere sätze`),
	ways(kindSimple, "yes", praise, `easy to (?:understand|follow|read)`, `(?:leicht|gut) verständlich`, `einfach erklärt`, `in einfachen worten`),
	ways(kindSimple, "no", excess, `(?:too|overly) (?:simple|basic|simplistic|dumbed down|elementary)`, `zu (?:einfach|simpel|banal|laienhaft)`),
	ways(kindSimple, "no", demand, `more (?:technical|advanced)`, `(?:use|with) (?:the )?(?:technical|proper) terms`, `technischer`, `mehr fachbegriffe`, `(?:nutze?|verwende|mit) fachbegriffe\w?`, `fachbegriffe (?:verwenden|benutzen|nutzen)`),
}

// noun is a part of answers that a person may want more or none of.
type noun struct {
	kind kind
	says *regexp.Regexp
}

var nouns = []noun{
	{kindList, regexp.MustCompile(`\b(?:bullet(?:s|ed)?(?:[- ]?(?:points?|lists?))?|bulletpoints?|lists|(?:a|as|in|no|the|this|numbered|without|of|more|these|list|use) list(?: form(?:at)?)?|list form(?:at)?|enumerations?|aufzählung(?:en|szeichen|spunkte?)?|stichpunkte?n?|stichworte?n?|liste|listen|spiegelstriche?n?)\b`)},
	{kindTable, regexp.MustCompile(`\b(?:tables?|tabular|tabellen?|tabellarisch)\b`)},
	{kindHeading, regexp.MustCompile(`\b(?:headings?|headlines?|section titles?|subheadings?)\b|(?:^| )(?:zwischen)?überschriften?\b`)},
	{kindEmoji, regexp.MustCompile(`\b(?:emojis?|emoticons?|smileys?|smilies)\b`)},
	{kindExample, regexp.MustCompile(`\b(?:examples?|beispiele?n?)\b`)},
	{kindClosing, regexp.MustCompile(`\b(?:(?:closing|follow-?up|final|concluding|counter) questions?|questions? at the end|offers? at the end|(?:end(?:ing)?|finish|close)(?: \w+)? with (?:a |an )?(?:question|offer)s?|(?:abschließende|abschluss|schluss|rück|gegen)-?fragen?|abschließenden? fragen?|mit einer frage|am (?:ende|schluss)(?: \w+){0,2} fragen?|ask(?:ing)? me (?:something|a question|questions|whether|if)|frage am (?:ende|schluss)|fragen am (?:ende|schluss)|angebote? am (?:ende|schluss))\b`)},
	{kindOpening, regexp.MustCompile(`\b(?:introductions?|intros?|preambles?|pleasantries|introductory (?:sentence|text|words)|opening (?:sentence|line|phrase)s?|repeat(?:ing)? (?:the|my) question|einleitung(?:en|ssatz|ssätze)?|einleitende[nr]? (?:satz|sätze|worte)|vorrede|vorgeplänkel|floskeln?|wiederhol\w* (?:meine|der|die) frage)\b`)},
}

var (
	needed        = regexp.MustCompile(`\b(?:don't|do not|can't|cannot|nicht|kein\w*)\b.*\b(?:without|ohne)\b`) // "I don't get it without"
	unwanted      = regexp.MustCompile(`\b(?:no|not|never|without|avoid\w*|skip\w*|stop\w*|drop|remove|omit|leave out|leave away|fewer|less|too many|too much|so many|all these|hate|dislike|don't|do not|didn't|doesn't|can't stand|cut|lose|spare me|unnecessary|needless|enough|kein\w*|ohne|nicht|nie|weniger|zu viele?|so viele?|lauter|lass\w*|vermeid\w*|verzicht\w*|spar\w*|unnötige?n?|hasse|streich\w*|schluss mit|hör\w* auf)\b`)
	unwantedAfter = regexp.MustCompile(`^[^\p{L}]*(?:(?:are|is|were|was|get|sind|ist|waren|war|bitte|please|einfach|hier) )*(?:weglassen|weg|vermeiden|unnecessary|superfluous|annoying|annoys?|nerv\w*|stör\w*|unnötig|überflüssig|not needed|not necessary|brauche ich nicht|mag ich nicht|kannst du (?:dir )?(?:sparen|weglassen))\b`)
	wanted        = regexp.MustCompile(`\b(?:use|using|with|prefer\w*|more|please|as|want\w*|love\w*|like\w*|give|gave|need\w*|make|add|include|put|show|miss\w*|lacks?|into|in|end|begin|start|ask|mehr|bitte|als|mit|nutz\w*|verwend\w*|möchte|lieber|gern\w*|will|wünsch\w*|fehl\w*|brauch\w*|füg\w*|zeig\w*|mach\w*|schreib\w*|gib|setz\w*|gliedere?|stell\w*)\b`)
	wantedAfter   = regexp.MustCompile(`^[^\p{L}]*(?:(?:\p{L}+ ){0,2})(?:please|bitte|missing|fehlt|fehlen|would (?:be|help|have|make)|wäre|wären|helps?|helfen|hilft|nutzen|verwenden|machen|gewünscht)\b`)
)

// value is what a clause says of a noun, "" for nothing.
func (n noun) value(clause string, liked bool) string {
	at := n.says.FindStringIndex(clause)
	if at == nil {
		return ""
	}
	before, after := clause[:at[0]], clause[at[1]:]
	if n.kind == kindList || n.kind == kindClosing { // their words hold some of what asks for them
		before += " " + clause[at[0]:at[1]]
	}
	switch {
	case needed.MatchString(before):
		return "yes"
	case unwanted.MatchString(before), unwantedAfter.MatchString(after):
		return "no"
	case wanted.MatchString(lastWords(before, 6)), wantedAfter.MatchString(after), liked:
		return "yes"
	}
	return ""
}
