//go:build race

package api

// logsLess is how many of the made-up logs stand for one that is played: the
// race detector makes each ten times as dear, and one reader at a time has none.
const logsLess = 20
