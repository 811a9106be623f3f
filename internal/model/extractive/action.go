package extractive

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/model"
)

// The actions of a document assistant, when a schema asks for one.
const (
	actSummarize = "summarize"
	actInquire   = "inquire"
	actCompare   = "compare"
	actAudit     = "audit"
)

// How sure a decision is.
const (
	sure     = "high"
	probable = "medium"
	unsure   = "low"
)

// A cue is a way people ask for an action. Plain ones say so in so many
// words; the others only make it probable.
type cue struct {
	action string
	plain  bool
	re     *regexp.Regexp
}

const (
	// thing is what is talked about, when it is a document.
	thing = `(?:documents?|docs?|files?|pdfs?|texts?|contracts?|agreements?|polic(?:y|ies)|versions?|drafts?|reports?|handbooks?|manuals?|guidelines?|rules|regulations?|laws?|acts?|offers?|quotes?|leases?|cop(?:y|ies)|editions?|minutes|letters?|papers?|annex(?:es)?|dokumente?n?|dateien?|texte?n?|vertr(?:a|ä)ge?s?n?|vereinbarung(?:en)?|richtlinien?|fassung(?:en)?|version(?:en)?|entw(?:u|ü)rfe?|berichte?n?|handb(?:u|ü)ch(?:er)?|satzung(?:en)?|ordnung(?:en)?|angebote?n?|anlagen?|verordnung(?:en)?|gesetze?s?)`
	// mine is a text of the person's that can be held against documents.
	mine = `(?:e-?mails?|mails?|drafts?|texts?|paragraphs?|clauses?|wording|letters?|messages?|statements?|posts?|press release|announcements?|excerpts?|sections?|sentences?|procedure|practice|process|plan|proposal|following|entw(?:u|ü)rfe?|absatz|abs(?:a|ä)tze|klauseln?|schreiben|formulierung|nachricht|vorgehen|passage|satz|s(?:a|ä)tze|brief)`
)

// flat writes umlauts as two letters: to a pattern, a border of words stands
// only beside letters of ASCII.
var flat = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// re is a pattern for text that was made flat.
func re(pattern string) *regexp.Regexp { return regexp.MustCompile(flat.Replace(pattern)) }

