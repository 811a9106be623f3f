package extractive

import "strings"

// Banner is the sentence the client shows, and the chat says, while no
// language model is configured.
const Banner = "No language model is configured. Answers are quoted from your documents and tool results; nothing is generated."

// phrases are its own sentences in one language.
type phrases struct {
	banner, abilities, hello   string
	welcome, goodbye           string
	praised, blamed            string // to who says what they think of an answer
	nothing, closest, noSource string
	unsure                     string // begins an answer that may be none
	page, of                   string
	files, noFiles, begins     string
	noneHere, toAdd            string
	failed, empty, cannotEdit  string
	untitled, summary, unread  string
	fromWeb                    string
	comparison, oneDocument    string
	nothingShared, silentOn    string
	sideBySide, onlyIn         string
	checking, noClaims, silent string
	moreClaims, tally          string
	hereThere                  string

	german                                     bool
	fromData, notFound, whichOf, lacks, canAsk string // of records
}

func speak(locale string) phrases {
	if strings.HasPrefix(strings.ToLower(locale), "de") {
		return german()
	}
	return english()
}

func english() phrases {
	return phrases{
		banner:     Banner,
		abilities:  "Ask a question about your documents and I will answer with quotes from them; I can also list and read your files.",
		hello:      "Hello.",
		welcome:    "You are welcome. Ask on whenever you like.",
		goodbye:    "Goodbye.",
		praised:    "Good to hear. Ask on whenever you like.",
		blamed:     "Understood. Ask again in other words, or say under the answer what it should have been.",
		nothing:    "Nothing in your documents answers this.",
		closest:    "The closest passages are below. They are not an answer.",
		unsure:     "These passages come closest. Whether they answer this is not certain.",
		noSource:   "There are no documents to answer from. Upload some, or choose a context, and ask again.",
		page:       "page",
		of:         "in",
		files:      "Your files:",
		noFiles:    "You have no files yet.",
		noneHere:   "There are no documents here yet.",
		toAdd:      "Drop files or a folder anywhere in this window, or choose them with the paper clip; once they are read, ask what stands in them.",
		begins:     "It begins:",
		failed:     "The tool %s did not work: %s",
		empty:      "The tool %s returned nothing.",
		cannotEdit: "Changing files takes a language model, and none is configured. This is what stands there now.",

		untitled: "Document without a title",
		summary:  "No language model is configured, so nothing here is written anew: these are the sentences that say most of what is there, in their order.",
		unread:   "Nothing could be read of %s.",
		fromWeb:  "From the web, unchecked:",

		comparison:    "No language model is configured, so nothing is judged here: this is what each document says, side by side.",
		oneDocument:   "A comparison takes two documents, and only one has been read.",
		nothingShared: "The documents have no heading and no statement in common that could be put side by side.",
		silentOn:      "nothing found on this.",
		sideBySide:    "Figures side by side:",
		onlyIn:        "Headings found only in **%s**: %s.",

		checking:   "No language model is configured, so nothing is judged here: for each sentence of the text, this is what the documents say that comes closest.",
		noClaims:   "There is no text to check: none of its sentences states anything.",
		silent:     "*Nothing in the documents speaks of this.*",
		moreClaims: "%d more sentences of the text were not looked up.",
		tally:      "The documents have something close to %d of %d sentences.",
		hereThere:  "the text: %s · the documents: %s",

		fromData: "Quoted from your data:",
		notFound: "I couldn't find anything matching that.",
		whichOf:  "That may mean two things. Ask like one of these:",
		lacks:    "Something is missing: %s. Name it in quotation marks.",
		canAsk:   "No language model is configured, so I quote from your data. Ask, for example:\n",
	}
}

