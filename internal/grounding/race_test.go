//go:build race

package grounding_test

// slower is by how much the race detector slows a program down, at most.
const slower = 20
