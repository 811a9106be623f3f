package words_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/words"
)

func TestSplitKeepsIdentifiersAndNumbersWhole(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, w := range words.Split("The user's max_tokens (10,000) at 127.0.0.1:8080, via GetOrCreate or chat-stream; rag.search_v1.") {
		got[w.Text] = w.Parts
	}
	for _, want := range []string{"user", "max_tokens", "10000", "127.0.0.1:8080", "getorcreate", "chat-stream", "rag.search_v1"} {
		if _, ok := got[want]; !ok {
			t.Errorf("word %q is missing; have %v", want, got)
		}
	}
	if want := []string{"get", "or", "create"}; !slices.Equal(got["getorcreate"], want) {
		t.Errorf("pieces = %v, want %v", got["getorcreate"], want)
	}
}

func TestStemsAgreeAcrossForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l    words.Language
		a, b string
	}{
		{words.English, "resumes", "resumed"},
		{words.English, "retention", "retentions"},
		{words.German, "fristen", "frist"},
		{words.German, "verlängerung", "verlängerungen"},
	} {
		if words.Stem(c.l, c.a) != words.Stem(c.l, c.b) {
			t.Errorf("%s: %q and %q have different stems", c.l, c.a, c.b)
		}
	}
	if got := words.Stem(words.English, "v1s"); got != "v1s" {
		t.Errorf("an identifier was stemmed to %q", got)
	}
}

func TestDetectTellsGermanFromEnglish(t *testing.T) {
	t.Parallel()
	if got := words.Detect("Wie lange werden die Sitzungen aufbewahrt?"); got != words.German {
		t.Errorf("German read as %q", got)
	}
	if got := words.Detect("How long are the sessions kept?"); got != words.English {
		t.Errorf("English read as %q", got)
	}
}

func TestSentencesReadHardWrappedText(t *testing.T) {
	t.Parallel()
	text := "# A title\n\nThe first sentence is wrapped\nover two lines, e.g. like this. The second one\nends here!\n\n" +
		"- an item that\n  goes on\n- another item. With two sentences.\n\n1. First this.\n2. Then that.\n\n| a | b |\n\n```\ncode one.\ncode two.\n```\n" +
		"Am 3. März war es so weit. Danach nicht."
	want := []string{
		"# A title",
		"The first sentence is wrapped\nover two lines, e.g. like this.",
		"The second one\nends here!",
		"- an item that\n  goes on",
		"- another item.", "With two sentences.",
		"1. First this.", "2. Then that.",
		"| a | b |",
		"```", "code one.", "code two.", "```",
		"Am 3. März war es so weit.", "Danach nicht.",
	}
	var got []string
	for _, s := range words.Sentences(text) {
		got = append(got, text[s.Start:s.End])
	}
	if !slices.Equal(got, want) {
		t.Errorf("sentences:\n%s\nwant:\n%s", strings.Join(got, "\n~\n"), strings.Join(want, "\n~\n"))
	}
}

func TestTokensIsNearCommonTokenisers(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, again and again. ", 100)
	// Byte-pair tokenisers make 14 tokens of the sentence.
	if got := words.Tokens(text); got < 1300 || got > 1700 {
		t.Errorf("Tokens = %d, want about 1500", got)
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two\nthree.\n\n# Four\n- five")
	f.Add("```\nx\n")
	f.Add(strings.Repeat("ä", 4000))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		last := 0
		for _, s := range words.Sentences(text) {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("sentence %+v after %d of %d", s, last, len(text))
			}
			if !utf8.ValidString(text[s.Start:s.End]) {
				t.Fatalf("sentence %q cuts a character", text[s.Start:s.End])
			}
			last = s.End
		}
		for _, w := range words.Split(text) {
			if w.End <= w.Start || w.End > len(text) {
				t.Fatalf("word %+v", w)
			}
		}
		words.Tokens(text)
	})
}

// Requirements: RAG-13
func TestWordsAreKnownInTheOtherLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang  words.Language
		word  string
		wants string
	}{
		{words.German, "dateien", "file"}, {words.German, "beende", "quit"}, {words.German, "statuszeile", "line"},
		{words.German, "benutzerkennung", "user"}, {words.English, "compression", "kompression"}, {words.English, "founded", "gegründet"},
		{words.German, "geschmiert", "grease"}, {words.German, "abgeholt", "collect"},
		{words.German, "schmiert", "grease"}, {words.German, "krankheitstagen", "days"}, {words.English, "credits", "leistungspunkte"},
		{words.German, "ozelot", ""}, {words.English, "ocelot", ""},
	} {
		got := words.Translations(c.lang, c.word)
		if c.wants == "" && len(got) > 0 || c.wants != "" && !slices.Contains(got, c.wants) {
			t.Errorf("%s is %v, want %q", c.word, got, c.wants)
		}
	}
	if got := words.Synonyms(words.English, "deleting"); !slices.Contains(got, "remov") || slices.Contains(got, "delet") {
		t.Errorf("deleting is %v too", got)
	}
}

// Every line of the list is read: a word of it has a counterpart, and comments
// are none. Requirements: RAG-13
func TestTheListOfWordsIsWhole(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("bilingual.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(list), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		de, en, ok := strings.Cut(line, " = ")
		if !ok || strings.Contains(en, "=") || line != strings.ToLower(line) || strings.Contains(line, "  ") {
			t.Errorf("line %d is no \"words = words\" in lower case: %q", i+1, line)
			continue
		}
		for _, w := range strings.Fields(de) {
			if words.Translations(words.German, w) == nil {
				t.Errorf("line %d: %s has no translation", i+1, w)
			}
		}
		for _, w := range strings.Fields(en) {
			if words.Translations(words.English, w) == nil {
				t.Errorf("line %d: %s has no translation", i+1, w)
			}
		}
	}
}
