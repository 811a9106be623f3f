package words

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
)

// Language is one the stemmers know.
type Language string

// The languages; any other text is treated as English.
const (
	English Language = "en"
	German  Language = "de"
)

// Detect guesses the language of text from its function words and umlauts,
// reading at most the first 8 KiB. Text without a hint is English.
func Detect(text string) Language {
	l, _ := Hinted(text)
	return l
}

// Hinted is Detect, and whether the text has a hint at all.
func Hinted(text string) (l Language, known bool) {
	if len(text) > 8<<10 {
		text = text[:8<<10]
	}
	score := 0
	for _, w := range Split(text) {
		de, en := onlyGerman[w.Text] || germanHint[w.Text], onlyEnglish[w.Text]
		switch {
		case de && en:
		case de:
			score++
		case en:
			score--
		case strings.ContainsAny(w.Text, "äöüß"):
			score++
		}
	}
	if score > 0 {
		return German, true
	}
	return English, score < 0
}

// Stem reduces a folded word to its stem; of a hyphenated word, its last
// piece. Words with digits or other signs, and words of three letters or
// fewer, stay as they are.
func Stem(l Language, word string) string {
	if i := strings.LastIndexByte(word, '-'); i >= 0 {
		return word[:i+1] + Stem(l, word[i+1:])
	}
	if len(word) <= 3 || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return word
	}
	env := snowballstem.NewEnv(word)
	if l == German {
		german.Stem(env)
		return env.Current()
	}
	if base, ok := irregular[word]; ok {
		env = snowballstem.NewEnv(base)
	}
	english.Stem(env)
	return env.Current()
}

// Stems is Stem over the words of text, stop words left out, with the pieces
// of identifiers after the identifier itself.
func Stems(l Language, text string) []string {
	var out []string
	for _, w := range Split(text) {
		if Stop(l, w.Text) {
			continue
		}
		out = append(out, Stem(l, w.Text))
		for _, p := range w.Parts {
			if !Stop(l, p) {
				out = append(out, Stem(l, p))
			}
		}
	}
	return out
}

// Stop reports whether a folded word carries no meaning of its own in a
// language: an article, a pronoun, an auxiliary, a question word.
func Stop(l Language, word string) bool {
	if bothStop[word] {
		return true
	}
	if l == German {
		return onlyGerman[word]
	}
	return onlyEnglish[word]
}

// Weak reports whether a folded word says little about what is asked: "use",
// "work", "explain", "document". Such words count, but less.
func Weak(word string) bool { return weak[word] }

// The tables are read-only after construction; nothing writes them.
var (
	onlyEnglish = set(`a an and in will about above after again all also although always am any are aren't as at be because been before
being below between both but by can cannot can't could couldn't did didn't do does doesn't doing don't down during each
either else every few for from further get gets got had has have haven't having he he's her here hers herself him himself
his how however i i'd i'll i'm i've if into is isn't it it's its itself just let's like may me might mine more most
much must my myself neither no nor not of off on once only or other ought our ours ourselves out over own per quite
rather same shall she should so some such than that that's the their theirs them themselves then there there's these
they they're this those though through thus to together too under until up upon us very was wasn't we we're were what what's when where
where's whether which while who who's whom whose why with within without would you you'd you'll you're your yours yourself yet
many lot tell told say says said please know give gives me show ok okay hey hello hi thanks thank whats`)

	onlyGerman = set(`aber alle allem allen aller alles als am an ander andere anderem anderen anderer anderes auch auf aus bei beim
bin bis bist da damit dann das dass dein deine dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du
durch ein eine einem einen einer eines einig einige einigen er es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten
hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im indem ins ist jede jedem jeden jeder jedes jene jetzt kann kannst kein keine keinem
keinen können könnte machen man manche mein meine mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine
seinem seinen sich sie sind so solche soll sollte sondern sonst über um und uns unser unter viel viele vom von vor während war waren warum
was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieviel will wir wird wirst wo wann wollen wurde in so an am was würde
wurden zu zum zur zwar zwischen bitte gib sag sage zeig zeige mal gibt`)

	// germanHint are words that tell a short question's language and are looked for.
	germanHint = set(`heute morgen gestern steht stehen liegt woche monat`)

	// bothStop are abbreviations and single letters that mean nothing in either.
	bothStop = set(`s t d e g z b d.h z.b e.g i.e etc usw bzw`)

	weak = set(`whos wheres hows anything something pls plz thx use used uses using work works working make makes made need needs needed happen happens mean means meant
explain describe list name names called call find thing things way ways kind kinds type types different example
document documents doc docs file files text page pages section chapter according information info question answer
exactly one first second third last new long wide high deep tall big large small old far fast soon best good want go goes take takes come comes put set sets see look two three possible available summarise summarize summary overview compare differ differs difference differences changed analyse analyze review content contents main belong belongs keep keeps kept say nothing still anything everything
nimmt nehme nehmen bekomme bekommen schalte schalten liegt liegen bekommt finde finden gilt gelten gebe geben setze setzen stelle stellen wofür wozu woher womit wieso weshalb höchstens
dokument dokumente datei dateien seite abschnitt kapitel laut heißt heisst nennt bedeutet funktioniert erkläre erklären beschreibe
erste ersten zweite zweiten dritte letzte groß hoch tief breit alt weit schnell gut beste lang lange verwendet benutzt gemacht macht frage antwort steht gehört art arten ding dinge zusammenfassen zusammenfassung überblick vergleiche vergleich beide beiden beides unterschied unterschiede geändert analysiere inhalt`)
)

// irregular maps English verb forms and plurals the rules miss to their base.
var irregular = pairs(`held hold kept keep sent send built build wrote write written write ran run took take taken take
gave give given give found find left leave lost lose chose choose chosen choose began begin begun begin met meet paid pay
said say went go gone go came come became become bought buy brought bring caught catch drew draw drawn draw drove drive driven
drive fell fall fallen fall felt feel flew fly forgot forget forgotten forget grew grow grown grow heard hear hid hide hidden
hide knew know known know laid lay led lead meant mean sold sell spent spend spoke speak spoken speak stood stand stole steal
taught teach thought think threw throw thrown throw told tell understood understand woke wake won win children child people
person men man women woman mice mouse feet foot teeth tooth criteria criterion indices index matrices matrix`)

func pairs(list string) map[string]string {
	f := strings.Fields(list)
	m := make(map[string]string, len(f)/2)
	for i := 0; i+1 < len(f); i += 2 {
		m[f[i]] = f[i+1]
	}
	return m
}

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
