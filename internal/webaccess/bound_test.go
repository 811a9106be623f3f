package webaccess_test

import (
	"strings"
	"testing"

	"liminal/internal/webaccess"
)

// A few kilobytes of HTML made gigabytes of Markdown, or hours of work:
// padded and spanned tables, and a mark for each level before every line.
//
// Requirements: TOOL-06
func TestAPageDoesNotGrowOutOfProportion(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("x<br>", 1000)
	for name, page := range map[string]string{
		"a wide cell":      "<table><tr><th>a</th></tr><tr><td>" + strings.Repeat("w", 20_000) + "</td></tr>" + strings.Repeat("<tr><td>x", 1000) + "</table>",
		"a wide span":      "<table><tr><td colspan=100000>word</td></tr></table>",
		"a tall span":      "<table><tr><td rowspan=100000>word</td></tr></table>",
		"a long row":       "<table><tr>" + strings.Repeat("<td>a", 500) + strings.Repeat("<tr><td>b", 500) + "</table>",
		"quotations":       strings.Repeat("<blockquote>", 200) + lines,
		"lists":            strings.Repeat("<ul><li>", 200) + lines,
		"lists of numbers": strings.Repeat("<ol start=99999999999><li>", 200) + lines,
		"headings":         strings.Repeat("<h1><div>", 200) + lines,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := pageOf(t, page).Text
			if most := 20*len(page) + 1000; len(text) > most {
				t.Errorf("%d bytes became %d", len(page), len(text))
			}
			if !strings.ContainsAny(text, "wxb") {
				t.Errorf("the words are gone: %.80q", text)
			}
		})
	}
}

func TestAnOrdinaryTableAndListStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	text := pageOf(t, "<table><tr><th>City<th>People<tr><td colspan=2>Rome</table><ol start=7><li>seven<ul><li>below</ul></ol><blockquote>said</blockquote>").Text
	for _, want := range []string{"| City | People |", "| Rome |", "7. seven", "- below", "> said"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func pageOf(t *testing.T, body string) webaccess.Page {
	t.Helper()
	c, server := site(t, webaccess.Options{}, page("text/html", "<html><body>"+body))
	p, err := c.Fetch(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
