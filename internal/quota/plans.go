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

// Plan is everything a plan bounds (OPS-12). How much is data: plans.json ships
// with the program, and PlanTable knows what administrators have changed.
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
	JobTokens int           // of one background job: those of a day
	Web       time.Duration // a browser's session without use (AUTH-18)
	Mobile    time.Duration // an app's
}

// What 001 §18 fixes for everybody.
const (
	maxRuns    = 3
	maxDecodes = 2
)

const day = 24 * time.Hour

// PlanOf is the plan of a name as the program ships it; whoever enforces a
// bound asks PlanTable.Of, which knows what administrators have changed. A name
// nobody knows has the bounds of Free: what is misspelt in a row gives nobody
// more.
func PlanOf(name string) Plan { return buildPlan(knownPlan(name), shippedValues(name)) }

// Plans lists all of them, as the program ships them.
func Plans() []Plan {
	plans := make([]Plan, len(shipped.Plans))
	for i, name := range shipped.Plans {
		plans[i] = PlanOf(name)
	}
	return plans
}

// setters say where each number of plans.json goes.
var setters = map[string]func(p *Plan, n float64){
	"chat_per_minute":     func(p *Plan, n float64) { p.Chat.Burst = int(n) },
	"tokens_per_day":      func(p *Plan, n float64) { p.Budget.TokensPerDay, p.JobTokens = int64(n), int(n) },
	"usd_per_month":       func(p *Plan, n float64) { p.Budget.USDPerMonth = n },
	"decode_minutes":      func(p *Plan, n float64) { p.MaxDecode = time.Duration(n) * time.Minute },
	"streams":             func(p *Plan, n float64) { p.Streams = int(n) },
	"sockets":             func(p *Plan, n float64) { p.Sockets = int(n) },
	"file_mib":            func(p *Plan, n float64) { p.MaxFileBytes = int64(n) * mib },
	"storage_mib":         func(p *Plan, n float64) { p.MaxStorageBytes = int64(n) * mib },
	"files":               func(p *Plan, n float64) { p.MaxFiles = int(n) },
	"passages":            func(p *Plan, n float64) { p.Chunks = int(n) },
	"documents_under_way": func(p *Plan, n float64) { p.Intake.Documents = int(n) },
	"documents_mib":       func(p *Plan, n float64) { p.Intake.Bytes = int64(n) * mib },
	"uploads_per_minute":  func(p *Plan, n float64) { p.Intake.PerMinute = int(n) },
	"changes_per_hour":    func(p *Plan, n float64) { p.ConfigOps.Burst = int(n) },
	"checks_per_hour":     func(p *Plan, n float64) { p.ConfigTry.Burst = int(n) },
	"web_days":            func(p *Plan, n float64) { p.Web = time.Duration(n) * day },
	"mobile_days":         func(p *Plan, n float64) { p.Mobile = time.Duration(n) * day },
}

// buildPlan is the plan of a name with its numbers, which are all there.
func buildPlan(name string, numbers Values) Plan {
	p := Plan{
		Name:      name,
		Chat:      Rule{Name: "chat", Per: time.Minute},
		ConfigOps: Rule{Name: "configops", Per: time.Hour},
		ConfigTry: Rule{Name: "configops.try", Per: time.Hour},
		Runs:      maxRuns, Decodes: maxDecodes,
	}
	p.set(numbers)
	return p
}

// set lays numbers over a plan.
func (p *Plan) set(numbers Values) {
	for key, n := range numbers {
		setters[key](p, n)
	}
}

// LargeBodies is the rule for requests with much JSON in them, by whoever sends
// them: to read and check it is most of what they cost.
func LargeBodies() Rule { return Rule{Name: "bodies.large", Burst: 20, Per: 10 * time.Second} }

// ModelProposals is the rule for changes that a model proposes, of all its runs
// together: tighter than anybody's (CFG-12).
func ModelProposals() Rule { return Rule{Name: "configops.model", Burst: 5, Per: time.Hour} }

// LearningRuns is the rule for runs that learn which a person starts
// themselves, by person.
func LearningRuns() Rule { return Rule{Name: "learning.run", Burst: 6, Per: time.Hour} }

// WebhookSends bounds how often one person makes webhooks and has them sent
// something by hand.
func WebhookSends() Rule { return Rule{Name: "webhooks.sends", Burst: 30, Per: 5 * time.Minute} }

// Speech is the rule for recordings made text and texts spoken, by person.
func Speech() Rule { return Rule{Name: "speech", Burst: 60, Per: time.Minute} }

// LearnedProposals is the rule for changes to a person's own adapters that are
// learnt from what they said, by person.
func LearnedProposals() Rule { return Rule{Name: "configops.learned", Burst: 30, Per: time.Hour} }
