package palace

import (
	"sync"
	"time"
)

// latency keeps how long the last classifications took.
type latency struct {
	mu   sync.Mutex
	n    int64
	last time.Duration
	most time.Duration
}

func (l *latency) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n, l.last, l.most = l.n+1, d, max(l.most, d)
}

// LatencyFigures are those of the classifier, in microseconds.
type LatencyFigures struct {
	Name  string `json:"classifier"`
	Calls int64  `json:"calls"`
	Last  int64  `json:"last_us"`
	Most  int64  `json:"most_us"`
}

func (l *latency) figures() LatencyFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LatencyFigures{Name: RulesName, Calls: l.n, Last: l.last.Microseconds(), Most: l.most.Microseconds()}
}

// RulesName is the classifier that needs no model.
const RulesName = "rules-1"

// Decision is what of a window of blocks an agent should see.
type Decision struct {
	Add    []int `json:"add"`
	Remove []int `json:"remove"`
}

// classify decides by rules. It is conservative: of a block that no rule speaks of,
// it says that it stays (003).
//
// One rule there is: of results of a tool that say the same, the newest stays.
func classify(window []Block) (d Decision) {
	d = Decision{Add: []int{}, Remove: []int{}}
	last := map[string]int{}
	for i, b := range window {
		if b.Sum != "" {
			last[b.Tool+"\x00"+b.Sum] = i
		}
	}
	for i, b := range window {
		if b.DisplayID == nil {
			continue
		}
		if b.Sum != "" && last[b.Tool+"\x00"+b.Sum] != i {
			d.Remove = append(d.Remove, *b.DisplayID)
			continue
		}
		d.Add = append(d.Add, *b.DisplayID)
	}
	return d
}
