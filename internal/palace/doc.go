// Package palace makes of exchanges, as a proxy kept them, what can be asked: which
// agent said them, in which history, of which blocks, and at how many tokens.
//
// An Agent is the main loop of a client or one of its subagents. A Lineage is one
// history of an agent that only grows; where a client begins another one (/clear,
// /compact, a rewind), another lineage begins, and points back. A Block is a part of
// a message. Its UUID is for ever, and its display id for as long as it is there.
//
// Intake takes exchanges from a spool into a Store, in order and once, whatever is
// killed meanwhile. A Planner follows the histories, and has a model asked about them
// where their policy says so; a Library asks and hears, and keeps the notes that a model
// proposes of what has ended. Package palace may import internal/capture, internal/filelock, the
// nouns below, internal/view, and klauspost/compress.
package palace

import (
	"context"
	"time"

	"liminal/internal/capture"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Kind is what a request is for. Only main and subagent belong to a history.
type Kind string

// The kinds of requests.
const (
	Main     Kind = "main"
	Subagent Kind = "subagent"
	Title    Kind = "title"   // a title for the conversation
	Search   Kind = "search"  // one search of the web
	Compact  Kind = "compact" // a summary, with which the next history begins
	Count    Kind = "count"   // tokens are only counted
	Other    Kind = "other"
)

// Why a lineage began.
const (
	First     = ""        // the agent began
	Clear     = "clear"   // /clear: nothing of the one before
	Compacted = "compact" // after a summary
	Rewind    = "rewind"  // with the beginning of the one before
	Apart     = "apart"   // beside others, of a client that names no session
)

// Agent is who has a history.
type Agent struct {
	ID        string    `json:"id"`
	Number    int       `json:"agent_id"` // small, for people; from 1
	Name      string    `json:"name"`     // of the token
	Project   string    `json:"project"`
	Kind      Kind      `json:"kind"` // main or subagent
	ParentID  string    `json:"parent_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	Spent
}

// Lineage is one history of an agent.
type Lineage struct {
	ID      string `json:"id"`
	AgentID string `json:"agent"`
	// Key is what the client calls its session or agent.
	Key        string `json:"key"`
	Run        string `json:"-"`
	Supersedes string `json:"supersedes,omitempty"` // the lineage before
	Why        string `json:"why,omitempty"`
	Fork       int    `json:"fork"`   // how many blocks it has in common with that one
	Length     int    `json:"blocks"` // with those of the last answer
	Sent       int    `json:"sent"`   // blocks of the last request
	Digest     string `json:"-"`      // of those
	// Input is how many tokens the last request had, Output how many its answer.
	Input      int64     `json:"input_tokens"`
	Output     int64     `json:"output_tokens"`
	Open       bool      `json:"-"` // the last answer asks for tools
	Summarised bool      `json:"-"` // a summary was asked for since
	Model      string    `json:"model"`
	Exchanges  int       `json:"exchanges"`
	CreatedAt  time.Time `json:"created_at"`
	SeenAt     time.Time `json:"seen_at"`
	Spent
}

// Usage is what an exchange took, in tokens, as the backend says.
type Usage struct {
	Input   int64 `json:"input_tokens"` // beside the cache
	Read    int64 `json:"cache_read_tokens"`
	Write5m int64 `json:"cache_write_5m_tokens"`
	Write1h int64 `json:"cache_write_1h_tokens"`
	Output  int64 `json:"output_tokens"`
}

// Total is everything the model read.
func (u Usage) Total() int64 { return u.Input + u.Read + u.Write5m + u.Write1h }

// Exchange is one request and its answer.
type Exchange struct {
	ID        string     `json:"id"`
	AgentID   string     `json:"agent,omitempty"`
	LineageID string     `json:"lineage,omitempty"` // of main and subagent
	Number    int        `json:"number"`            // in its lineage, from 1
	Kind      Kind       `json:"kind"`
	Name      string     `json:"name"` // of the token
	Project   string     `json:"project"`
	Run       string     `json:"-"`
	Method    string     `json:"method"`
	Path      string     `json:"path"`
	Query     string     `json:"query"`
	Model     string     `json:"model"`
	Status    int        `json:"status"` // 0: nothing came
	Stop      string     `json:"stop_reason"`
	RequestID string     `json:"request_id"` // the backend's
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at" nullable:"true"` // nil: its proxy was killed
	Complete  bool       `json:"complete"`
	CutBy     string     `json:"cut_by,omitempty"`
	Error     string     `json:"error,omitempty"`
	Masked    bool       `json:"masked"`
	// Asked and Answered say what is kept of the bodies.
	Asked    Kept  `json:"request"`
	Answered Kept  `json:"response"`
	Usage    Usage `json:"usage"`
	Charge

	// Sent is nil where the request reached the backend as it was.
	Sent *Sent `json:"sent,omitempty"`

	// Recipe makes the body of the request; Wire is the heads of both, and when
	// what came. Both are packed.
	Recipe []byte `json:"-"`
	Wire   []byte `json:"-"`
}

// Kept is what is kept of a body.
type Kept struct {
	Size int64  `json:"size"` // that passed; -1: nobody counted
	Hash string `json:"sha256,omitempty"`
	Lost string `json:"lost,omitempty"` // why bytes are missing
}

// LostErased says that bytes were kept, and were erased.
const LostErased = capture.LostErased

// Chunk is bytes that several exchanges or blocks may have in common.
type Chunk struct {
	Hash   string // SHA-256 of the bytes, in hexadecimal
	Size   int
	Packed []byte // nil: it was erased
}

// Type is what a block is.
type Type string

// The types of blocks.
const (
	System     Type = "System"
	Tools      Type = "Tools"
	User       Type = "User"
	Assistant  Type = "Assistant"
	Thinking   Type = "Thinking"
	ToolUse    Type = "ToolUse"
	ToolResult Type = "ToolResult"
	Media      Type = "Media"
	Unknown    Type = "Unknown"
)

// Tier is how long a block stays.
type Tier string

// The tiers.
const (
	Short  Tier = "SHORT"
	Medium Tier = "MEDIUM"
	Long   Tier = "LONG"
)

// TierOf is the tier of a type before its history's policy has been asked.
func TierOf(t Type) Tier {
	if t == ToolResult {
		return Short
	}
	return Medium
}

// Block is a part of a message, of the system prompt or the list of tools.
type Block struct {
	UUID       string     `json:"uuid"`
	DisplayID  *int       `json:"display_id" nullable:"true"` // nil: none was free
	Generation int        `json:"generation"`                 // how many blocks had the display id before
	Type       Type       `json:"block_type"`
	Role       string     `json:"role"`
	Tool       string     `json:"tool"`
	Scope      string     `json:"scope"` // global, project, agent or tool
	Project    string     `json:"project"`
	AgentID    string     `json:"agent,omitempty"` // whose lineage had it first; "": of all
	Channels   []string   `json:"channels"`
	Tier       Tier       `json:"retention_tier"`
	TierBy     string     `json:"tier_by"` // rule or person
	Starred    bool       `json:"starred"`
	Wish       view.Do    `json:"wish"` // of its person: ++ to be seen, -- to be set aside, or nothing
	Active     bool       `json:"active"`
	Tokens     int64      `json:"tokens"`
	Size       int        `json:"size"` // of its JSON or events, in bytes
	Label      string     `json:"label"`
	ExchangeID string     `json:"exchange"` // in which it was seen first
	Form       string     `json:"form"`     // json: of a request, sse: events of an answer
	CreatedAt  time.Time  `json:"created_at"`
	DeletedAt  *time.Time `json:"deleted_at" nullable:"true"`
	ArchivedAt *time.Time `json:"archived_at" nullable:"true"`
	// ErasedAt is when its content went, which ErasedBy had done: a person, or the
	// bound of PALACE_DISK.
	ErasedAt *time.Time `json:"erased_at" nullable:"true"`
	ErasedBy string     `json:"erased_by,omitempty"`

	Key   string `json:"-"` // what it is known again by
	Hash  string `json:"-"` // of its canonical JSON
	Sum   string `json:"-"` // of what a result says, whichever use it belongs to; "": it is none
	Chunk string `json:"-"` // its bytes are in that, from Start
	Start int    `json:"-"`
}

// Forms of a block's bytes.
const (
	FormJSON = "json"
	FormSSE  = "sse"
)

// Who erased a block.
const (
	ByPerson = "person"
	ByRoom   = "room" // others needed it
)

// Scopes.
const (
	ScopeGlobal  = "global"
	ScopeProject = "project"
	ScopeAgent   = "agent"
	ScopeTool    = "tool"
)

// Place is a block in a lineage.
type Place struct {
	UUID, Key, Hash, Tool, Label string
	Type                         Type
	Erased                       bool // by a person
}

// Store keeps what was taken in. Everything is one person's.
type Store interface {
	KeyKeeper
	// TakenFrom is the segment to begin with after a restart; "": the oldest.
	TakenFrom(ctx context.Context, v identity.Viewer) (segment string, err error)
	// TakeIn runs f in one transaction, which may be run again. Nobody else takes in
	// for the same person meanwhile.
	TakeIn(ctx context.Context, v identity.Viewer, f func(Tx) error) error
	// PalaceBytes is what the contents take in the store. MakePalaceRoom erases so many
	// of blocks that are put away, the longest first, as far as there are.
	PalaceBytes(ctx context.Context, v identity.Viewer) (int64, error)
	MakePalaceRoom(ctx context.Context, v identity.Viewer, bytes int64) (freed int64, err error)
	// SegmentsTaken are the segments that were taken in whole before a time, until
	// ForgetSegments is told that they are gone.
	SegmentsTaken(ctx context.Context, v identity.Viewer, before time.Time) ([]string, error)
	ForgetSegments(ctx context.Context, v identity.Viewer, names []string) error
}

// Tx is what taking in reads and writes. What is written may reach the database at the
// end only, and is what is read all the same.
type Tx interface {
	// Exchanges are those of some that are there.
	Exchanges(ids []string) (map[string]bool, error)
	PutExchange(e Exchange) error
	PutChunk(c Chunk) error
	// PutParts notes which blocks lie in a chunk.
	PutParts(chunk string, blocks []string) error
	// Erasures is how often something was erased, and Erased are the blocks that a
	// person erased.
	Erasures() (int64, error)
	Erased() ([]Place, error)
	// PutSent says what was sent of an exchange instead of what the client sent.
	PutSent(exchange string, s Sent) error
	// PutEpoch notes an epoch of a view as its proxy has it now.
	PutEpoch(e view.Epoch) error
	PutTakenFrom(segment string) error
	// PutSegments notes segments that are taken in whole now.
	PutSegments(names []string) error
	// Lineages are the newest ones with a key.
	Lineages(key string, most int) ([]Lineage, error)
	// LineageOfRun is the newest one of main requests of a run.
	LineageOfRun(run string) (l Lineage, found bool, err error)
	// PutLineage makes a lineage, or changes what grows in it.
	PutLineage(l Lineage) error
	// NewAgent makes an agent and returns its number.
	NewAgent(a Agent) (number int, err error)
	// SeeAgent says when an agent was seen last.
	SeeAgent(id string, at time.Time) error
	Timeline(lineage string) ([]Place, error)
	// SetTimeline puts blocks at a position and behind it, and nothing else there.
	SetTimeline(lineage string, from int, blocks []string) error
	// Blocks are those with one of the keys.
	Blocks(keys []string) ([]Place, error)
	// NewBlock makes a block, and gives it the lowest display id that is free.
	NewBlock(b Block) error
	// ForkTimeline begins the timeline of a lineage with the first n blocks of
	// another's. Those are in requests, so they stay as they are.
	ForkTimeline(lineage, of string, n int) error
	// Revive makes blocks active again that come up again.
	Revive(blocks []string) error
	// PutCosts adds exchanges to the ledger.
	PutCosts(list []Cost) error
	// CacheState is what was put of the provider's cache; nil: nothing yet.
	CacheState() ([]byte, error)
	PutCacheState(state []byte) error
	// LastPrompt is what was put of the last request of a lineage; nil: nothing yet.
	LastPrompt(lineage string) ([]byte, error)
	PutLastPrompt(lineage string, prompt []byte) error
}
