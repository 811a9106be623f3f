package quota

import (
	"cmp"
	"time"

	"liminal/internal/fault"
)

// Intake bounds what one person brings in: how much of it is under way, which
// is sent and not read yet, and how many files come (FILE-08). What is read at
// once, and whose turn it is, is not said here: the shares of the ingestion do.
type Intake struct {
	Documents int   // under way at once
	Bytes     int64 // of the documents under way together; one by itself may be larger
	PerMinute int   // files sent, whether they are read into something or not
}

// UnderWay is what of a person's documents is being read, or waits for it.
type UnderWay struct {
	Documents int
	Bytes     int64
}

const (
	// readASecond is how many documents are taken to be read a second when it is
	// said how long to wait for room: small ones, on a machine with nothing else
	// to do. Where it takes longer, who comes too soon is told to wait again.
	readASecond = 10
	// maxRoomWait is how many seconds somebody is told to wait for room, at most.
	maxRoomWait = 10
)

// Rule is the rule of files sent.
func (i Intake) Rule() Rule {
	return Rule{Name: "files.upload", Burst: i.PerMinute, Per: time.Minute}
}

// Room returns fault.RateLimited, with Exceeded as details, when a document of
// size bytes has to wait until some that are under way have been read (API-16).
func (i Intake) Room(u UnderWay, size int64) error {
	seconds := min(maxRoomWait, max(1, u.Documents/readASecond))
	exceeded := Exceeded{Rule: "files.under_way", RetryAfter: seconds}
	switch {
	case u.Documents >= i.Documents:
		return fault.New(fault.RateLimited, "%d of your documents are still being read, and there may be %d at once. Try again in %d seconds.",
			u.Documents, i.Documents, seconds).With(exceeded)
	case u.Bytes > 0 && u.Bytes+size > i.Bytes:
		return fault.New(fault.RateLimited, "Documents of yours of %d MB are still being read, and there may be %d MB at once. Try again in %d seconds.",
			(u.Bytes+mib-1)/mib, i.Bytes/mib, seconds).With(exceeded)
	}
	return nil
}

// IntakeOf is what the plan's people may bring in where an installation has
// chosen bounds of its own; what it has not chosen, zero, is the plan's. An
// account whose address is not confirmed gets no more by it.
func (p Plan) IntakeOf(chosen Intake) Intake {
	out := Intake{
		Documents: cmp.Or(chosen.Documents, p.Intake.Documents), Bytes: cmp.Or(chosen.Bytes, p.Intake.Bytes),
		PerMinute: cmp.Or(chosen.PerMinute, p.Intake.PerMinute),
	}
	if p.Name == Unverified {
		out.Documents, out.Bytes = min(out.Documents, p.Intake.Documents), min(out.Bytes, p.Intake.Bytes)
		out.PerMinute = min(out.PerMinute, p.Intake.PerMinute)
	}
	return out
}
