package config

import (
	"maps"
	"slices"
	"strings"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func pairs(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// suggestion names the setting that is at most two typing errors away.
func suggestion(name string, variables []Variable) string {
	best, distance := "", 3
	for _, v := range variables {
		if d := edits(name, v.Name); d < distance {
			best, distance = v.Name, d
		}
	}
	if best == "" {
		return "; liminald help environment lists them"
	}
	return "; did you mean " + best + "?"
}

// edits is the Levenshtein distance of two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