func german() phrases {
	return phrases{
		banner:     "Es ist kein Sprachmodell eingerichtet. Antworten sind Zitate aus deinen Dokumenten und Werkzeugergebnissen; nichts wird erzeugt.",
		abilities:  "Frag etwas zu deinen Dokumenten, und ich antworte mit Zitaten daraus; außerdem kann ich deine Dateien auflisten und lesen.",
		hello:      "Hallo.",
		welcome:    "Gern geschehen. Frag jederzeit weiter.",
		goodbye:    "Auf Wiedersehen.",
		praised:    "Das freut mich. Frag jederzeit weiter.",
		blamed:     "Verstanden. Frag noch einmal mit anderen Worten, oder schreib unter die Antwort, wie sie hätte lauten sollen.",
		nothing:    "Nichts in deinen Dokumenten beantwortet das.",
		closest:    "Die nächstliegenden Stellen folgen. Sie sind keine Antwort.",
		unsure:     "Diese Stellen kommen dem am nächsten. Ob sie es beantworten, ist nicht sicher.",
		noSource:   "Es gibt keine Dokumente, aus denen sich antworten ließe. Lade welche hoch oder wähle einen Kontext, und frag noch einmal.",
		page:       "Seite",
		of:         "in",
		files:      "Deine Dateien:",
		noFiles:    "Du hast noch keine Dateien.",
		noneHere:   "Hier gibt es noch keine Dokumente.",
		toAdd:      "Leg Dateien oder einen Ordner irgendwo in diesem Fenster ab, oder wähle sie mit der Büroklammer; sobald sie gelesen sind, frag nach dem, was darin steht.",
		begins:     "So beginnt es:",
		failed:     "Das Werkzeug %s hat nicht funktioniert: %s",
		empty:      "Das Werkzeug %s hat nichts zurückgegeben.",
		cannotEdit: "Dateien zu ändern erfordert ein Sprachmodell, und es ist keines eingerichtet. Das steht jetzt dort.",

		untitled: "Dokument ohne Titel",
		summary:  "Es ist kein Sprachmodell eingerichtet, daher ist hier nichts neu formuliert: Das sind die Sätze, die am meisten von dem sagen, was dort steht, in ihrer Reihenfolge.",
		unread:   "Von %s ließ sich nichts lesen.",
		fromWeb:  "Aus dem Web, ungeprüft:",

		comparison:    "Es ist kein Sprachmodell eingerichtet, daher wird hier nichts bewertet: Das sagt jedes der Dokumente, nebeneinandergestellt.",
		oneDocument:   "Ein Vergleich braucht zwei Dokumente, und nur eines liegt vor.",
		nothingShared: "Die Dokumente haben keine Überschrift und keine Aussage gemeinsam, die man nebeneinanderstellen könnte.",
		silentOn:      "dazu nichts gefunden.",
		sideBySide:    "Angaben nebeneinander:",
		onlyIn:        "Überschriften nur in **%s**: %s.",

		checking:   "Es ist kein Sprachmodell eingerichtet, daher wird hier nichts bewertet: Zu jedem Satz des Textes steht hier, was ihm in den Dokumenten am nächsten kommt.",
		noClaims:   "Es gibt keinen Text zu prüfen: Keiner seiner Sätze sagt etwas aus.",
		silent:     "*Davon spricht nichts in den Dokumenten.*",
		moreClaims: "%d weitere Sätze des Textes wurden nicht nachgeschlagen.",
		tally:      "Zu %d von %d Sätzen haben die Dokumente etwas Naheliegendes.",
		hereThere:  "der Text: %s · die Dokumente: %s",

		german:   true,
		fromData: "Aus deinen Daten zitiert:",
		notFound: "Dazu habe ich nichts gefunden.",
		whichOf:  "Das kann zweierlei heißen. Frag wie in einem davon:",
		lacks:    "Es fehlt etwas: %s. Nenne es in Anführungszeichen.",
		canAsk:   "Es ist kein Sprachmodell eingerichtet, daher zitiere ich aus deinen Daten. Frag zum Beispiel:\n",
	}
}
