package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
)

// Surfaced is a workflow with a page of its own, as far as turns are held to it:
// what they may use, and what they leave behind.
type Surfaced struct {
	Path             string
	WorkflowID, Name string // of the artifact
	Closed           bool   // it is switched off: it takes no turns
	Hourly, Global   int    // turns in an hour of the clock, of one person and of everybody; 0: without limit
	Hint             int    // turns from which the person is told
	Audit            string // AuditRedacted, AuditFull, or empty: its turns leave no row
	Model            string // the one that will answer, as far as it is known before
	Bounds           model.TurnBounds
}

// What the audit of a turn holds (GRND-30).
const (
	AuditRedacted = "redacted" // hashes and figures, no words
	AuditFull     = "full"
)

// Visit is where a turn comes from, as a client says it; only an audit reads it.
type Visit struct {
	Session string // of the browser; empty: the conversation is named
	Page    string // where the person was when they asked
}

// TurnSurface is what a turn's run keeps of its surface.
type TurnSurface struct {
	Path   string           `json:"path"`
	Audit  string           `json:"audit,omitempty"`
	Model  string           `json:"model,omitempty"`  // of a run by itself, as Surfaced has it
	Lifted bool             `json:"lifted,omitempty"` // the same, as Counted has it
	Bounds model.TurnBounds `json:"bounds"`
}

// Counted is how many turns of an hour a person has had, with this one.
type Counted struct {
	Used, Hourly, Hint int
	Lifted             bool // an administrator, beyond their cap (SAFE-07)
}

// Near reports whether the person is to be told how many are left.
func (c *Counted) Near() bool { return c != nil && c.Hint > 0 && c.Used >= c.Hint }

// HourOf is the hour of the clock that a turn is counted in.
func HourOf(at time.Time) time.Time { return at.UTC().Truncate(time.Hour) }

// The reasons of ErrHour.
const (
	ReasonHourly = "hourly_cap"
	ReasonGlobal = "global_hourly_cap"
)

// ErrHour is RateLimited: a person, or everybody together, had as many turns in
// this hour as a surface gives.
func ErrHour(s Surfaced, reason string, now time.Time) error {
	left := HourOf(now).Add(time.Hour).Sub(now)
	seconds := int((left + time.Second - 1) / time.Second)
	said, limit := "You have had your %d messages of this hour here. Go on in %d minutes.", s.Hourly
	if reason == ReasonGlobal {
		said, limit = "All %d messages of this hour have been used here by everybody together. Go on in %d minutes.", s.Global
	}
	return fault.New(fault.RateLimited, said, limit, (seconds+59)/60).
		With(map[string]any{"reason": reason, "limit": limit, "retry_after": seconds, "surface": s.Path})
}

// IsErrHour reports whether an error is the ErrHour of a surface.
func IsErrHour(err error, of Surfaced) bool {
	known, is := errors.AsType[*fault.Error](err)
	if !is {
		return false
	}
	details, _ := known.Details.(map[string]any)
	return (details["reason"] == ReasonHourly || details["reason"] == ReasonGlobal) && details["surface"] == of.Path
}

// Kept is what the run of a turn keeps of its surface; nil: it is of none.
func (s *Surfaced) Kept() *TurnSurface {
	if s == nil {
		return nil
	}
	return &TurnSurface{Path: s.Path, Audit: s.Audit, Bounds: s.Bounds}
}

// TurnAudit is what a turn of a surface leaves behind (GRND-28).
type TurnAudit struct {
	TurnID, UserID, Surface, Session string
	StartedAt, FinishedAt            time.Time // FinishedAt is zero while it is under way
	Lifted                           bool
	KeyID                            string
	TurnEnd
	Abandoned *bool
	Page      string
	Message   string // in the full mode, as Response
}

// TurnEnd is what is known of a turn when it has ended.
type TurnEnd struct {
	Model        string
	Input        *int
	Output       *int
	Calls        []AuditCall
	PromptHash   string
	ResponseHash string
	Chips        int
	Error        string // one of the codes of GRND-29; empty: none
	CostUSD      *float64
	Tag          string
	Took         time.Duration
	Response     string // in the full mode, as what follows
	Words        *int   // tokens of Response: as the provider counted, else by its words (GRND-48); read only
	Rows         []int  // seen by the calls of Calls, in their order
}

// AuditCall is a call of a tool in an audit. What it was given is a hash.
type AuditCall struct {
	Name      string `json:"name"`
	ArgsHash  string `json:"args_hash"`
	Status    string `json:"status"`
	LatencyMS int64  `json:"latency_ms"`
	Mutating  bool   `json:"mutating,omitempty" doc:"the tool changes something"`
	Approved  bool   `json:"approved,omitempty" doc:"the person approved this very call"`
}

// The codes of TurnEnd.Error (GRND-29).
const (
	EndAborted  = "user_aborted"
	EndLimited  = "rate_limited"
	EndTokens   = "token_cap"
	EndLoop     = "tool_loop_cap"
	EndUpstream = "upstream_error"
)

// AuditFilter narrows what is listed of audits; zero values do not narrow.
type AuditFilter struct {
	Surface string
	Mine    bool // an administrator's own only
	Cursor  string
	Limit   int // 1 to 100, 20 by default
}

// EndOf is the code of a turn that failed, by the code of its failure.
func EndOf(failure string) string {
	switch failure {
	case string(fault.RateLimited), fault.Budget:
		return EndLimited
	case graph.CodeTokenCap:
		return EndTokens
	}
	return EndUpstream
}

// ArgsHash tells two calls of a tool apart without what they were given: the
// sha256 of the arguments as JSON.
func ArgsHash(args map[string]any) string {
	raw, _ := json.Marshal(args) // keys are sorted; it came of JSON
	if args == nil {
		raw = []byte("{}")
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
