package extractive

import (
	"regexp"
	"strings"

	"liminal/internal/learning"
	"liminal/internal/words"
)

// The intents of llm.intent_classifier_v1.
const (
	intentQA        = "qa_with_docs"
	intentAnalysis  = "analysis"
	intentEdit      = "code_edit"
	intentSmalltalk = "smalltalk"
	intentOther     = "other"
)

var (
	greeting = regexp.MustCompile(`^(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|(?:(?:ok(?:ay)?|great|perfect|super|prima|cool|nice),? +)*(?:many )?(?:thank(?:s| you)|thx|(?:vielen |besten )?dank\w*|merci)(?: (?:a lot|so much|very much|sehr|schön))?|bye|goodbye|see you|cheers|how are you|how's it going|who are you|what are you|what can you do|what do you do|nice to meet you|hallo|guten (?:tag|morgen|abend)|servus|moin|tschüss|auf wiedersehen|wie geht(?:'s| es dir| es ihnen)|wer bist du|was kannst du)\b`)

	// What a greeting is answered like when it is none.
	thanks = regexp.MustCompile(`^(?:(?:ok(?:ay)?|great|perfect|super|prima|cool|nice),? +)*(?:many )?(?:thank(?:s| you)|thx|(?:vielen |besten )?dank\w*|merci)\b`)
	leaves = regexp.MustCompile(`^(?:bye|goodbye|see you|tschüss|auf wiedersehen)\b`)

	editVerb = regexp.MustCompile(`^(?:please |can you |could you |would you |bitte |kannst du |könntest du )*(?:edit|change|modify|rename|refactor|fix|add|remove|delete|write|create|update|replace|insert|append|implement|move|bearbeite|ändere|korrigiere|ergänze|füge|lösche|entferne|schreibe?|erstelle|ersetze|benenne)\b`)
	editWhat = regexp.MustCompile(`\b(?:files?|code|functions?|scripts?|class(?:es)?|lines?|tests?|bugs?|methods?|modules?|imports?|comments?|readme|datei(?:en)?|funktion|skript|zeilen?|klasse|kommentare?)\b|[\w/-]+\.(?:go|py|js|ts|md|txt|json|ya?ml|html|css|sql|sh|java|c|h|rs|toml|csv)\b`)

	fileTask = regexp.MustCompile(`\b(?:my|the|all|meine|alle) (?:files?|folders?|dateien|ordner)\b|\b(?:files?|dateien) (?:do i have|do you have|are there|are here|habe ich|gibt es)\b|^(?:ls|dir|cat)\b|^(?:please |can you |bitte )*(?:read|open|print|lies|öffne)\b.*[\w-]\.[a-z]{1,5}\b`)

	analysis = regexp.MustCompile(`\b(?:analy[sz]e|analysis|compare|comparison|contrast|summari[sz]e|summary|evaluate|assess|review|critique|pros and cons|trade-?offs?|differences? between|trends?|implications?|analysiere|analyse|vergleiche|vergleich|fasse|zusammenfassung|bewerte|bewertung|unterschiede? zwischen|vor- und nachteile)\b`)

	asking = regexp.MustCompile(`\?\s*$|^(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|will|would|has|have|may|must|tell|show|list|explain|find|describe|define|give|name|search|look up|was|welche[rsnm]?|wer|wem|wen|wann|wo|warum|wieso|wie|ist|sind|hat|haben|kann|darf|muss|gibt|nenne|zeige?|erkläre|beschreibe|suche|finde|liste)\b`)
)

// classify tells what a message wants, by rules, and how sure they are.
func classify(message string) map[string]any {
	intent, confidence := judge(strings.ToLower(strings.TrimSpace(message)))
	return map[string]any{"intent": intent, "confidence": confidence}
}

func judge(m string) (string, float64) {
	content := contentWords(m)
	switch {
	case courteous(m):
		return intentSmalltalk, 0.95
	case editVerb.MatchString(m) && editWhat.MatchString(m):
		return intentEdit, 0.9
	case fileTask.MatchString(m):
		return intentEdit, 0.8 // reading one's own files is the agent's work too
	case analysis.MatchString(m):
		return intentAnalysis, 0.85
	case asking.MatchString(m):
		return intentQA, 0.9
	case content >= 2:
		return intentQA, 0.7 // a few words are a search
	case content == 1:
		return intentQA, 0.55
	}
	return intentOther, 0.4
}

// courteous reports whether a message asks for nothing at all: it greets, or
// says what its person thinks of an answer (PREF-02).
func courteous(message string) bool {
	return greets(message) || opinion(message) != ""
}

// opinion is the signal of a message that says what its person thinks of an
// answer and nothing else, "" for any other.
func opinion(message string) string {
	message = strings.ReplaceAll(message, "’", "'")
	heard, says := learning.Hear(message)
	if !says || contentWords(strings.Replace(message, heard.Words, "", 1)) > 1 {
		return ""
	}
	return heard.Signal
}

// greets reports whether a message is only courtesy: it begins like it and
// asks for nothing else.
func greets(message string) bool {
	m := strings.ToLower(strings.TrimSpace(message))
	loc := greeting.FindStringIndex(m)
	return loc != nil && contentWords(m[loc[1]:]) <= 1 && len(m) < 80
}

func contentWords(m string) int {
	n, lang := 0, words.Detect(m)
	for _, w := range words.Split(m) {
		if !words.Stop(lang, w.Text) && len(w.Text) > 1 {
			n++
		}
	}
	return n
}
