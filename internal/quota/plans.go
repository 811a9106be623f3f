package quota

import (
	"time"

	"liminal/internal/identity"
)

// The names of the plans, as app_user.plan_tier holds them.
const (
	Free = "free"
	Paid = "paid"
	// Unverified is what an account has until its address is confirmed; it is
	// no plan_tier but a rule laid over one (AUTH-11).
	Unverified = "unverified"
)

const mib = 1 << 20

// Plan is everything a plan bounds (OPS-12). This table is the one place that
// says how much; whoever enforces a bound reads it here.
type Plan struct {
	Name string

	MaxFileBytes    int64 // of one file (FILE-03)
	MaxStorageBytes int64 // of all of a person's files together
	MaxFiles        int   // how many of them there may be
	Chunks          int   // passages of a person's documents in the index: a file may be read into many contexts

	Intake Intake // documents brought in (FILE-08), where the installation says nothing else

	Chat      Rule // turns, tools and workflows begun (SAFE-04)
	ConfigOps Rule // changes proposed to the behaviour (SAFE-04)
	ConfigTry Rule // proposals looked at without being made: checked and rehearsed

	Budget identity.Budget // what model calls may use, unless the person has a budget of their own

	Runs    int // chat turns that run at once; paused ones do not count (ISO-08)
	Decodes int // model answers under way at once (ISO-08)
	Streams int // server-sent streams read at once
	Sockets int // WebSockets open at once

	// MaxDecode is how long the models of one run may write altogether. It is no
	// measure of an answer, which ends by its tokens or where nothing more comes,
	// but the end of one that trickles on for ever (STREAM-09).
	MaxDecode time.Duration
	JobTokens int           // of one background job, at most
	Web       time.Duration // a browser's session without use (AUTH-18)
	Mobile    time.Duration // an app's
}

// What 001 §18 fixes for everybody.
const (
	maxRuns    = 3
	maxDecodes = 2
)

const day = 24 * time.Hour

// PlanOf is the plan of a name. A name nobody knows has the bounds of Free:
// what is misspelt in a row gives nobody more.
func PlanOf(name string) Plan {
	switch name {
	case Paid:
		return paid()
	case Unverified:
		return unverified()
	default:
		return free()
	}
}

// Plans lists all of them.
func Plans() []Plan { return []Plan{unverified(), free(), paid()} }

func free() Plan {
	return Plan{
		Name: Free, MaxFileBytes: 25 * mib, MaxStorageBytes: 1 << 30, MaxFiles: 10_000, Chunks: 1_000_000,
		Intake:    Intake{Documents: 64, Bytes: 512 * mib, PerMinute: 600},
		Chat:      Rule{Name: "chat", Burst: 60, Per: time.Minute},
		ConfigOps: Rule{Name: "configops", Burst: 30, Per: time.Hour},
		ConfigTry: Rule{Name: "configops.try", Burst: 120, Per: time.Hour},
		Budget:    identity.Budget{TokensPerDay: 2_000_000},
		Runs:      maxRuns, Decodes: maxDecodes, Streams: 64, Sockets: 16,
		MaxDecode: 30 * time.Minute, JobTokens: 2_000_000, Web: 7 * day, Mobile: day,
	}
}

func paid() Plan {
	p := free()
	p.Name = Paid
	p.MaxFileBytes, p.MaxStorageBytes, p.MaxFiles, p.Chunks = 200*mib, 20<<30, 100_000, 20_000_000
	p.Intake = Intake{Documents: 256, Bytes: 4 << 30, PerMinute: 1200}
	p.Chat.Burst, p.ConfigOps.Burst, p.ConfigTry.Burst = 120, 120, 480
	p.Budget.TokensPerDay = 20_000_000
	p.MaxDecode, p.JobTokens, p.Web, p.Mobile = time.Hour, 20_000_000, 30*day, 7*day
	return p
}

func unverified() Plan {
	p := free()
	p.Name = Unverified
	p.MaxStorageBytes, p.MaxFiles, p.Chunks = 50*mib, 20, 50_000
	p.Intake = Intake{Documents: 4, Bytes: 50 * mib, PerMinute: 20}
	p.Chat.Burst, p.ConfigOps.Burst, p.ConfigTry.Burst = 5, 3, 12
	p.Budget.TokensPerDay = 200_000
	p.Streams, p.Sockets, p.JobTokens, p.Web = 8, 2, 200_000, day
	return p
}

// LargeBodies is the rule for requests with much JSON in them, by whoever sends
// them: to read and check it is most of what they cost.
func LargeBodies() Rule { return Rule{Name: "bodies.large", Burst: 20, Per: 10 * time.Second} }

// ModelProposals is the rule for changes that a model proposes, of all its runs
// together: tighter than anybody's (CFG-12).
func ModelProposals() Rule { return Rule{Name: "configops.model", Burst: 5, Per: time.Hour} }
