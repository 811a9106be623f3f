package extractive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
)

// manual explains settings as manual pages do: what is said of one, its default
// too, stands below its name.
const manual = `FERRY(5)                       File Formats                       FERRY(5)

NAME
     ferry.conf - settings of the ferry client

DESCRIPTION
     BatchMode
             If set to yes, questions to the person are not asked.  The
             argument must be yes or no (the default).

     CheckHostIP
             If set to yes, the address of the host is checked too.  This
             happens regardless of the setting of StrictHostKeyChecking.  If
             the option is set to no (the default), nothing is checked.

     Compression
             Specifies whether to use compression.  The argument must be yes
             or no (the default).

     NumberOfPrompts
             Specifies the number of password prompts before giving up.  The
             argument must be an integer.  The default is 3.

     Port    Specifies the port number to connect on the remote host.
             The default is 2022.

     StrictHostKeyChecking
             If this flag is set to yes, the client will never add host keys
             to the list of known hosts, and refuses to connect to hosts
             whose host key has changed.  This provides maximum protection,
             though it can be annoying when the list is poorly maintained
             or when connections to new hosts are made often.

             If this flag is set to accept-new then new host keys are added
             without asking, but changed ones are refused.  If this flag is
             set to off, host keys are not verified at all.

             If this flag is set to ask (the default), new host keys will be
             added only after the person has confirmed.

     TunnelDevice
             Specifies the devices to open on the client and the server.

     UserKnownHosts
             Specifies the files of the host key database.

     VisualHostKey
             If set to yes, a picture of the fingerprint is printed.  The
             default is no.
`

// answerDesk is a desk with the documents people asked of that got wrong quotes.
func answerDesk(t testing.TB) *desk {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for name, text := range map[string]string{
		"ferry.conf.5.txt": manual,
		"prices.md":        "# Price list of spring\n\n| Model  | Price | In stock |\n|--------|------:|---------:|\n| BW-110 | 310   | 3 |\n| BW-210 | 449   | 22 |\n| BW-330 | 512   | 9 |\n\nPrices are in euros and net.\n",
		"recall.md":        "# Recall of the pump BW-210\n\nThe seal of the pump BW-210 wears out early. The recall of the BW-210 costs us 12,400 euros, of which the price of new seals is a third.\n\n## Customers\n\nCustomers send the pump in and get it back within ten days.\n",
		"accounts.txt":     "root:*:0:0:root:/root:/bin/bash\ndaemon:*:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbackup:*:34:34:backup:/var/backups:/usr/sbin/nologin\nwww-data:*:33:33:www-data:/var/www:/usr/sbin/nologin\nnobody:*:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"licence.txt":      "SHARING LICENCE\n\n4. Conveying Verbatim Copies.\n\n  You may convey verbatim copies of the source code as you receive it, in any medium, provided that you keep intact all notices.\n\n  You may charge any price or no price for each copy that you convey, and you may offer support or warranty protection for a fee.\n\n5. Conveying Modified Versions.\n\n  You may convey a work based on the program under the terms of section 4, provided that it carries prominent notices stating that you modified it.\n",
	} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	return newDesk(t, paths...)
}

// Each of these got a quote that looked right and was not.
//
// Requirements: RAG-11, RAG-13
func TestTheQuoteIsTheOneThatAnswers(t *testing.T) {
	t.Parallel()
	d := answerDesk(t)
	for _, c := range []struct{ question, quote string }{
		{"What is the price of the BW-210?", "| BW-210 | 449   | 22 |"},
		{"Was kostet die BW-210?", "| BW-210 | 449   | 22 |"},
		{"What is the default of StrictHostKeyChecking?", "set to ask (the default)"},
		{"StrictHostKeyChecking default", "set to ask (the default)"},
		{"How many password prompts are there by default?", "The default is 3."},
		{"Welchen Port benutzt ferry standardmäßig?", "The default is 2022."},
		{"Wie schalte ich die Komprimierung ein?", "Specifies whether to use compression."},
		{"May I charge money for copies?", "You may charge any price"},
	} {
		_, text, citations := d.ask(t, c.question)
		if len(citations) == 0 || !strings.Contains(citations[0].Quote, c.quote) {
			t.Errorf("%s: %s", c.question, text)
		}
	}
}

// A record of fields is one quote of its own, and what is missing in it is said.
//
// Requirements: RAG-16
func TestARecordIsQuotedAloneAndAsClosest(t *testing.T) {
	t.Parallel()
	d := answerDesk(t)
	for _, question := range []string{"What is the uid of www-data?", "www-data uid"} {
		_, text, citations := d.ask(t, question)
		if len(citations) == 0 || citations[0].Quote != "www-data:*:33:33:www-data:/var/www:/usr/sbin/nologin" {
			t.Errorf("%s: %s", question, text)
		}
		if extractive.FormOf(text) != extractive.Closest {
			t.Errorf("%s: %q is said to be an answer, though no word of it says what a uid is", question, text)
		}
	}
}

// What holds only some of what is asked is shown as what it is, with its
// citations, in the language of the person.
//
// Requirements: RAG-14, RAG-16
func TestWhatMayBeNoAnswerIsCalledClosest(t *testing.T) {
	t.Parallel()
	p := knowledge.Passage{
		Source: model.Source{DocumentID: "d", Title: "Pump BW-210", End: 120, Score: 0.6},
		Text:   "The pump BW-210 was built in Graz. It is green, and weighs little. Seals are replaced every year.",
	}
	for locale, want := range map[string]string{"en": "These passages come closest.", "de": "Diese Stellen kommen dem am nächsten."} {
		req := user("Who invented the pump BW-210?", model.Block{Type: model.Passage, Text: p.Text, Source: &p.Source})
		req.Task, req.Locale = extractive.TaskAnswer, locale
		events := modeltest.Play(t, extractive.Model{}, req)
		text, cited := modeltest.Text(events), 0
		for _, e := range events {
			if e.Type == model.Citation {
				cited++
			}
		}
		if !strings.HasPrefix(text, want) || cited == 0 || !strings.Contains(text, "[1]") || extractive.FormOf(text) != extractive.Closest {
			t.Errorf("%s: %d citations: %s", locale, cited, text)
		}
	}
	for text, want := range map[string]extractive.Form{
		"Nothing in your documents answers this.": extractive.Nothing, "> Nothing. [1]": extractive.Answer,
		"Es gibt keine Dokumente, aus denen sich antworten ließe. Lade welche hoch oder wähle einen Kontext, und frag noch einmal.": extractive.Nothing,
	} {
		if got := extractive.FormOf(text); got != want {
			t.Errorf("%q is %s", text, got)
		}
	}
}
