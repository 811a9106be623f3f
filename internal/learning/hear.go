package learning

import (
	"regexp"
	"strings"
	"unicode"

	"liminal/internal/words"
)

// Bounds of a message that is listened to. Who says what they think of an
// answer does so in a few words; what is longer is material.
const (
	maxHeard     = 1200 // bytes of the message
	maxSentences = 12
	maxWords     = 20 // of a sentence
)

// Heard is what a message says of the answer before it.
type Heard struct {
	Signal string
	Words  string // the sentence that says so, as it was written
}

// Hear finds plain words of praise or blame in a message, English or German:
// "I like this approach", "bitte nie wieder so" (PREF-02). It would rather miss
// some than hear what was not said: a sentence counts only as a whole, so that
// what is quoted, asked, wished for or told of others says nothing; a message
// about wording, one that is long, and one that says both say nothing either.
// It is quick enough to be asked of every message.
func Hear(message string) (Heard, bool) {
	if len(message) > maxHeard {
		return Heard{}, false
	}
	text := unquoted(message)
	var best Heard
	for i, line := range sentences(text) {
		if i == maxSentences {
			return Heard{}, false
		}
		signal := signalOf(line)
		switch {
		case signal == "":
		case best.Signal == "":
			best = Heard{signal, line}
		case signals[signal] != signals[best.Signal]:
			return Heard{}, false
		case signal == "always" || signal == "never":
			best = Heard{signal, line}
		}
	}
	if best.Signal == "" || aboutWords.MatchString(text) {
		return Heard{}, false
	}
	return best, true
}

var (
	fenced = regexp.MustCompile("(?s)```.*?(```|$)|`[^`\n]*`")
	quoted = regexp.MustCompile(`(?s)"[^"]*"|„[^“”"]*[“”"]|“[^”]*”|«[^»]*»|»[^«]*«|(^|\s)['‘‚][^'’‘\n]*['’‘]`)
	// aboutWords is a message in which a sentence is something to work on.
	aboutWords = regexp.MustCompile(`(?i)\b(translat|paraphras|proofread|rephras|rewrite|grammar|synonym|sentence|phrase|quote|lyrics|dialogue|review|sentiment|classif|` +
		`how (do|would|can) (you|i|we) (say|write)|say in|pretend|role.?play|write (a|an|me)|` +
		`übersetz|umformulier|korrigier|grammatik|satz\b|sätze|zitat|zitier|dialog|rezension|stimmung|wie (sagt|schreibt) man|schreib(e)? (mir|eine?n?)\b|rollenspiel)`)
	splits = regexp.MustCompile(`[.!?…]+(\s|$)`)
)

// unquoted is a message without what is not the person's own: code, quotes and
// lines that are cited.
func unquoted(message string) string {
	text := strings.ReplaceAll(fenced.ReplaceAllString(message, " ‹› "), "’", "'")
	lines := strings.Split(quoted.ReplaceAllString(text, " ‹› "), "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), ">") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// sentences are those of a text with their last mark. Lines end them: people
// do not wrap what they say.
func sentences(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for _, s := range words.Sentences(line) {
			if s.Form != words.Prose {
				continue
			}
			part := line[s.Start:s.End]
			at := 0
			for _, cut := range splits.FindAllStringIndex(part, -1) { // "Great answer! Now" however it is cut
				out, at = append(out, strings.TrimSpace(part[at:cut[1]])), cut[1]
			}
			if rest := strings.TrimSpace(part[at:]); rest != "" {
				out = append(out, rest)
			}
		}
	}
	return out
}

// signalOf is what one sentence says, "" for nothing.
func signalOf(sentence string) string {
	if strings.Contains(sentence, "?") || strings.Count(sentence, " ") > maxWords {
		return ""
	}
	s := strings.ToLower(strings.Join(strings.Fields(sentence), " "))
	s = strings.TrimFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '‹' && r != '›' && r != '-' && r != '*' && r != '#' && r != ':'
	})
	s = tail.ReplaceAllString(head.ReplaceAllString(s, ""), "")
	for _, t := range tellings {
		if t.says.MatchString(s) {
			return t.signal
		}
	}
	return ""
}

// head and tail are what may stand around the words that count.
var (
	head = regexp.MustCompile(`^(((great|perfect|super|toll|prima|gut|well|also|so|nice|cool)[,!:;]|(hey|hi|hello|hallo|ok|okay|oh|ah|wow|yes|yeah|no|ja|nein|thanks|thank you|danke|vielen dank|and|und|also|actually|honestly|personally|really|by the way|btw|ehrlich gesagt|übrigens|this time|diesmal)\b[,!:;]?)( |-|– )+)+`)
	tail = regexp.MustCompile(`([,;]? (thanks|thank you|so far|a lot|very much|so much|btw|by the way|danke|vielen dank|bis jetzt|bisher|übrigens|please|bitte|though)|\W)+$`)
)

