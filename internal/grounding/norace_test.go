//go:build !race

package grounding_test

const slower = 1