// cues are looked for in this order; the first of an action that is found
// decides where in the message it stands.
var cues = []cue{
	{actCompare, true, re(`\bcompar(?:e|es|isons?)\b|\bcontrast(?:s|ing)?\b|\bside[- ]by[- ]side\b|\bvergleich(?:e|en|st)?\b|\bgegenüber(?:stell\w*|zustellen)\b|\bstelle?\b.*\bgegenüber\b|\bgegenüberstellung\b`)},
	{actCompare, true, re(`\bhow (?:do|does|did)\b.*\bdiffer\b|\bwhat(?:'s| is| has|'ve)? (?:changed|new)\b.*\b(?:between|since|from|compared)\b|\bunterscheide(?:n|t)\b|\bwas hat sich\b.*\b(?:ge|ver)ändert\b|\bwhich (?:one )?of the (?:two|three)\b|\bwelche[rs]? (?:der|von den|von) (?:beiden|zwei)\b`)},
	{actCompare, true, re(`\b(?:differences?|similarit(?:y|ies)|unterschiede?n?|gemeinsamkeiten)\b.*(?:\bboth\b|\btwo\b|\bthree\b|\bthese\b|\bthose\b|\bthem\b|\b(?:the|my|our) [\w-]+(?: [\w-]+)? and the\b|@|\b(?:old|previous|last year'?s?|new|alten?|neuen?|vorigen)\b|\bbeiden?\b|\bzwei\b|\bzur\b|\b` + thing + `\b)`)},
	{actCompare, true, re(`\S\s+(?:vs\.?|versus)\s+\S|\bidentical\b|\bdifferent (?:from|to|than)\b|\banders als\b|\bdeviat(?:e|es|ions?)\b|\babweich\w*\b|\bweich(?:en|t)\b.*\bab\b|\bwhat differs\b|\b(?:both|two)\b.*\bthe same\b|\bwhat(?:'s| is) (?:different|new|changed) (?:in|with|about) the (?:new|second|latest|other|revised)\b|\b(?:than|from|to|with) the (?:old|other|previous|former|first|second|earlier) (?:one|version|` + thing + `)|\bgleich(?:e|en|st)?\b.*\bab\b|(?:, )?\bd(?:er|ie|as) alten? oder d(?:er|ie|as) neuen?\b|\bstimmen\b.*\büberein\b|\bare (?:the|these|those) (?:two|both)\b.*\bsame\b`)},
	{actCompare, true, re(`^(?:and |so )?(?:which|what) one (?:is|has|gives|allows|offers|pays)\b.*\b(?:\w+er|more|less|best|worst|better)\b|\bwelche[rs]? (?:davon )?(?:ist|hat) (?:\w+er|mehr|weniger)\b`)},
	{actCompare, false, re(`\bdifferences?\b|\bunterschiede?n?\b|\bstricter\b|\bstrenger\b`)},

	{actAudit, true, re(`^(?:please |can you |could you |would you |now |then |bitte |und |dann )*audit(?:iere|ieren)?\b|\b(?:and|then|also|please|und|dann|to|you) audit(?:iere|ieren)?\b|\b(?:run|do|perform|carry out|make|mach\w*|need|want) an? (?:\w+ )?audit\b|\baudit (?:this|my|the following|these|our|it|diese[nrms]?|mein)\b`)},
	{actAudit, true, re(`\b(?:check|checks|review|validate|verify|test|hold|assess|examine)\b.*\b(?:against|for (?:\w+ )?compliance|for conformity|(?:meets?|respects?|complies|conforms|follows|in line|compliant))\b|\bmake sure\b.*\b(?:follows?|compl(?:y|ies)|conforms?|in line|respects?)\b|\bcompliance[- ]check\b|\b(?:hält|halten)\b.*\b(?:mein\w*|diese[rsmn]?|unser\w*|folgende[rsn]?)\b.*\bein\b|\b(?:this|my|our|the following|attached)\b.*\b(?:goes?|go|going) against\b`)},
	{actAudit, true, re(`\b(?:this|my|our|the|these|following|attached)\b.*\b` + mine + `\b.*\b(?:compl(?:y|ies|iant)|conforms?|violates?|(?:breach(?:es)?|breaks?) (?:the|our|any|a|with)|in line with|consistent with|compatible with|allowed (?:by|under)|infringes?|contradicts?|meets?)\b|\b(?:do(?:es)?|is|would|will|are|can)\b.*\b` + mine + `\b.*\b(?:comply|conform|compliant|violate|(?:breach|break) (?:the|our|any|a)|in line|consistent|compatible|infringe|contradict|meet|ok(?:ay)? (?:under|with|by)|acceptable|permitted (?:under|by)|allowed (?:under|by))\b|\b(?:do(?:es)?|would|will) (?:it|this|that|what i wrote(?: \w+)?) (?:contradict|violate|breach|break|infringe|comply|conform)\b`)},
	{actAudit, true, re(`\b(?:(?:über)?prüfe?n?|kontrolliere?n?|checke?)\b.*(?:\b(?:gegen|anhand|passt|einhält|verstößt|auf einhaltung|auf [\w-]*konformität|entspricht|entsprechen|einhält|vereinbar)\b)|\b(?:diese[rsmn]?|mein[e]?|unser[e]?|folgende[rsn]?|der|die|das)\b.*\b(?:verstößt|verstoßen|widerspricht|entspricht|vereinbar|konform|im einklang)\b|\bauf [\w-]*konformität\b|\b(?:verstößt|widerspricht|entspricht|genügt)\b.*\b(?:folgende[rsn]?|diese[rsmn]?|mein\w*|unser\w*)\b|\b(?:verstößt|widerspricht|entspricht|verletzt|passt|passen|ist|sind)\b.*\b(?:diese[rsmn]?|mein[e]?|unser[e]?|folgende[rsn]?)\b.*\b(?:gegen|mit|\w*richtlinien?|[\w-]+-richtlinie|regeln|vorgaben|konform|vereinbar|satzung|verordnung|ordnung)\b`)},
	{actAudit, true, re(`\bis (?:this|that|it|the following|everything|all (?:of )?(?:this|that))\b.*\b(?:in line with|compliant|consistent with|compatible with|allowed (?:by|under)|ok(?:ay)? (?:with|under|by)|permitted (?:by|under))\b`)},
	{actAudit, false, re(`^(?:please |can you |could you |now |bitte |kannst du )*(?:check|review|validate|verify|(?:über)?prüfe?n?)\b|\b(?:check|review|proofread) (?:this|my|the)\b`)},

	{actSummarize, true, re(`\bsumm?[ae]r(?:i[sz]e[sd]?|i[sz]ing|y|ies)\b|\bsum\b(?: [\w'-]+){0,5} up\b|\bessentials?\b|\brun-?down\b|\bone-?pager\b|\bbullet ?points?\b|\bin (?:\w+ )?bullets\b|\bstichpunkt\w*\b|\bsynopsis\b|\bdigest\b|\bkurzüberblick\b|\btl;?\s?dr\b|\brecap\b|\boverview\b|\bgist\b|\bbrief me\b|\bboil\b.*\bdown\b|\bcondense\b|\bin (?:short|a nutshell|brief)\b|\bzusammen(?:ge|zu)?fass\w*\b|\bfass(?:e|t|en)?\b.*\bzusammen\b|\büberblick\b|\bübersicht über\b|\bkurzfassung\b|\binhaltsangabe\b|\bin kürze\b|\babstract of\b|\b(?:short|brief|condensed) version\b|\b(?:explain|walk me through|go through) the (?:whole|entire|full)\b|\bwhole (?:` + thing + `)\b.*\b(?:simple|plain|short|five)\b|\bkurz und knapp\b`)},
	{actSummarize, true, re(`\b(?:key|main|most important|essential|central) (?:points?|takeaways?|ideas?|messages?|findings|conclusions?|results?|facts|contents?|statements?)\b|\btakeaways\b|\bhighlights\b|\b(?:wichtigsten?|zentralen?|wesentlichen?) (?:punkte|aussagen|inhalte|ergebnisse)\b|\bkernpunkte\b|\bkernaussage\w*\b|\bdas wichtigste\b|\bwhat (?:do|should) i (?:need to )?know\b|\bwas muss ich\b.*\bwissen\b|\bwhat does (?:the|this|that|my|our) (?:[\w-]+ )?` + thing + ` say\s*\??$`)},
	{actSummarize, true, re(`\bwhat(?:'s| is| are) (?:this|that|it|these|they|(?:the |my )?` + thing + `|this ` + thing + `|that ` + thing + `|the [\w-]+ ` + thing + `) (?:all )?about\b|\bwhat(?:'s| is) in (?:the|this|that|my|our) (?:[\w-]+ )?` + thing + `\s*\??$|\bworum (?:geht|handelt)\b|\bwas steht in\b|\bwovon handelt\b`)},
}

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
		if before := lastDecision(earlier); before.action != "" && (before.action == actInquire || sameAgain.MatchString(m)) {
			d.action, d.likely = before.action, likely(before.action, actInquire)
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
	lately = re(`\bstill (?:in (?:force|effect)|enforced|valid|applicable|appl(?:y|ies)|true|current|up[- ]to[- ]date|accurate|the case)\b|\bis .* still\b|\b(?:latest|recent(?:ly)?|nowadays|these days|this year|up[- ]to[- ]date|at the moment|currently|newest|news)\b|\bis there (?:a|any) (?:newer|more recent)\b|\bhappening with\b|\bchanged since\b|\b(?:online|on the web|the internet|google)\b|\bgilt\b.*\bnoch\b|\bnoch (?:gültig|aktuell|in kraft)\b|\b(?:aktuell\w*|derzeit\w*|momentan\w*|neueste[nrsm]?|heutzutage|inzwischen|im (?:internet|netz|web))\b|\b(?:current|today's) (?:\w+ )?(?:law|rules?|rates?|status|situation|price|prices|state|regulations?)\b`)

	aboutTopic = re(`\b(?:about|regarding|concerning|with (?:respect|regard) to|on the (?:topic|subject) of)\s+\S|\bwhat\b.*\b(?:says?|said|states?|contains?)\b|\bwas\b.*\b(?:über|zu|zum|zur)\b.*\b(?:sagt|steht|enthält|regelt)\b|\bwas (?:sagt|steht|enthält|regelt)\b.*\büber\s+\S|\b(?:hinsichtlich|bezüglich|in bezug auf|zum thema)\b`)
	ofWhole    = re(`\bsummar(?:i[sz]e|y)(?: (?:of|me|for me|please))* (?:the |our |its )?([\w\s'-]+?) (?:in|of|from|within) (\w+)|\bfass\w* (?:die|den|das|alle) ([\pL\s-]+?) (?:in|aus|im|vom) (\w+)`)
	inLength   = re(`^(?:\d+|a|an|one|two|three|four|five|six|ten|few|short|brief|detail|bullets?|bulleted|plain|simple|english|german|your|own|zwei|drei|vier|fünf|zehn|kurzen|wenigen|stichpunkten|deutsch|englisch|einem|einfachen)$`)
	wholeWords = re(`^(?:(?:key|main|most|important|essential|central|whole|entire|full|all|both|some|few|wichtigsten|points?|takeaways?|ideas?|contents?|content|gist|message|findings|text|essence|rest|first|second|part|parts?|pages?|punkte|inhalte?|` + thing + `)\s*)+$`)

	asksSomething = re(`\b(?:and|then|also|und|dann)\s+(?:also |then |please |dann |auch )*(?:tell me|sagen|erklären|nennen|auflisten|explain|find|list|answer|show me|look up|what|who|when|where|why|how|erkläre?|sag mir|nenne?|liste|finde|was|wer|wann|wo|warum|wie)\b`)
	asksOutcome   = re(`\b(?:which|better|differ\w*|chang\w*|stricter|summar\w*|compl\w*|violat\w*|wrong|fix|main|key|important|what it (?:says|is)|what they|unterschied\w*|besser|welche\w*|strenger)\b`)

	backward = re(`^(?:and|und|what about|how about|was ist mit|wie (?:sieht|ist) es mit|same|the same|now|jetzt|do (?:it|the same|that)|das ?(?:selbe|gleiche)|also|auch|against|gegen|with|mit|for|für|ok(?:ay)?|yes|ja|again|nochmal|then|dann)\b|\b(?:the same|too|as well|das gleiche|dasselbe|ebenso|genauso|other (?:one|two)|others|anderen?)\b`)
	bareHelp = re(`^(?:please |can you |could you |bitte |kannst du )*(?:help\b|assist\b|support\b|look at\b|do something\b|work on\b|handle\b|process\b|analy[sz]e\b|analysiere\b|schau\b|sieh dir\b|hilf\b|use\b|take\b|open\b|go through\b|have a look\b|deal with\b)`)
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
		return decision{action: actInquire, confidence: sure, likely: likely(actInquire, actSummarize), reasoning: "courtesy"}
	case len(plain) > 0:
		return chosen(m, plain)
	case len(found) > 0 && asking.MatchString(message) && found[0].action == actCompare:
		return decision{action: actInquire, confidence: probable, likely: likely(actInquire, actCompare), reasoning: "a question about a difference between things, not documents"}
	case len(found) > 0:
		other := map[string]string{actAudit: actSummarize, actCompare: actInquire}[found[0].action]
		return decision{action: found[0].action, confidence: unsure, likely: likely(found[0].action, other), reasoning: "a word that may mean it"}
	case bareHelp.MatchString(m):
		return helpless(m)
	case refersBack(m):
		return unclear(m)
	case asking.MatchString(message):
		return decision{action: actInquire, confidence: sure, likely: likely(actInquire, actSummarize), reasoning: "a question"}
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
		d.action, d.actions = actInquire, []string{actInquire} // a question comes first
	}
	for _, w := range plain {
		d.actions = append(d.actions, w.action)
	}
	if loc := asksSomething.FindStringIndex(m); loc != nil && loc[0] > plain[0].at && len(plain) == 1 {
		if rest := m[loc[1]:]; !asksOutcome.MatchString(m[loc[0]:]) && contentWords(rest) > 0 {
			d.actions = append(d.actions, actInquire)
		}
	}
	d.multi = len(d.actions) > 1
	second := actInquire
	if d.multi {
		second = d.actions[1]
	}
	d.likely = likely(d.action, second)
	d.topic = d.action == actSummarize && !d.multi && topical(m)
	return d
}

