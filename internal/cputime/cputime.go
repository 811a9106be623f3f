// Package cputime reads how much processor time this process has used. It is
// what stays comparable on a busy machine, where durations do not.
//
// It imports nothing of ours.
package cputime
