package identity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tellChange mails a person what an administrator did to their account, as its
// entry in the audit log has it. It is for what somebody else did: one's own
// act is no news. Like every letter it is sent after its answer, once, and
// nothing waits for it; when it cannot be sent, that is logged.
func (a *Accounts) tellChange(ctx context.Context, e AuditEvent) {
	if e.What == "" || e.By == e.UserID || a.o.Mail == nil {
		return
	}
	e.At = cmp.Or(e.At, a.now())
	a.later(ctx, func(ctx context.Context) error {
		u, _, err := a.people.User(ctx, e.UserID)
		if err != nil {
			return err
		}
		s, err := a.choices.Settings(ctx, u.ID)
		if err != nil {
			return err
		}
		return a.o.Mail.Send(ctx, a.changeLetter(u, s.Timezone, e))
	})
}

// changeLetter says what was done, that an administrator did it, when, and what
// to do about it. It names no administrator: who they are is told to
// administrators only. zone is the person's; empty: UTC.
func (a *Accounts) changeLetter(u User, zone string, e AuditEvent) Letter {
	w := changeWordsOf(u)
	var changes, advice []string
	add := func(line, what string) {
		changes = append(changes, "- "+line)
		if what != "" && !slices.Contains(advice, what) {
			advice = append(advice, what)
		}
	}
	switch e.What {
	case UserSignedOut:
		add(w.signedOut, w.signInAgain)
	case FactorCleared:
		add(w.factorCleared, w.newFactor)
	}
	// Anything else an entry may hold some day is left to the page.
	for _, fact := range []struct {
		name string
		say  func(v any) string
	}{{"role", w.role}, {"plan", w.plan}, {"budget", w.budget}, {"limits", w.limits}} {
		if became, changed := e.Became[fact.name]; changed {
			add(w.became(fact.name, fact.say(e.Was[fact.name]), fact.say(became)), "")
		}
	}
	switch e.Became["active"] {
	case false:
		add(w.suspended, w.suspendedMeans)
	case true:
		add(w.reactivated, w.reactivatedMeans)
	}
	after := w.unexpected
	if e.Became["active"] != false {
		after += " " + w.newPassword
	}
	before := append([]string{w.intro(dateIn(e.At, zone, w.layout)), strings.Join(changes, "\n")}, advice...)
	return a.letter(u, words{w.subject, strings.Join(append(before, w.here), "\n\n"), after}, "/")
}

// dateIn is a moment in a time zone, which it names.
func dateIn(t time.Time, zone, layout string) string {
	place, err := time.LoadLocation(zone) // empty: UTC
	if err != nil {
		place = time.UTC
	}
	return t.In(place).Format(layout) + " (" + place.String() + ")"
}

// changeWords are the words of changeLetter in one language.
type changeWords struct {
	subject, layout              string
	signedOut, signInAgain       string
	factorCleared, newFactor     string
	suspended, suspendedMeans    string
	reactivated                  string
	reactivatedMeans             string
	here, unexpected             string
	newPassword                  string // not for whom is suspended: they are given none
	ofPlan, unbounded            string
	beginning, from              string            // before the date, and before what it was
	facts, roles, plans, numbers map[string]string // what stands in an entry of the log
	tokens, dollars              string
}

func changeWordsOf(u User) changeWords {
	if u.Locale == "de" {
		return germanChange
	}
	return englishChange
}

func (w changeWords) intro(date string) string { return w.beginning + date + ":" }

func (w changeWords) became(name, was, is string) string {
	return w.facts[name] + ": " + is + " (" + w.from + " " + was + ")"
}

func (w changeWords) role(v any) string { return named(w.roles, v) }
func (w changeWords) plan(v any) string { return named(w.plans, v) }

// named is the word for v, or v itself where there is none.
func named(by map[string]string, v any) string {
	s, _ := v.(string)
	return cmp.Or(by[s], s)
}

func (w changeWords) budget(v any) string {
	b, _ := v.(*Budget)
	if b == nil {
		return w.ofPlan
	}
	var parts []string
	if b.TokensPerDay > 0 {
		parts = append(parts, strconv.FormatInt(b.TokensPerDay, 10)+" "+w.tokens)
	}
	if b.USDPerMonth > 0 {
		parts = append(parts, strconv.FormatFloat(b.USDPerMonth, 'f', -1, 64)+" "+w.dollars)
	}
	return cmp.Or(strings.Join(parts, ", "), w.unbounded)
}

func (w changeWords) limits(v any) string {
	own, _ := v.(map[string]float64)
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(own)) {
		parts = append(parts, cmp.Or(w.numbers[key], key)+" "+strconv.FormatFloat(own[key], 'f', -1, 64))
	}
	return cmp.Or(strings.Join(parts, ", "), w.ofPlan)
}