const (
	enNoun = `(approach|answers?|response|reply|replies|explanations?|style|tone|format|formatting|way|method|structure|summary|summaries|solution|suggestions?|idea|wording|draft|version|layout|table|lists?|examples?|level of detail|work)`
	enThis = `(this|that|it|these|those|the result|how you (did|do|put|said|explained|answered|structured|wrote|phrased) (this|that|it|things)|(this|that|the|your|these|those) ((last|previous|latest|new|first|second|current|short|shorter|long|longer|clear|brief) )?` + enNoun + `|the way you (did|do|put|said|explained|answered|structured|wrote|phrased) (this|that|it|things))`
	enVery = `((really|very|very much|truly|absolutely|quite|so|just|also|still|do|all|much|particularly|especially|totally|completely|simply|far|way) )*`
	enGood = `(great|good|excellent|perfect|brilliant|wonderful|helpful|useful|clear|nice|fantastic|spot on|exactly right|well written|exactly what i (wanted|needed|was looking for))`
	enBad  = `(bad|terrible|awful|horrible|wrong|useless|unhelpful|poor|confusing|disappointing|nonsense|not (really |very )?(good|helpful|useful|clear|right|correct|what i (wanted|asked for|needed|meant))|too (long|short|vague|verbose|complicated|technical|general|superficial|wordy))`
	enDo   = `(do|write|say|answer|respond|reply|format|explain|phrase|structure|suggest|use|put|talk|speak|summari[sz]e)`
	enLike = `((like|in) (this|that)( (way|style|format|tone))?|this way|that way)`

	deNoun = `(ansatz|antworte?n?|erklärung(en)?|stil|ton|tonfall|format|art|weise|art und weise|methode|aufbau|struktur|zusammenfassung|lösung|vorschlag|vorschläge|idee|formulierung|entwurf|fassung|version|gliederung|tabelle|liste|beispiele?|arbeit|vorgehen|vorgehensweise|herangehensweise)`
	deThis = `(das|dies|es|(das|es) so|so|(dein|deine|deinen|diese|dieser|diesen|dieses|die|der|den|das) ((letzte|vorige|neue|kurze|lange|erste|zweite)[nr]? )?` + deNoun + `)`
	deVery = `((sehr|wirklich|echt|richtig|besonders|total|ganz|so|viel|schon|recht|auch|einfach|überhaupt|gar|leider|absolut|ausgesprochen|viel zu) )*`
	deGood = `(gut|super|toll|hilfreich|nützlich|klasse|prima|großartig|hervorragend|ausgezeichnet|perfekt|klar|verständlich|gelungen|genau richtig|schön)`
	deBad  = `(schlecht|furchtbar|schrecklich|falsch|nutzlos|unbrauchbar|verwirrend|enttäuschend|unverständlich|unsinn|nicht (wirklich |sehr |besonders )?(gut|hilfreich|nützlich|richtig|klar|gelungen|das, was ich wollte)|zu (lang|kurz|vage|kompliziert|technisch|allgemein|ausführlich|oberflächlich))`
	deDo   = `(mache?n?|tun?|tue|schreibe?n?|sage?n?|antworte?n?|formuliere?n?|erkläre?n?|verwende?n?)`
	deOnly = `(immer|ab jetzt|von jetzt an|von nun an|künftig|in zukunft|ab sofort)`
)

type telling struct {
	signal string
	says   *regexp.Regexp
}

