//go:build !race

package builtin_test

const slower = 1
