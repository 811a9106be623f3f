package lesson

import "liminal/internal/words"

// maxCompared bounds the work of one comparison, in words of each text.
const maxCompared = 1500

// rouge is ROUGE-L of two texts: the harmonic mean of how much of each the
// longest sequence of words is that both have in their order, 0 to 1.
func rouge(a, b string) float64 {
	x, y := sequence(a), sequence(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	row := make([]int, len(y)+1)
	for _, w := range x {
		diagonal := 0
		for j, o := range y {
			above := row[j+1]
			if w == o {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(y)]) / float64(len(x)+len(y))
}

func sequence(text string) []string {
	var out []string
	for _, w := range words.Split(text) {
		if out = append(out, w.Text); len(out) == maxCompared {
			break
		}
	}
	return out
}
