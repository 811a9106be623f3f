package embed

import (
	"context"
	"fmt"
	"slices"
)

// Scale says what the cosines of one encoder are worth. Cosines of different
// encoders are not comparable: what is a close relation for one is less than
// what another gives two texts that have nothing to do with each other.
type Scale struct {
	// Power is how well the encoder tells texts that mean the same in other
	// words from texts that do not: 0 not at all, 1 always.
	Power float64
	// Low is the cosine of an unrelated pair, in the middle of many; High one that
	// one of ten related pairs does, and at least half of the way from Low to 1:
	// of an encoder that hardly tells them apart, little must not mean much.
	Low, High float64
}

// Similarity is a cosine of the encoder on a scale that all encoders share: 0
// is unrelated, 1 as close as question and answer get (RAG-16).
func (s Scale) Similarity(cosine float64) float64 {
	if s.High <= s.Low {
		return 0
	}
	return max(0, min(1, (cosine-s.Low)/(s.High-s.Low)))
}

// Local is implemented by encoders that take microseconds a sentence and ask
// nobody: hundreds of sentences may be embedded while a person waits.
type Local interface{ Local() bool }

// IsLocal reports whether e is such an encoder.
func IsLocal(e Embedder) bool {
	l, ok := e.(Local)
	return ok && l.Local()
}

// Gauge measures an encoder with a few dozen questions and their answers,
// none of which share a word.
func Gauge(ctx context.Context, e Embedder) (Scale, error) {
	pairs := gaugePairs()
	texts := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		texts = append(texts, p[0], p[1])
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return Scale{}, err
	}
	if len(vectors) != len(texts) {
		return Scale{}, fmt.Errorf("the encoder %s gave %d vectors for %d texts", e.Version(), len(vectors), len(texts))
	}
	var related, unrelated []float64
	for i := range pairs {
		for j := range pairs {
			c := Cosine(vectors[2*i], vectors[2*j+1])
			if i == j {
				related = append(related, c)
			} else {
				unrelated = append(unrelated, c)
			}
		}
	}
	slices.Sort(related)
	slices.Sort(unrelated)
	low := share(unrelated, 0.5)
	return Scale{Power: power(related, unrelated), Low: low, High: max(share(related, 0.9), low+(1-low)/2)}, nil
}

// share is the value below which a part of a sorted list lies.
func share(sorted []float64, part float64) float64 {
	return sorted[int(part*float64(len(sorted)-1))]
}

// power is how much more often a related pair lies above an unrelated one than
// below it; 0 where it does not.
func power(related, unrelated []float64) float64 {
	above := 0
	for _, r := range related {
		below, _ := slices.BinarySearch(unrelated, r)
		above += below
	}
	return max(0, 2*float64(above)/float64(len(related)*len(unrelated))-1)
}

// gaugePairs are questions and answers in other words.
func gaugePairs() [][2]string {
	return [][2]string{
		{"How long must I wait before I can leave my job?", "The notice period for resigning is three months to the end of a quarter."},
		{"What do I pay if I am late?", "Overdue invoices are charged interest of five percent a year."},
		{"Can I bring my dog?", "Pets are not admitted to the premises."},
		{"Who cleans the stairs?", "Tenants take turns sweeping the hallway and the steps."},
		{"Is the flat warm in winter?", "Heating keeps every room at twenty degrees from October to April."},
		{"How do I change my password?", "Credentials can be renewed in the account settings under security."},
		{"What happens to my data when I quit?", "Personal information is deleted thirty days after the membership ends."},
		{"May I make copies of this book?", "Reproduction of the work requires written permission from the publisher."},
		{"Is the machine safe for children?", "Keep the appliance away from minors; it must be operated by adults only."},
		{"Why does the engine make noise?", "A worn bearing in the motor may cause rattling sounds."},
		{"How often should I water it?", "The plant needs moisture twice a week during summer."},
		{"When does the shop open?", "Business hours are nine to six on weekdays."},
		{"What if I am sick?", "Employees who fall ill hand in a medical certificate on the third day."},
		{"How much holiday do I get?", "Annual leave amounts to thirty days of vacation."},
		{"Where can I eat?", "The canteen on the ground floor serves lunch and dinner."},
		{"Do you ship overseas?", "We deliver parcels to foreign countries for an additional fee."},
		{"How do I get my money back?", "Refunds are transferred to the original bank card within ten days."},
		{"Who fixes broken windows?", "The landlord repairs damage to the glass at his own expense."},
		{"What is the fastest way to the airport?", "A train leaves for the terminal every fifteen minutes; a taxi takes longer."},
		{"How do I stop a running program?", "Terminate the process by sending it a signal, or press control and C."},
		{"Where are files kept?", "Documents are stored on disk below the home directory of the user."},
		{"Does it work without internet?", "The application is fully usable offline, with no network connection."},
		{"How many people can join a call?", "Up to fifty participants may take part in one video conference."},
		{"Is smoking allowed?", "Cigarettes and pipes are forbidden everywhere in the building."},
		{"What causes fever?", "A raised body temperature is usually the reaction to an infection."},
		{"How old do I have to be to vote?", "The minimum age for taking part in an election is eighteen years."},
		{"Who may sign contracts?", "Agreements are binding only with the signature of a managing director."},
		{"Can I work from home?", "Remote days are agreed upon with one's supervisor; two a week are usual."},
		{"How do I make bread rise?", "Yeast lets the dough swell; leave it in a mild place for an hour."},
		{"What if two clients want the same thing at once?", "Concurrent requests for a single resource are queued and served in order."},
	}
}
