package extractive

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// Bounds of what is quoted of the web: pages, and bytes of each one read.
const (
	maxPages    = 3
	maxPageText = 20_000
)

type webPage struct{ Title, URL, Text string }

// pages are the results of a web search that came with the request; only
// those with an address a person can open.
func (t turn) pages() []webPage {
	var out []webPage
	for line := range strings.Lines(t.material["web_results"]) {
		var p webPage
		if json.Unmarshal([]byte(line), &p) != nil {
			continue
		}
		u, err := url.Parse(p.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			continue
		}
		p.URL = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(u.String())
		p.Text = strings.ToValidUTF8(p.Text[:min(len(p.Text), maxPageText)], "")
		if p.Title = knowledge.Fold(p.Title); p.Title == "" {
			p.Title = u.Host
		}
		out = append(out, p)
	}
	return out
}

// web quotes what pages say about the question, with links and without
// citations: nobody has checked them.
func (t turn) web(w *writer) error {
	pages := t.pages()
	if len(pages) == 0 {
		return nil
	}
	shown := 0
	for _, p := range pages {
		quotes := knowledge.Quotes(t.question, []passage{{Text: p.Text, Source: model.Source{DocumentID: p.URL, Title: p.Title}}}, 1)
		if len(quotes) == 0 || shown == t.manner.pages {
			continue
		}
		if shown++; shown == 1 {
			if err := w.say("\n\n**" + t.say.fromWeb + "**"); err != nil {
				return err
			}
		}
		if err := w.say(fmt.Sprintf("\n\n%s\n\n— [%s](%s)", t.block(t.cut(quotes[0]), ""), escapeMarkdown(p.Title), p.URL)); err != nil {
			return err
		}
	}
	return nil
}

// answerAndWeb answers from the passages, and then from the web.
func (t turn) answerAndWeb(w *writer) error {
	if err := t.answer(w, t.passages); err != nil {
		return err
	}
	return t.web(w)
}
