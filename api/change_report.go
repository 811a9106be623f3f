package api

import (
	"time"

	"liminal/internal/rehearsal"
)

// RehearsalReport is what a rehearsal over recorded runs showed of one artifact's change
// (CFG-11). Its lists and tables are never null.
type RehearsalReport rehearsal.Report

// reportView is a report without nulls, whichever program wrote it.
func reportView(r rehearsal.Report) *RehearsalReport {
	r.Sample.Strata = orList(r.Sample.Strata)
	r.Coverage.UnseenNodes, r.Coverage.UnseenBranches = orList(r.Coverage.UnseenNodes), orList(r.Coverage.UnseenBranches)
	r.Places, r.Reasons = orList(r.Places), orList(r.Reasons)
	r.ByTool, r.Gates = orTable(r.ByTool), orTable(r.Gates)
	examples := make(map[string][]rehearsal.Example, len(r.Examples))
	for kind, list := range r.Examples {
		examples[kind] = each(list, func(e rehearsal.Example) rehearsal.Example {
			e.Old, e.New, e.At = orList(e.Old), orList(e.New), e.At.In(time.UTC)
			return e
		})
	}
	r.Examples = examples
	return (*RehearsalReport)(&r)
}

// orTable is a table that is never null.
func orTable[T any](m map[string]T) map[string]T {
	if m == nil {
		return map[string]T{}
	}
	return m
}