// The words are those of the page where administrators do it
// (web/src/people/words.ts).

var englishChange = changeWords{
	subject:   "Your account was changed",
	layout:    "2006-01-02, 15:04",
	beginning: "An administrator changed your Liminal account on ",

	signedOut:        "You were signed out everywhere, in every browser and app.",
	signInAgain:      "You can sign in again; answers that were being written are kept.",
	factorCleared:    "The second factor was taken off your account.",
	newFactor:        "Your password alone is enough to sign in now. Set up an authenticator again in your settings.",
	suspended:        "Your account was suspended.",
	suspendedMeans:   "You cannot sign in or use what is signed in until an administrator reactivates it. Nothing of yours was deleted.",
	reactivated:      "Your account was reactivated.",
	reactivatedMeans: "You can sign in again, and find everything as it was.",

	here:        "You find your account here:",
	unexpected:  "If you did not expect this, ask whoever runs this server.",
	newPassword: "If you think that somebody else had a hand in it, set a new password: ask for one there as if you had forgotten yours. It ends all sessions.",

	from: "before:", ofPlan: "as the plan says", unbounded: "no bound",
	tokens: "tokens a day", dollars: "US dollars a month",
	facts: map[string]string{"role": "Role", "plan": "Plan", "budget": "Budget", "limits": "Limits of your own"},
	roles: map[string]string{"user": "User", "power": "Power user", "admin": "Administrator"},
	plans: map[string]string{"free": "Free", "paid": "Paid"},
	numbers: map[string]string{
		"chat_per_minute": "turns a minute", "streams": "streams at once", "sockets": "WebSockets at once",
		"file_mib": "MiB of one file", "storage_mib": "MiB of all files", "files": "number of files",
		"passages": "passages of documents", "documents_under_way": "documents under way", "documents_mib": "MiB of documents under way",
		"uploads_per_minute": "files sent a minute", "changes_per_hour": "changes proposed an hour", "checks_per_hour": "changes checked an hour",
	},
}

var germanChange = changeWords{
	subject:   "Ihr Konto wurde geändert",
	layout:    "02.01.2006, 15:04",
	beginning: "Die Verwaltung hat Ihr Liminal-Konto geändert, am ",

	signedOut:        "Sie wurden überall abgemeldet, in jedem Browser und jeder App.",
	signInAgain:      "Sie können sich neu anmelden; Antworten, die gerade geschrieben wurden, bleiben erhalten.",
	factorCleared:    "Der zweite Faktor Ihres Kontos wurde gelöscht.",
	newFactor:        "Zum Anmelden genügt jetzt das Passwort allein. Richten Sie in den Einstellungen wieder einen Authenticator ein.",
	suspended:        "Ihr Konto wurde gesperrt.",
	suspendedMeans:   "Sie können sich weder anmelden noch weiterarbeiten, bis die Verwaltung es freigibt. Gelöscht wurde nichts.",
	reactivated:      "Ihr Konto wurde freigegeben.",
	reactivatedMeans: "Sie können sich wieder anmelden und finden alles, wie es war.",

	here:        "Ihr Konto finden Sie hier:",
	unexpected:  "Kam das unerwartet, fragen Sie, wer diesen Server betreibt.",
	newPassword: "Vermuten Sie, dass jemand Fremdes im Spiel war, setzen Sie ein neues Passwort: Fordern Sie es dort an, als hätten Sie Ihres vergessen. Es beendet alle Sitzungen.",

	from: "vorher:", ofPlan: "wie im Tarif", unbounded: "ohne Grenze",
	tokens: "Token je Tag", dollars: "US-Dollar je Monat",
	facts: map[string]string{"role": "Rolle", "plan": "Tarif", "budget": "Budget", "limits": "Eigene Grenzen"},
	roles: map[string]string{"user": "Nutzer", "power": "Fortgeschritten", "admin": "Verwaltung"},
	plans: map[string]string{"free": "Frei", "paid": "Bezahlt"},
	numbers: map[string]string{
		"chat_per_minute": "Anfragen je Minute", "streams": "Streams zugleich", "sockets": "WebSockets zugleich",
		"file_mib": "MiB einer Datei", "storage_mib": "MiB aller Dateien", "files": "Anzahl der Dateien",
		"passages": "Abschnitte von Dokumenten", "documents_under_way": "Dokumente unterwegs", "documents_mib": "MiB der Dokumente unterwegs",
		"uploads_per_minute": "gesendete Dateien je Minute", "changes_per_hour": "vorgeschlagene Änderungen je Stunde", "checks_per_hour": "geprüfte Änderungen je Stunde",
	},
}
