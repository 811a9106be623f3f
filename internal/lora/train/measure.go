package train

import (
	"slices"

	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
)

// Measure asks a model for what a job held out, with the adapters that serve now
// and with those that would (Job.Served): what gate.Judge decides by, but for the
// probes of safety, which Probe asks. elsewhere is what should stay as it is, such
// as Plain and what other situations held out.
func Measure(m *llm.Model, sets batches.Sets, now, fresh []llm.Gated, elsewhere []batches.Batch) gate.Figures {
	var f gate.Figures
	f.Held = append(answers(m, sets[batches.Held], true, now, fresh), answers(m, sets[batches.HeldUnpaired], false, now, fresh)...)
	f.Elsewhere = answers(m, elsewhere, true, now, fresh)
	before, after := Score(m, sets[batches.HeldPairs], now...), Score(m, sets[batches.HeldPairs], fresh...)
	for i := 0; i < len(before); i += 2 {
		f.Pairs = append(f.Pairs, gate.Pair{
			EventID: before[i].Source, BetterNow: before[i].mean(), WorseNow: before[i+1].mean(), BetterNew: after[i].mean(), WorseNew: after[i+1].mean(),
		})
	}
	return f
}

// mean is the log-probability of a token.
func (r Row) mean() float64 { return r.LogProb / float64(max(1, r.Tokens)) }

func answers(m *llm.Model, list []batches.Batch, liked bool, now, fresh []llm.Gated) []gate.Answer {
	base := Score(m, list)
	before := base
	if len(now) > 0 {
		before = Score(m, list, now...)
	}
	after := Score(m, list, fresh...)
	out := make([]gate.Answer, len(base))
	for i, r := range base {
		out[i] = gate.Answer{
			EventID: r.Source, Liked: liked, Tokens: r.Tokens, Base: r.LogProb, Now: before[i].LogProb, New: after[i].LogProb,
			RightNow: before[i].Right, RightNew: after[i].Right,
		}
	}
	return out
}

// plain are texts of no situation: an adapter that makes them less likely harms
// what the base knows.
var plain = []string{
	"The train leaves the station at seven in the morning and arrives in the city two hours later.",
	"Water boils at one hundred degrees when the air presses on it as it does at the sea.",
	"She closed the window, put the letter into the drawer, and went down into the garden.",
	"A triangle has three sides, and the sum of its angles is always the same.",
	"The committee met on Tuesday and decided to repair the roof before the winter.",
	"Birds fly south in autumn because there is little for them to eat in the cold months.",
	"To open the file, choose its name from the list and press the key that is marked with an arrow.",
	"The price of bread has risen by a tenth since the harvest failed in the east.",
	"Old maps show a river here that nobody has seen for two hundred years.",
	"If the light stays red, switch the machine off, wait for a minute, and switch it on again.",
	"Der Zug fährt um sieben Uhr morgens ab und kommt zwei Stunden später in der Stadt an.",
	"Sie schloss das Fenster, legte den Brief in die Schublade und ging in den Garten hinunter.",
	"Ein Dreieck hat drei Seiten, und die Summe seiner Winkel ist immer dieselbe.",
	"Im Herbst fliegen die Vögel nach Süden, weil sie in den kalten Monaten wenig zu fressen finden.",
	"Der Ausschuss trat am Dienstag zusammen und beschloss, das Dach vor dem Winter auszubessern.",
	"Wenn die Lampe rot bleibt, schalten Sie das Gerät aus, warten Sie eine Minute und schalten Sie es wieder ein.",
}

// Plain are texts of no situation, in English and German, in the tokens of w.
func Plain(w batches.Writer, most int) []batches.Batch {
	list := make([]batches.Text, len(plain))
	for i, text := range plain {
		ids := w.Target(text)
		list[i] = batches.Text{Target: slices.Clone(ids[:min(len(ids), most)]), Weight: 1}
	}
	return batches.Cut(list, 8, 2*most)
}
