package extractive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fact in a table is shown under the names of its columns; what is cited are
// the bytes of its row.
//
// Requirements: RAG-11, RAG-13
func TestARowIsQuotedAsATable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for name, text := range map[string]string{
		"prices.md":   "# Price list\n\n| Model  | Price | In stock |\n|:-------|------:|---------:|\n| BW-210 | 49    | 3 |\n| BW-300 | 51    | 22 |\n\nPrices are net.\n",
		"desks.csv":   "Desk,Width,Ships from\nLaurel,120,Graz\nMaple,160,Linz\n",
		"lamps.html":  "<h1>Lamps</h1><table><tr><th>Lamp</th><th>Watts</th></tr><tr><td>Aurora</td><td>9</td></tr><tr><td>Borealis</td><td>14</td></tr></table>",
		"chairs.html": "<h1>Chairs</h1><table><tr><td>Windsor 7</td><td>80 kg</td></tr><tr><td>Thonet 14</td><td>95 kg</td></tr></table>",
	} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	d := newDesk(t, paths...)
	for _, c := range []struct{ question, shown, quote, columns string }{
		{"How many BW-300 are in stock?", "> | Model | Price | In stock |\n> |---|---|---|\n> | BW-300 | 51 | 22 [1] |\n", "| BW-300 | 51    | 22 |", "| Model  | Price | In stock |"},
		{"From where does the desk Maple ship?", "> | Desk | Width | Ships from |\n> |---|---|---|\n> | Maple | 160 | Linz [1] |\n", "| Maple | 160 | Linz |", "| Desk | Width | Ships from |"},
		{"How many watts has the lamp Borealis?", "> | Lamp | Watts |\n> |---|---|\n> | Borealis | 14 [1] |\n", "| Borealis | 14 |", "| Lamp | Watts |"},
		{"How many kg does the chair Thonet 14 carry?", "> |  |  |\n> |---|---|\n> | Thonet 14 | 95 kg [1] |\n", "| Thonet 14 | 95 kg |", ""},
	} {
		_, text, citations := d.ask(t, c.question)
		if len(citations) == 0 || !strings.HasPrefix(text, c.shown) {
			t.Errorf("%s: %s", c.question, text)
			continue
		}
		if got := citations[0]; got.Quote != c.quote || got.Source.Columns != c.columns {
			t.Errorf("%s: cited %q under %q", c.question, got.Quote, got.Source.Columns)
		}
	}
}
