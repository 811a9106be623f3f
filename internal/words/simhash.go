package words

import "hash/fnv"

// Simhash is a text in 64 bits, of which texts with nearly the same words share
// most. That of a text without a telling word is 0.
func Simhash(text string) uint64 {
	var sums [64]int
	for _, s := range Stems(Detect(text), text) {
		h := fnv.New64a()
		h.Write([]byte(s))
		x := h.Sum64()
		x ^= x >> 33
		x *= 0xff51afd7ed558ccd
		x ^= x >> 33
		for b := range sums {
			if x>>b&1 == 1 {
				sums[b]++
			} else {
				sums[b]--
			}
		}
	}
	var out uint64
	for b, n := range sums {
		if n > 0 {
			out |= 1 << b
		}
	}
	return out
}
