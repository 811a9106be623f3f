package webhook

import (
	"net/url"
	"strings"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// words of a letter, in one language.
type words struct {
	subject map[Kind]string
	before  map[Kind]string
	asks    string
	open    string
	end     string
	off     string
	offText string
	offEnd  string
}

var english = words{
	subject: map[Kind]string{
		QuestionWaiting: "An assistant waits for your answer", RunDone: "A run is done", RunFailed: "A run has failed",
	},
	before: map[Kind]string{
		QuestionWaiting: "An assistant has a question for you, and goes on once you have answered.",
		RunDone:         "A run of yours is done.",
		RunFailed:       "A run of yours has failed.",
	},
	asks: "It asks:", open: "Open it here:",
	end:     "You get this because you chose it. You can change or end it here:",
	off:     "A webhook of yours was turned off",
	offText: "Liminal sends nothing to this address any more, because nothing got through to it for days or it said that it is gone:",
	offEnd:  "Look at what was sent, and turn it on again, here:",
}

var german = words{
	subject: map[Kind]string{
		QuestionWaiting: "Ein Assistent wartet auf Ihre Antwort", RunDone: "Ein Lauf ist fertig", RunFailed: "Ein Lauf ist fehlgeschlagen",
	},
	before: map[Kind]string{
		QuestionWaiting: "Ein Assistent hat eine Frage an Sie und macht weiter, sobald Sie geantwortet haben.",
		RunDone:         "Ein Lauf von Ihnen ist fertig.",
		RunFailed:       "Ein Lauf von Ihnen ist fehlgeschlagen.",
	},
	asks: "Er fragt:", open: "Hier öffnen Sie ihn:",
	end:     "Sie bekommen diese Mail, weil Sie es so eingestellt haben. Hier ändern oder beenden Sie es:",
	off:     "Ein Webhook von Ihnen wurde abgeschaltet",
	offText: "Liminal sendet nichts mehr an diese Adresse, weil dort tagelang nichts ankam oder sie meldet, dass es sie nicht mehr gibt:",
	offEnd:  "Hier sehen Sie, was gesendet wurde, und schalten ihn wieder ein:",
}

func wordsOf(u identity.User) words {
	if u.Locale == "de" {
		return german
	}
	return english
}

// settingsPath is where people choose what they are told.
const settingsPath = "/settings/webhooks"

// letter tells a person of an event. Where nothing of the run is kept, nothing of
// what it asks is in the letter either.
func letter(j Job, told Subject, publicURL string) identity.Letter {
	w, e := wordsOf(j.Person), j.Event
	parts := []string{w.before[e.Kind]}
	if q := told.Question; q != nil && q.Message != "" && !id.Unkept(e.RunID) {
		parts = append(parts, w.asks, shortened(q.Message))
	}
	page := publicURL + "/operate/runs/" + e.RunID
	if e.ConversationID != "" {
		page = publicURL + "/c/" + e.ConversationID
	}
	parts = append(parts, w.open, page, w.end, publicURL+settingsPath)
	return identity.Letter{To: j.Person.Email, Subject: w.subject[e.Kind], Text: strings.Join(parts, "\n\n") + "\n"}
}

// offLetter tells a person that an endpoint is off. Its address is shown without
// what may be secret in it.
func offLetter(j Job, publicURL string) identity.Letter {
	w, shown := wordsOf(j.Person), ""
	if u, err := url.Parse(j.Endpoint.URL); err == nil {
		shown = u.Scheme + "://" + u.Host + u.Path
	}
	return identity.Letter{To: j.Person.Email, Subject: w.off, Text: strings.Join([]string{w.offText, shown, w.offEnd, publicURL + settingsPath}, "\n\n") + "\n"}
}
