package extractive

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/model"
)

// How sure a decision is.
const (
	sure     = "high"
	probable = "medium"
	unsure   = "low"
)

// wanted is an action somebody asks for, and where in the message.
type wanted struct {
	action string
	at     int
	plain  bool
}

// decision is what a message wants done with documents.
type decision struct {
	action, confidence string
	multi              bool
	actions, likely    []string
	web, topic         bool
	reasoning          string
}

// values are a decision under the names of the schema.
func (d decision) values() map[string]any {
	return map[string]any{
		"action": d.action, "confidence": d.confidence, "enable_web_search": d.web, "multi_action_detected": d.multi,
		"actions": list(d.actions), "likely": list(d.likely), "specific_topic": d.topic, "reasoning": d.reasoning,
	}
}

func list(of []string) []any {
	out := make([]any, len(of))
	for i, s := range of {
		out[i] = s
	}
	return out
}

// decide tells what a message wants done, by rules. earlier are the messages
// before it, oldest first.
func decide(message string, earlier []model.Message) decision {
	m := flat.Replace(strings.ToLower(strings.TrimSpace(opening(message))))
	d := choose(strings.ToLower(strings.TrimSpace(opening(message))))
	d.web = lately.MatchString(m)
	if d.confidence == unsure && len(earlier) > 0 && refersBack(m) {
		d.confidence, d.reasoning = probable, "it goes on with what was asked before"
		if before := lastDecision(earlier); before.action != "" && (before.action == doAnswer || sameAgain.MatchString(m)) {
			d.action, d.likely = before.action, likely(before.action, doAnswer)
		}
	}
	return d
}

// opening is the part of a message that asks; what is quoted, and what follows
// a colon or a blank line, is a text it is about. What asks may come after it.
func opening(message string) string {
	message = pasted.ReplaceAllStringFunc(message, func(quote string) string {
		if contentWords(quote) > 3 || len(strings.Fields(quote)) > 8 {
			return " "
		}
		return quote
	})
	head := leading(message)
	if at := strings.LastIndex(message, "\n\n"); at >= 0 {
		last := message[at+2:]
		if len(last) < maxRequest && !strings.Contains(head, last) && slices.ContainsFunc(asked(flat.Replace(strings.ToLower(last))), func(w wanted) bool { return w.plain }) {
			return head + "\n" + last
		}
	}
	return head
}

// maxRequest is how long what asks after a text may be, in bytes.
const maxRequest = 240

// pasted is a quote.
var pasted = regexp.MustCompile(`"[^"]{12,}"|“[^”]{12,}”|„[^“”]{12,}[“”]|«[^»]{12,}»`)

// leading is what a message begins with, before the text it is about.
func leading(message string) string {
	head, body, cut := strings.Cut(message, "\n\n")
	if greets(strings.TrimRight(strings.ToLower(head), ",! ")) && cut { // "Hi team,"
		head, body, cut = strings.Cut(body, "\n\n")
	}
	if first, rest, ok := strings.Cut(head, ":"); ok && contentWords(rest) > 4 && contentWords(first) > 0 {
		head = first
	}
	if cut && contentWords(head) == 0 {
		return body
	}
	open := pasted.ReplaceAllStringFunc(head, func(quote string) string { return strings.Repeat("_", len(quote)) })
	if q := strings.IndexAny(open, "“\"„«"); q > 10 && contentWords(head[q:]) > 3 {
		head = head[:q]
	}
	return head
}

var (
	lately = flatPattern("lately")

	aboutTopic = flatPattern("aboutTopic")
	ofWhole    = flatPattern("ofWhole")
	inLength   = flatPattern("inLength")
	wholeWords = flatPattern("wholeWords")

	asksSomething = flatPattern("asksSomething")
	asksOutcome   = flatPattern("asksOutcome")

	backward = flatPattern("backward")
	bareHelp = flatPattern("bareHelp")
)

// choose decides from the message alone.
func choose(message string) decision {
	m := flat.Replace(message)
	found := asked(m)
	var plain []wanted
	for _, w := range found {
		if w.plain {
			plain = append(plain, w)
		}
	}
	switch {
	case courteous(message):
		return decision{action: doAnswer, confidence: sure, likely: likely(doAnswer, doCondense), reasoning: "courtesy"}
	case len(plain) > 0:
		return chosen(m, plain)
	case len(found) > 0 && asking.MatchString(message) && found[0].action == doCompare:
		return decision{action: doAnswer, confidence: probable, likely: likely(doAnswer, doCompare), reasoning: "a question about a difference between things, not documents"}
	case len(found) > 0:
		other := map[string]string{doCheck: doCondense, doCompare: doAnswer}[found[0].action]
		return decision{action: found[0].action, confidence: unsure, likely: likely(found[0].action, other), reasoning: "a word that may mean it"}
	case bareHelp.MatchString(m):
		return helpless(m)
	case refersBack(m):
		return unclear(m)
	case asking.MatchString(message):
		return decision{action: doAnswer, confidence: sure, likely: likely(doAnswer, doCondense), reasoning: "a question"}
	}
	return unclear(m)
}

// asked are the actions a message holds a cue of, in the order they stand.
func asked(m string) []wanted {
	var out []wanted
	for _, c := range cues {
		loc := c.re.FindStringIndex(m)
		known := slices.ContainsFunc(out, func(w wanted) bool { return w.action == c.action })
		if loc == nil || known {
			continue
		}
		out = append(out, wanted{c.action, loc[0], c.plain})
	}
	slices.SortStableFunc(out, func(a, b wanted) int { return a.at - b.at })
	return out
}

