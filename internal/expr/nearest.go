package expr

import "strings"

// Nearest gives a hint for a name that does not exist: the closest of the
// existing ones if one is close, else up to eight of them, else nothing.
func Nearest(name string, existing []string) string {
	best, bound := "", (len(name)+1)/3 // edits that are a slip, not another name
	for _, e := range existing {
		if d := distance(name, e, bound); d <= bound && (best == "" || d < distance(name, best, bound)) {
			best = e
		}
	}
	switch {
	case best != "":
		return "did you mean " + best + "?"
	case len(existing) == 0:
		return ""
	case len(existing) > 8:
		return "known are " + strings.Join(existing[:8], ", ") + " and others"
	}
	return "known: " + strings.Join(existing, ", ")
}

// distance is the edit distance of a and b, or more than bound if it is. Names
// longer than 64 bytes are never near.
func distance(a, b string, bound int) int {
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) > bound || len(b)-len(a) > bound {
		return bound + 1
	}
	var rows [2][65]int
	prev, cur := &rows[0], &rows[1]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		for j := range len(b) {
			change := prev[j]
			if a[i] != b[j] {
				change++
			}
			cur[j+1] = min(change, prev[j+1]+1, cur[j]+1)
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}
