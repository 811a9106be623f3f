package extractive

import (
	"strings"

	"liminal/internal/learning"
	"liminal/internal/words"
)

// What a message wants at all; thanks and leaves are greetings that are answered
// otherwise.
var (
	greeting = pattern("greeting")
	thanks   = pattern("thanks")
	leaves   = pattern("leaves")
	editVerb = pattern("editVerb")
	editWhat = pattern("editWhat")
	fileTask = pattern("fileTask")
	judging  = pattern("judging")
	asking   = pattern("asking")
)

// classify tells what a message wants, by rules, and how sure they are.
func classify(message string) map[string]any {
	intent, confidence := judge(strings.ToLower(strings.TrimSpace(message)))
	return map[string]any{"intent": intent, "confidence": confidence, "work": workOn(message)}
}

func judge(m string) (string, float64) {
	content := contentWords(m)
	switch {
	case courteous(m):
		return intentCourtesy, 0.95
	case editVerb.MatchString(m) && editWhat.MatchString(m):
		return intentFiles, 0.9
	case fileTask.MatchString(m):
		return intentFiles, 0.8 // reading one's own files is the agent's work too
	case judging.MatchString(m):
		return intentJudgement, 0.85
	case asking.MatchString(m):
		return intentQuestion, 0.9
	case content >= 2:
		return intentQuestion, 0.7 // a few words are a search
	case content == 1:
		return intentQuestion, 0.55
	}
	return intentNone, 0.4
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