// chosen decides between actions that are asked for plainly.
func chosen(m string, plain []wanted) decision {
	plain = without(m, plain)
	d := decision{action: plain[0].action, confidence: sure, reasoning: "it says so"}
	if at := plain[0].at; asking.MatchString(first.ReplaceAllString(m[:at], "")) && goesOn.MatchString(m[:at]) && contentWords(m[:at]) > 1 {
		d.action, d.actions = doAnswer, []string{doAnswer} // a question comes first
	}
	for _, w := range plain {
		d.actions = append(d.actions, w.action)
	}
	if loc := asksSomething.FindStringIndex(m); loc != nil && loc[0] > plain[0].at && len(plain) == 1 {
		if rest := m[loc[1]:]; !asksOutcome.MatchString(m[loc[0]:]) && contentWords(rest) > 0 {
			d.actions = append(d.actions, doAnswer)
		}
	}
	d.multi = len(d.actions) > 1
	second := doAnswer
	if d.multi {
		second = d.actions[1]
	}
	d.likely = likely(d.action, second)
	d.topic = d.action == doCondense && !d.multi && topical(m)
	return d
}

// Where the first of several requests begins, and where it ends.
var (
	first  = flatPattern("first")
	goesOn = flatPattern("goesOn")
)

var (
	// objectOf is a summary whose object is what another cue found: "summarize
	// the differences".
	objectOf = flatPattern("objectOf")
	joined   = flatPattern("joined")
)

// without drops cues that only belong to another: two actions are asked for
// when something stands between them that joins two requests.
func without(m string, plain []wanted) []wanted {
	if len(plain) < 2 {
		return plain
	}
	if objectOf.MatchString(m) {
		return slices.DeleteFunc(plain, func(w wanted) bool { return w.action == doCondense })
	}
	out := plain[:1]
	for _, w := range plain[1:] {
		if joined.MatchString(m[out[len(out)-1].at:min(w.at+len("und "), len(m))]) {
			out = append(out, w)
		}
	}
	return out
}

// topical reports whether a summary is asked of one thing a document says,
// which is a question (LG-10).
func topical(m string) bool {
	if loc := aboutTopic.FindStringIndex(m); loc != nil && (!aboutEnd.MatchString(m) || steht.MatchString(m)) {
		return true
	}
	for _, g := range ofWhole.FindAllStringSubmatch(m, -1) {
		part := strings.TrimSpace(g[1] + g[3])
		if part != "" && !wholeWords.MatchString(part) && !ofThing.MatchString(part) && !inLength.MatchString(g[2]+g[4]) {
			return true
		}
	}
	return false
}

// ofThing is a document by what it is, steht a question for one thing of it.
var (
	ofThing = flatPattern("ofThing")
	steht   = flatPattern("steht")
)

// aboutEnd is a question for the whole: "what is it about".
var aboutEnd = flatPattern("aboutEnd")

// helpless decides a request that does not say what to do.
func helpless(m string) decision {
	d := decision{action: doAnswer, confidence: unsure, likely: likely(doAnswer, doCondense), reasoning: "it does not say what to do"}
	if several.MatchString(m) && strings.Contains(m, "analy") {
		d.action, d.likely = doCompare, likely(doCompare, doCondense)
	}
	return d
}

var several = flatPattern("several")

// unclear decides a message that is no sentence: a few words are looked for,
// the name of a document alone says nothing.
func unclear(m string) decision {
	content := contentWords(m)
	bare := onlyThing.MatchString(m) || filePath.MatchString(m) && content <= 2
	switch {
	case bare || content == 0:
		return decision{action: doAnswer, confidence: unsure, likely: likely(doCondense, doAnswer), reasoning: "only a document is named"}
	case refersBack(m):
		return decision{action: doAnswer, confidence: unsure, likely: likely(doAnswer, doCondense), reasoning: "it needs what was said before"}
	}
	return decision{action: doAnswer, confidence: probable, likely: likely(doAnswer, doCondense), reasoning: "words to look for"}
}

var onlyThing = flatPattern("onlyThing")

// refersBack reports whether a message only makes sense after another.
func refersBack(m string) bool {
	return backward.MatchString(m) && contentWords(m) <= 5 && !ownQuestion.MatchString(m)
}

// sameAgain asks for the same of another document; what else follows is a
// question of its own.
var sameAgain = flatPattern("sameAgain")

// ownQuestion is a question that is whole in itself, whatever it follows.
var ownQuestion = flatPattern("ownQuestion")

// lastDecision is what the person last asked for plainly.
func lastDecision(earlier []model.Message) decision {
	for _, e := range slices.Backward(earlier) {
		if e.Role != model.User {
			continue
		}
		for _, b := range e.Content {
			if d := choose(strings.ToLower(opening(b.Text))); b.Type == model.Text && d.confidence == sure && d.reasoning != "courtesy" {
				return d
			}
		}
	}
	return decision{}
}

func likely(first, second string) []string {
	if first == second {
		second = doCondense
	}
	return []string{first, second}
}

// intent decides under the schema that is asked for: one that knows actions,
// or that of the intent classifier.
func (t turn) intent() map[string]any {
	if asks(t.req.Schema, "intent") || !asks(t.req.Schema, "action") {
		return classify(t.question)
	}
	values := decide(t.question, t.req.Messages[:max(len(t.req.Messages)-1, 0)]).values()
	values[intentCourtesy] = courteous(t.question)
	return values
}
