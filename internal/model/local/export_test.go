package local

// Held is what a text becomes that ends before the first of ends.
func Held(ends []string, pieces ...string) (text string, over bool) {
	h := holder{ends: ends}
	for _, p := range pieces {
		decided, end := h.add(p)
		if text += decided; end {
			return text, true
		}
	}
	return text + h.rest(), false
}
