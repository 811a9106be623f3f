package learning

import (
	"strings"
	"testing"
)

// Requirements: PREF-02
func TestPlainWordsOfPraiseAndBlameAreHeard(t *testing.T) {
	t.Parallel()
	for signal, said := range map[string][]string{
		"like": {
			"i like this approach", "I like this approach.", "I really like your answer! Now do the same for chapter two.", "Great, I love it.", "That was very helpful, thanks!",
			"Thanks. I like how you explained it.", "Great answer!", "Well explained.", "Exactly what I wanted.", "Your last answer was perfect.", "I prefer this style. What about dogs?",
			"Das gefällt mir.", "das gefällt mir sehr gut", "Mir gefällt dieser Ansatz!", "Dieser Ansatz gefällt mir.", "Ich mag diesen Stil.", "Ich finde das hilfreich.",
			"Sehr gute Antwort! Und was ist mit Hunden?", "Gut erklärt, danke!", "Deine Antwort war wirklich hilfreich.", "Das hat mir gut gefallen.",
			"I like it 👍", "I like this approach\nCan you go on?", "Wow, I don't know what to say. I like this approach.",
		},
		"dislike": {
			"I don't like this approach.", "I do not really like it", "I hate this format", "That answer was wrong.", "This answer is too long.", "That was not helpful.", "I don’t like your tone.",
			"Das gefällt mir nicht.", "Mir gefällt das gar nicht", "Ich mag diesen Ansatz nicht.", "Deine Antwort ist zu lang.", "Das war leider nicht hilfreich.", "Ich finde das nicht gut.", "Schlechte Antwort.",
		},
		"never": {
			"please never do that again", "Never do this again!", "Don't answer like that again.", "Please don't do that again.", "Never again, please.",
			"Mach das nie wieder!", "Bitte nie wieder so.", "Bitte mach das nicht noch einmal.", "Ich mag das nicht. Bitte nie wieder.",
		},
		"always": {
			"Please always answer like this.", "From now on, write it like this.", "Keep doing that.", "Answer like this from now on.", "I like this approach. Always do it like this, please.",
			"Bitte immer so.", "Bitte ab jetzt immer so antworten.", "Weiter so!", "Mach das künftig so.",
		},
	} {
		for _, text := range said {
			if got, ok := Hear(text); !ok || got.Signal != signal {
				t.Errorf("%q is heard as %q, want %s", text, got.Signal, signal)
			}
		}
	}
	if got, _ := Hear("Thanks! I like this approach. What next?"); got.Words != "I like this approach." {
		t.Errorf("the words are %q", got.Words)
	}
}

// Requirements: PREF-02
func TestWhatIsNoFeedbackIsNotHeard(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "hello", "What do you like about this approach?", "Do you like this approach?", "Would I like this approach?", "I like this approach?",
		"I would like this approach explained.", "I'd like that.", "If I like this approach, what then?", "She said: I like this approach.", "My boss wrote that I like this approach.",
		`Translate "I like this approach" into German.`, "Translate into German:\nI like this approach.", `How do I say “I like this approach” in German?`, "Is \"das gefällt mir\" correct?",
		"> I like this approach\n\nWhat did he mean?", "```\nI like this approach\n```", "Write me a review: I like this approach.", "- I like this approach\n- I hate this approach",
		"I like turtles.", "I like the sea.", "I like it when it rains.", "I love my dog.", "People hate this approach.", "I like this approach but it is too long.", "I don't know whether I like this approach.",
		"I like this approach. I don't like this approach.", "This contract is wrong.", "Never mind.", "Never say never.", "Always look on the bright side.", "I always do that.", "He never does that again.",
		"I do not think I like it", "Was gefällt dir daran?", "Gefällt dir das?", "Mir gefällt Berlin.", "Ich mag Katzen.", "Das gefällt mir?", "Übersetze: Das gefällt mir.", "Wenn mir das gefällt, was dann?",
		"Er sagte, das gefällt mir.", "Er hat das nie wieder gemacht.", "So ist das immer.", "Das gefällt mir, aber es ist zu lang.", "Ist das gut?", "yes", "danke", "ok, thanks", "great", "perfect", "nice", "no",
		"The answer is 42.", "This is wrong on page 3 of the contract.", "Good idea to fly in May?", "„Das gefällt mir“ steht da.",
		"I like this approach. " + strings.Repeat("Here is more material to read. ", 50),
	} {
		if got, ok := Hear(text); ok {
			t.Errorf("%q is heard as %q of %q", text, got.Signal, got.Words)
		}
	}
}

func FuzzHear(f *testing.F) {
	for _, text := range []string{"I like this approach.", "„Das“ gefällt mir nicht.", "```\n`", "> a\n'b' \"", strings.Repeat("never ", 100)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := Hear(text)
		if _, known := signals[got.Signal]; known != ok || ok && (got.Words == "" || len(text) > maxHeard) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	})
}

func BenchmarkHear(b *testing.B) {
	text := strings.Repeat("What does the lease say about the deposit, and who keeps it? ", 8)
	for b.Loop() {
		Hear(text)
	}
}
