package extract_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/knowledge/extract"
)

// head begins an e-mail, whose next line is of its header.
const head = "From: a@example.org\r\nSubject: Fares\r\n"

// Requirements: RAG-02 (text)
func TestTheTextOfAnEmailIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":                        {head + "\r\nThe ferry costs\r\nfive euros.\r\n", "The ferry costs\nfive euros."},
		"after a mark and blank lines": {"\xef\xbb\xbf\r\n" + head + "\r\nWords.", "Words."},
		"Windows-1252":                 {head + "Content-Type: text/plain; charset=windows-1252\n\nF\xfcnf \x80.", "Fünf €."},
		"Japanese":                     {head + "Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B%U%'%j!<\x1b(B", "フェリー"},
		"unknown characters":           {head + "Content-Type: text/plain; charset=x-unknown\n\nWords.", "Words."},
		"a type that is broken":        {head + "Content-Type: text/plain;;=\n\nWords.", "Words."},
		"base64 with spaces":           {head + "Content-Transfer-Encoding: base64\n\nV29y ZHM\n u\n", "Words."},
		"base64 that is cut off":       {head + "Content-Transfer-Encoding: base64\n\nV29yZHMuV29y!", "Words.Wor"},
		"a boundary that never comes":  {head + "Content-Type: multipart/mixed; boundary=x\n\n--x\n\nWords.", "Words."},
		"no boundary at all":           {head + "Content-Type: multipart/mixed\n\nWords.", "Subject"},
		"only the HTML":                {head + "Content-Type: multipart/alternative; boundary=x\n\n--x\n\n \n--x\nContent-Type: text/html\n\n<p>Words &amp; signs.\n--x--", "Words & signs."},
		"spaces that go":               {head + "Content-Type: text/plain; format=flowed; delsp=yes\n\nEin Wort, aus \neinander.", "Ein Wort, auseinander."},
		"an attachment without a name": {head + "Content-Type: application/zip\n\nPK", "Attachments (not read): application/zip"},
	} {
		x := parse(t, "mail.eml", c.in)
		if !strings.Contains(x.Text, c.want) && c.want != "Subject" || x.Title != "Fares" {
			t.Errorf("%s: %q titled %q, want %q", name, x.Text, x.Title, c.want)
		}
	}
}

// Requirements: RAG-05
func TestHostileEmailsAreBounded(t *testing.T) {
	t.Parallel()
	nested := head
	for i := range 60 {
		nested += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	inside := head
	for range 60 {
		inside += "Content-Type: message/rfc822\n\n" + head
	}
	for name, in := range map[string]string{
		"parts in parts":       nested + "\nWords.",
		"many parts":           head + "Content-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--x\n\nw\n", 5_000) + "--x--",
		"many alternatives":    head + "Content-Type: multipart/alternative; boundary=x\n\n" + strings.Repeat("--x\n\nw\n", 5_000) + "--x--",
		"a header without end": head + strings.Repeat("X: "+strings.Repeat("y", 90)+"\n", 20_000),
	} {
		if got := refusal(t, parsers(), "mail.eml", "", []byte(in)); got == "" {
			t.Errorf("%s is read", name)
		}
	}
	x := parse(t, "mail.eml", inside+"\nWords.") // what lies too deep is passed over
	if len(x.Text) > 4_000 || !strings.Contains(x.Text, "Attachments (not read): message/rfc822") {
		t.Errorf("messages in messages: %q", x.Text)
	}
	many := parse(t, "mail.eml", "To: "+strings.Repeat("somebody@example.org, ", 10_000)+"a@example.org\n\nWords.")
	if len(many.Text) > 5_000 || !strings.Contains(many.Text, "Words.") {
		t.Errorf("%d bytes of %d addresses", len(many.Text), 10_001)
	}
}

func FuzzMail(f *testing.F) {
	for _, seed := range []string{
		head + "\nwords", head + "Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/html\n\n<table><tr><td>a<td>b\n--x--",
		head + "Content-Type: message/rfc822\n\n" + head + "\nwords", head + "Content-Transfer-Encoding: base64\n\nV29yZHMu",
		head + "Content-Type: text/plain; charset=utf-16; format=flowed\n\na \n> b \n> c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, mail string) {
		x, err := parsers().Parse(t.Context(), "mail.eml", "", bytes.NewReader([]byte(mail)), int64(len(mail)))
		if err != nil {
			if !errors.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
			return
		}
		if !utf8.ValidString(x.Text) || len(x.Text) > 60*len(mail)+1000 {
			t.Errorf("%d bytes became %d: %.200q", len(mail), len(x.Text), x.Text)
		}
		checkBlocks(t, x)
	})
}

// checkBlocks fails unless every block lies inside the text, behind the one before.
func checkBlocks(t *testing.T, x extract.Document) {
	t.Helper()
	last := 0
	for _, b := range x.Blocks {
		if b.Start < last || b.End <= b.Start || b.End > len(x.Text) {
			t.Errorf("block %+v after %d of %d", b, last, len(x.Text))
		}
		last = b.End
	}
}
