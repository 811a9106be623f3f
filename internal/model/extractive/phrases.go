package extractive

import "strings"

// Banner is the sentence the client shows, and the chat says, while no
// language model is configured.
const Banner = "No language model is configured. Answers are quoted from your documents and tool results; nothing is generated."

// phrases are its own sentences in one language.
type phrases struct {
	banner, abilities, hello   string
	nothing, closest, noSource string
	page, of                   string
	files, noFiles, begins     string
	failed, empty, cannotEdit  string
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
		nothing:    "Nothing in your documents answers this.",
		closest:    "The closest passages are below. They are not an answer.",
		noSource:   "There are no documents to answer from. Upload some, or choose a context, and ask again.",
		page:       "page",
		of:         "in",
		files:      "Your files:",
		noFiles:    "You have no files yet.",
		begins:     "It begins:",
		failed:     "The tool %s did not work: %s",
		empty:      "The tool %s returned nothing.",
		cannotEdit: "Changing files takes a language model, and none is configured. This is what stands there now.",
	}
}

func german() phrases {
	return phrases{
		banner:     "Es ist kein Sprachmodell eingerichtet. Antworten sind Zitate aus Ihren Dokumenten und Werkzeugergebnissen; nichts wird erzeugt.",
		abilities:  "Fragen Sie etwas zu Ihren Dokumenten, und ich antworte mit Zitaten daraus; außerdem kann ich Ihre Dateien auflisten und lesen.",
		hello:      "Hallo.",
		nothing:    "Nichts in Ihren Dokumenten beantwortet das.",
		closest:    "Die nächstliegenden Stellen folgen. Sie sind keine Antwort.",
		noSource:   "Es gibt keine Dokumente, aus denen sich antworten ließe. Laden Sie welche hoch oder wählen Sie einen Kontext, und fragen Sie noch einmal.",
		page:       "Seite",
		of:         "in",
		files:      "Ihre Dateien:",
		noFiles:    "Sie haben noch keine Dateien.",
		begins:     "So beginnt es:",
		failed:     "Das Werkzeug %s hat nicht funktioniert: %s",
		empty:      "Das Werkzeug %s hat nichts zurückgegeben.",
		cannotEdit: "Dateien zu ändern erfordert ein Sprachmodell, und es ist keines eingerichtet. Das steht jetzt dort.",
	}
}
