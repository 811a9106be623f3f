//go:build !race

package api

// logsLess is how many of the made-up logs stand for one that is played.
const logsLess = 1