// Where the first of several requests begins, and where it ends.
var (
	first  = re(`^(?:first(?:ly)?|zuerst|erst(?:mal|ens)?|please|bitte)[, ]+`)
	goesOn = re(`(?:[,;.]|\b(?:and|then|und|dann)) *(?:(?:and|then|also|please|und|dann|bitte) +)*$`)
)

var (
	// objectOf is a summary whose object is what another cue found: "summarize
	// the differences".
	objectOf = re(`\b(?:summar(?:i[sz]e|y of)|overview of|zusammenfassung der|fasse)\s+(?:me |for me )?(?:the |all |die |alle )?(?:main |key |most important |wichtigsten )?(?:differences?|similarities|changes|comparison|unterschiede|gemeinsamkeiten|änderungen|vergleich)`)
	joined   = re(`\b(?:and|then|also|afterwards|plus|und|dann|danach|anschließend|sowie|as well as)\b|[,;.]`)
)

// without drops cues that only belong to another: two actions are asked for
// when something stands between them that joins two requests.
func without(m string, plain []wanted) []wanted {
	if len(plain) < 2 {
		return plain
	}
	if objectOf.MatchString(m) {
		return slices.DeleteFunc(plain, func(w wanted) bool { return w.action == actSummarize })
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
	ofThing = re(`\b` + thing + `$`)
	steht   = re(`\bwas steht\b.*\b(?:über|zum thema|bezüglich|hinsichtlich)\s+\S`)
)

// aboutEnd is a question for the whole: "what is it about".
var aboutEnd = re(`\b(?:about|says?)\s*\??$|^in short\b|\bworum\b|\bwas steht in\b`)

// helpless decides a request that does not say what to do.
func helpless(m string) decision {
	d := decision{action: actInquire, confidence: unsure, likely: likely(actInquire, actSummarize), reasoning: "it does not say what to do"}
	if several.MatchString(m) && strings.Contains(m, "analy") {
		d.action, d.likely = actCompare, likely(actCompare, actSummarize)
	}
	return d
}

var several = re(`\b(?:both|two|three|these|those|beiden?|zwei|drei)\b`)

// unclear decides a message that is no sentence: a few words are looked for,
// the name of a document alone says nothing.
func unclear(m string) decision {
	content := contentWords(m)
	bare := onlyThing.MatchString(m) || filePath.MatchString(m) && content <= 2
	switch {
	case bare || content == 0:
		return decision{action: actInquire, confidence: unsure, likely: likely(actSummarize, actInquire), reasoning: "only a document is named"}
	case refersBack(m):
		return decision{action: actInquire, confidence: unsure, likely: likely(actInquire, actSummarize), reasoning: "it needs what was said before"}
	}
	return decision{action: actInquire, confidence: probable, likely: likely(actInquire, actSummarize), reasoning: "words to look for"}
}

var onlyThing = re(`^(?:the|this|that|my|our|der|die|das|den|dieser?s?|mein\w*)?\s*(?:[\w-]+ )?` + thing + `(?: [\w.]+)?[.!]?$|\b(?:not sure|no idea|dunno|hm+|keine ahnung|weiss nicht)\b`)

// refersBack reports whether a message only makes sense after another.
func refersBack(m string) bool {
	return backward.MatchString(m) && contentWords(m) <= 5 && !ownQuestion.MatchString(m)
}

// sameAgain asks for the same of another document; what else follows is a
// question of its own.
var sameAgain = re(`\b(?:same|too|as well|also|likewise|again|other|others|another|one|ones|first|second|third|last|auch|ebenso|genauso|nochmal|dasselbe|gleiche|anderen?|erste[nrs]?|zweite[nrs]?|dritte[nrs]?|letzte[nrs]?|\d{4}|` + thing + `)\b|^(?:and|und|now|jetzt|then|dann)? ?(?:against|gegen|with|mit)\b`)

// ownQuestion is a question that is whole in itself, whatever it follows.
var ownQuestion = re(`^(?:and|und|also|ok(?:ay)?|now|then|but|aber),? +(?:who|whom|whose|when|where|why|which \w+|how (?:many|much|long|often|do|does|is|are)|is|are|was|were|does|do (?:i|we|you|they)|did|can|must|may|has|have|what (?:is|are|does|do|happens|if|kind|was)|wer|wem|wen|wann|wo|warum|wieso|welche\w* \w+|wie (?:viele?|lange|oft|hoch)|ist|sind|hat|kann|darf|muss|gibt|was (?:ist|sind|passiert|kostet|sagt|gilt))\b`)

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
		second = actSummarize
	}
	return []string{first, second}
}

// intent decides under the schema that is asked for: one that knows actions,
// or that of the intent classifier.
func (t turn) intent() map[string]any {
	if !asks(t.req.Schema, "action") {
		return classify(t.question)
	}
	values := decide(t.question, t.req.Messages[:max(len(t.req.Messages)-1, 0)]).values()
	values["smalltalk"] = courteous(t.question)
	return values
}