// tellings are whole sentences, the more particular first.
var tellings = []telling{
	whole("never",
		`(please )?(never|don't ever|do not ever) (ever )?`+enDo+`( (this|that|it))?(( `+enLike+`)( (again|anymore|any more))?|( (again|anymore|any more)))`,
		`(please )?(don't|do not) `+enDo+`( (this|that|it))?( `+enLike+`)?( ever)? (again|anymore|any more)`,
		`(please )?stop (doing|writing|saying) (this|that|it)`, `(please )?never again`,
		`(bitte )?`+deDo+`( (das|dies|es))?( (so|so etwas|sowas))?( bitte)? (nie|niemals) (wieder|mehr)( so)?`,
		`(bitte )?(nie|niemals) (wieder|mehr)( so)?( `+deDo+`)?`,
		`(bitte )?`+deDo+` (das|es|so etwas|sowas)( bitte)? nicht (noch ?mal|noch einmal|wieder|mehr)`),
	whole("always",
		`(please )?(always|from now on,?( please)?( always)?) `+enDo+`( (this|that|it))? `+enLike,
		`(please )?`+enDo+`( (this|that|it))? `+enLike+` (always|every time|from now on|in (the )?future)`,
		`(please )?keep (doing (this|that|it)|(answering|writing|explaining)( it)? `+enLike+`|(this|that|it) (style|format|tone|way|up|like this|like that))`, `(please )?keep it up`,
		`(bitte )?`+deOnly+`( bitte)?( immer)?( nur)? so`+`( (weiter )?`+deDo+`)?`,
		`(bitte )?`+deDo+`( (das|es))?( bitte)? `+deOnly+`( immer)?( nur)? so`, `so bitte immer`, `(bitte )?(mach(e)? )?(bitte )?weiter so`),
	whole("dislike",
		`i `+enVery+`(don't|do not|didn't|did not) (really |particularly |much )?(like|love|enjoy|appreciate) `+enThis+`( (at all|very much|much))?`,
		`i `+enVery+`(dislike|disliked|hate|hated) `+enThis,
		`(this|that|your|the (last|previous)) `+`((last|previous) )?(`+enNoun+` )(is|was|are|were|isn't|wasn't) `+enVery+enBad,
		`(this|that|your) ((last|previous) )?`+enNoun+` (isn't|wasn't) `+enVery+enGood,
		`(that|this) (was|is) `+enVery+`(not (really |very )?(helpful|useful|what i (wanted|asked for|needed|meant))|unhelpful|useless)`,
		`(that|this) (wasn't|isn't) (really |very )?(helpful|useful|what i (wanted|asked for|needed|meant))`,
		`(what an? )?(bad|terrible|awful|useless|poor|unhelpful|confusing) (answer|response|reply|explanation|summary|suggestion)`,
		deThis+` (gefällt|gefiel) mir `+deVery+`nicht( (so|besonders|sehr|wirklich))*( gut)?`, `mir (gefällt|gefiel) `+deThis+` `+deVery+`nicht( (so|besonders|sehr|wirklich))*( gut)?`,
		deThis+` hat mir `+deVery+`nicht( (so|besonders|sehr|wirklich))*( gut)? gefallen`,
		`ich (mag|mochte) `+deThis+` `+deVery+`nicht( so)?`, `ich finde `+deThis+` `+deVery+deBad,
		`(diese|dieser|dieses|deine|dein|die|der|das) ((letzte|vorige)[nr]? )?`+deNoun+` (ist|war|sind|waren) `+deVery+deBad,
		`(das|dies) (war|ist) `+deVery+`(nicht (wirklich |sehr |besonders )?(hilfreich|nützlich|das, was ich wollte)|nutzlos|unbrauchbar)`,
		`(was für eine )?(schlechte|furchtbare|nutzlose|unbrauchbare) (antwort|erklärung|zusammenfassung|idee)`),
	whole("like",
		`i `+enVery+`(like|liked|love|loved|enjoy|enjoyed|appreciate|appreciated|prefer) `+enThis+`( (a lot|very much|so much|better|best|much better|more|too|as well))?`,
		`(this|that|your|the (last|previous)) ((last|previous|new) )?`+enNoun+` (is|was|are|were) `+enVery+enGood,
		`(that|this) (was|is|'s) `+enVery+`(helpful|useful|exactly what i (wanted|needed|was looking for))`, `that's `+enVery+`(helpful|useful|exactly what i (wanted|needed|was looking for))`,
		`(exactly )?what i (wanted|needed|was looking for)`,
		`(what an? |(a )?(very|really) )?(great|good|excellent|perfect|brilliant|wonderful|helpful|clear|nice|fantastic) (answer|response|reply|explanation|summary|approach|solution|suggestion|idea|work|job)`,
		`(very )?well (done|explained|put|written|structured)`,
		deThis+` (gefällt|gefiel) mir`+`( (sehr|wirklich|echt|richtig|besonders|total|ganz|so|viel|gut|besser|auch))*`, `mir (gefällt|gefiel) `+deThis+`( (sehr|wirklich|echt|richtig|besonders|total|ganz|so|viel|gut|besser|auch))*`,
		deThis+` hat mir `+deVery+`(gut|besser) gefallen`,
		`ich (mag|liebe|schätze) `+deThis+`( (sehr|wirklich|echt|so|auch))*`, `ich finde `+deThis+` `+deVery+deGood,
		`(diese|dieser|dieses|deine|dein|die|der|das) ((letzte|vorige|neue)[nr]? )?`+deNoun+` (ist|war|sind|waren) `+deVery+deGood,
		`(das|dies) (war|ist) `+deVery+`(hilfreich|nützlich|genau das, was ich (wollte|brauchte|gesucht habe))`, `genau das(, was)? ich (wollte|brauchte|gesucht habe)`,
		`((sehr|wirklich|richtig) )?(gute|tolle|hervorragende|perfekte|klare|hilfreiche|ausgezeichnete) (antwort|erklärung|zusammenfassung|arbeit|idee|lösung)`, `((sehr|wirklich|richtig) )?(guter|toller|perfekter) (ansatz|vorschlag|entwurf|aufbau)`,
		`(sehr )?gut (gemacht|erklärt|formuliert|zusammengefasst)`),
}

func whole(signal string, patterns ...string) telling {
	return telling{signal, regexp.MustCompile(`^((` + strings.Join(patterns, `)|(`) + `))$`)}
}
