// Package view says what of a conversation its model need not see again, what that
// would save, and makes the request that says so.
//
// A View is the requests of a lineage with some results set aside. What is set aside
// is decided on every message and takes effect at an epoch only: inside one the
// beginning that is sent upstream only grows, as caches and bound thinking want it.
//
// A Window is what a model beside the rules is asked about, and an Answer what it says.
//
// The package is pure: no clock, no disk, no network. It may import internal/expr, the
// standard library, gjson and sjson, so that the proxy and the platform decide by the
// same code, and a rehearsal plays it over what was recorded.
package view

import "time"

// Mode is what a policy lets views do.
type Mode string

// The modes. In shadow, which is the default, bytes pass as they are, and plans are
// made and priced beside.
const (
	Off    Mode = "off"
	Shadow Mode = "shadow"
	Live   Mode = "view"
)

// Replacement is a result that is set aside, and what stands in its place.
type Replacement struct {
	// Result is the tool_use id that the result answers.
	Result string `json:"result"`
	// Sum is the SHA-256 of what the result said, in hexadecimal: another content
	// under the same id is left alone.
	Sum string `json:"sum"`
	// Block is the display id and the end of the UUID, as a person and a recall name
	// it: "42-7f3a".
	Block string `json:"block"`
	// Label names the result in a few words: "Read src/auth.go".
	Label string `json:"label"`
	Bytes int    `json:"bytes"`
	// Tokens is what the model read of it, by the rate of its lineage.
	Tokens int64 `json:"tokens"`
}

// Plan is what could be set aside in a lineage from its next epoch on. The platform
// writes it to views/, the proxy reads it there.
type Plan struct {
	// Client is the key that the client names the history by: its session or agent.
	Client  string `json:"client"`
	Lineage string `json:"lineage"`
	// Policy is the version of policy.palace that the lineage is pinned to.
	Policy string `json:"policy"`
	Mode   Mode   `json:"mode"`
	// Birth is what is decided of results before they are sent first.
	Birth Birth `json:"birth"`
	// Whole are the tools whose results no cap of Birth is for.
	Whole []string `json:"whole,omitempty"`
	// Replace is all that could be set aside, in the order of the history. While the
	// cache is warm, those from Warm on are worth most; while it is not, those from
	// Cold on. Either may be len(Replace): none is.
	Replace []Replacement `json:"replace"`
	Warm    int           `json:"warm"`
	Cold    int           `json:"cold"`
	// Estimate is what Replace[Warm:] costs and saves when it is opened warm.
	Estimate Estimate `json:"estimate"`
	// Pays tells that it is worth that.
	Pays bool `json:"pays"`
	// Full tells that the context is fuller than the policy lets it be.
	Full bool `json:"full,omitempty"`
	// Quote are results that are set aside, and that their person wants seen: by the
	// tool_use id.
	Quote []string `json:"quote,omitempty"`
	// Asked tells that a person said: at the next turn, whatever it costs.
	Asked bool `json:"asked,omitempty"`
	// Epochs is how many epochs of the client the platform knows of, so that a proxy
	// whose own are lost can tell.
	Epochs int       `json:"epochs,omitempty"`
	MadeAt time.Time `json:"made_at"`
}

// Estimate is a price in units of the price of one token of input.
type Estimate struct {
	// Behind is how many tokens stand behind the first change (A), Removed how many
	// of them go (R), Placed how many come instead (p), Thinking how many of
	// thinking are no longer valid (D).
	Behind   int64 `json:"behind"`
	Removed  int64 `json:"removed"`
	Placed   int64 `json:"placed"`
	Thinking int64 `json:"thinking"`
	// Extra is paid once, Gain is won with each request, Requests is how many of
	// them are expected.
	Extra    float64 `json:"extra"`
	Gain     float64 `json:"gain"`
	Requests float64 `json:"requests"`
}

// Why an epoch was opened.
const (
	Cold    = "cold"    // the beginning would have been written anew anyway
	Pays    = "pays"    // it is worth its price
	Full    = "context" // the context is fuller than the policy lets it be
	Ordered = "person"  // a person said so
	Named   = "birth"   // from here on it is decided of results before they are sent
)

// Epoch is what is in force in a lineage. The proxy writes it, before the first
// request that follows it.
type Epoch struct {
	Number    int           `json:"number"` // from 1, in its lineage
	Client    string        `json:"client"`
	Lineage   string        `json:"lineage"`
	Policy    string        `json:"policy"`
	Why       string        `json:"why"`
	Replace   []Replacement `json:"replace"` // with those of the epochs before
	Predicted Estimate      `json:"predicted"`
	OpenedAt  time.Time     `json:"opened_at"`
	// At is how many messages the request had that opened it.
	At int `json:"at,omitempty"`
	// Recall tells that its placeholders name RecallTool: the agent had it.
	Recall bool `json:"recall,omitempty"`
	// Born is the message from which on it is decided of results before they are sent
	// first: one that says what one before it says is only named, unless SaidAgain, and
	// one that is longer than Cap loses its middle. 0: nothing is decided.
	Born      int  `json:"born,omitempty"`
	SaidAgain bool `json:"said_again,omitempty"`
	Cap       *Cap `json:"cap,omitempty"`
	// Quotes are results that are set aside and said once more in later messages.
	Quotes []Quote `json:"quotes,omitempty"`
	// Kept is what the agent asked to keep of what is set aside.
	Kept []Kept `json:"kept,omitempty"`
	// Ended is why it holds no longer: one of the Ended constants, or what the backend
	// said when it refused it.
	Ended   string     `json:"ended,omitempty"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
}

// Why an epoch ended, where the backend did not refuse it.
const (
	EndedPolicy = "policy" // the policy lets views change nothing any more
	EndedCircle = "circle" // the agent asked for the same again and again
)

// Kept is a result that an agent asked for again, to keep it.
type Kept struct {
	Block  string    `json:"block"`
	Result string    `json:"result"`
	Why    string    `json:"why"`
	At     time.Time `json:"at"`
}
