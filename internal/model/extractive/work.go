package extractive

import (
	"slices"
	"strings"

	"liminal/internal/words"
)

// The works of llm.intent_classifier_v1 beside the actions: several actions at
// once, a list of the documents themselves, and none of them.
var (
	workSeveral = rules.name("work several")
	workList    = rules.name("work list")
	workNone    = rules.name("work none")
)

// What tells a wish to have work done with whole documents from a question about
// what documents say.
var (
	asksHow       = flatPattern("asksHow")
	asksOf        = flatPattern("asksOf")
	asksForWhole  = flatPattern("asksForWhole")
	setsApart     = flatPattern("setsApart")
	compounds     = flatPattern("compounds")
	wantsChecking = flatPattern("wantsChecking")
	ownList       = flatPattern("ownList")
)

// workOn is the action that a message wants done with whole documents, and
// nothing else: where somebody has not chosen what is to be done, a question is
// answered unless it plainly is none. "How do I summarize a table in SQL?" and
// "Who wrote the summary?" ask for what documents say (LG-08, LG-10).
func workOn(message string) string {
	m := flat.Replace(strings.ToLower(strings.TrimSpace(opening(message))))
	if asksForList(message) {
		return workList
	}
	if asksHow.MatchString(m) || compounds.MatchString(m) || courteous(message) {
		return workNone
	}
	d := decide(message, nil)
	if d.multi {
		return workOf(d.actions)
	}
	switch {
	case d.action == doCompare && d.confidence == sure, setsApart.MatchString(m) && d.action != doCondense:
		return doCompare
	case d.action == doCheck && wantsChecking.MatchString(m) && brings(message) && !strings.HasSuffix(strings.TrimSpace(message), "?"):
		return doCheck
	case d.topic && isTitle(opening(message)):
		return doCondense
	case d.confidence != sure || d.topic:
		return workNone
	case d.action == doCondense && (!asksOf.MatchString(m) || asksForWhole.MatchString(m)):
		return doCondense
	case d.action == doCheck && (wantsChecking.MatchString(m) || brings(message)):
		return doCheck
	}
	return workNone
}

// asksForList reports whether a message asks which documents there are, and
// nothing of what they say: "Which documents do I have to sign?" does.
func asksForList(message string) bool {
	return ownList.MatchString(flat.Replace(strings.ToLower(strings.TrimSpace(message))))
}

// workOf is the work of several actions. A question that is asked along with one
// is answered by it as well as can be.
func workOf(actions []string) string {
	works := slices.DeleteFunc(slices.Clone(actions), func(a string) bool { return a == doAnswer })
	switch len(works) {
	case 0:
		return workNone
	case 1:
		return works[0]
	}
	return workSeveral
}

// isTitle reports whether what a message asks for is written like a title: "The
// Art of War" is a document, where "the duties of tenants" are a topic of one.
func isTitle(message string) bool {
	names := 0
	for i, t := range tokensOf(message) {
		switch {
		case i == 0 || glue[t.text] || verbs[t.text] || t.text == "please":
		case t.upper:
			names++
		case !t.idle():
			return false
		}
	}
	return names > 1 && words.Detect(message) != words.German // which writes every noun like a name
}

// brings reports whether a message holds a text beside what it asks.
func brings(message string) bool {
	rest := len(strings.Fields(message)) - len(strings.Fields(opening(message)))
	return rest >= shortestText
}

// shortestText is how many words make a text that can be held against documents.
const shortestText = 5
