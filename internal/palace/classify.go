package palace

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// mostTimes is how many of the last classifications the figures are of.
const mostTimes = 256

// latency keeps how long the last classifications took.
type latency struct {
	mu    sync.Mutex
	n     int64
	times []time.Duration // a ring
	last  time.Duration
	most  time.Duration
}

func (l *latency) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.times) < mostTimes {
		l.times = append(l.times, d)
	} else {
		l.times[l.n%mostTimes] = d
	}
	l.n, l.last, l.most = l.n+1, d, max(l.most, d)
}

// LatencyFigures are those of the classifier, in microseconds: of this process, and
// the quantiles of its last 256 classifications.
type LatencyFigures struct {
	Name  string `json:"classifier"`
	Calls int64  `json:"calls"`
	Last  int64  `json:"last_us"`
	P50   int64  `json:"p50_us"`
	P99   int64  `json:"p99_us"`
	Most  int64  `json:"most_us"`
	// Model is of the models beside the rules.
	Model ModelFigures `json:"model"`
}

func (l *latency) figures() LatencyFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := LatencyFigures{Name: view.RulesName, Calls: l.n, Last: l.last.Microseconds(), Most: l.most.Microseconds()}
	if n := len(l.times); n > 0 {
		sorted := slices.Sorted(slices.Values(l.times))
		f.P50, f.P99 = sorted[n/2].Microseconds(), sorted[n*99/100].Microseconds()
	}
	return f
}

// AgentContext is what an agent is at, as whoever asks the classifier says (PAL-12).
type AgentContext struct {
	AgentID  int      `json:"agent_id"` // its number; 0: none
	Task     string   `json:"task"`
	Channels []string `json:"channels"` // that are active
	Tool     string   `json:"tool"`     // that it uses now
	Window   int      `json:"window"`   // how many blocks at the end are asked about; 0: all that are named
}

// Decision is what of a window of blocks an agent should see.
type Decision struct {
	Add    []int `json:"add"`
	Remove []int `json:"remove"`
}

// Classify says what of some blocks an agent should go on to see, by the policy that
// its history follows. It is conservative: what no rule speaks of stays (003).
func (l *Library) Classify(ctx context.Context, v identity.Viewer, ids []int, at AgentContext) (d Decision, err error) {
	window, err := l.window(ctx, v, ids)
	if err != nil {
		return d, err
	}
	history, lineage := window, ""
	if at.AgentID != 0 {
		seen, err := l.Timeline(ctx, v, at.AgentID)
		if err != nil {
			return d, err
		}
		history, lineage = around(seen.Blocks, window), seen.Lineage.ID
	}
	policy, err := l.policyOf(ctx, v, lineage)
	if err != nil {
		return d, err
	}
	read := map[string]view.Block{}
	if err := l.readInto(ctx, v, history, read); err != nil {
		return d, err
	}
	blocks := make([]view.Block, len(history))
	for i, b := range history {
		blocks[i] = read[b.UUID]
	}
	began := time.Now()
	decisions, _ := policy.Decide(blocks, began, view.Focus{Task: at.Task, Channels: at.Channels, Tool: at.Tool})
	l.latency.add(time.Since(began))
	wished := map[int]view.Do{}
	for i, b := range blocks {
		wished[b.Display] = decisions[i].Do
	}
	d = Decision{Add: []int{}, Remove: []int{}}
	for i, n := range ids {
		if wished[n] == view.Aside && (at.Window <= 0 || i >= len(ids)-at.Window) {
			d.Remove = append(d.Remove, n)
			continue
		}
		d.Add = append(d.Add, n)
	}
	return d, nil
}

// around is a history with the blocks of a window that are not in it.
func around(history, window []Block) []Block {
	for _, w := range window {
		if !slices.ContainsFunc(history, func(b Block) bool { return b.UUID == w.UUID }) {
			history = append(history, w)
		}
	}
	return history
}

// mostAnnouncement bounds an announcement, in bytes.
const mostAnnouncement = 16 << 10

// Announcement is a block that all agents see, with its bytes, to be stored.
func Announcement(text string, at time.Time) (b Block, c Chunk, err error) {
	if text == "" || len(text) > mostAnnouncement || !utf8.ValidString(text) {
		return b, c, fault.New(fault.Invalid, "An announcement is a text of 1 to %d bytes.", mostAnnouncement).With(map[string]any{"field": "text"})
	}
	doc := map[string]any{"type": "text", "text": text}
	raw, err := json.Marshal(doc)
	if err != nil {
		return b, c, err
	}
	c = Chunk{Hash: hashOf(raw), Size: len(raw)}
	if c.Packed, err = packed(raw); err != nil {
		return b, c, err
	}
	b = Block{
		UUID: id.New(), Type: System, Role: "system", Scope: ScopeGlobal, Tier: Long, TierBy: view.ByPerson, Active: true, Size: len(raw), Label: shortened(text), Channels: []string{},
		Form: FormJSON, CreatedAt: at, Hash: hashOfBlock("system", doc), Chunk: c.Hash,
	}
	b.ExchangeID = b.UUID // it came in none
	return b, c, nil
}
