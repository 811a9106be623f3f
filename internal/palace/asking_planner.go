package palace

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// askAgain is how long to wait for the question before, of the same lineage.
const askAgain = time.Second

// asking is which windows models were asked about, or are to be.
type asking struct {
	mu    sync.Mutex
	asked map[string]int      // exchanges of the newest window, by the lineage
	later map[string]question // another window of the lineage is asked about
}

// question is a window that is to be asked about.
type question struct {
	exchanges int
	model     string
}

func newAsking() asking { return asking{asked: map[string]int{}, later: map[string]question{}} }

// ask has a model asked about what an exchange added to a lineage, where its policy says
// so. Of a lineage one window is asked about at a time, and then the newest (PAL-08).
// Nothing waits for the answer.
func (p *Planner) ask(ctx context.Context, v identity.Viewer, l Lineage, policy *view.Policy) {
	if p.Ask == nil || policy.Classifier.By != view.ByModel || policy.Mode == view.Off {
		return
	}
	p.asking.mu.Lock()
	fresh := p.asking.asked[l.ID] < l.Exchanges
	if fresh && len(p.asking.asked) >= mostWaiting {
		clear(p.asking.asked) // what was asked about already is not asked about again: its run is there
	}
	p.asking.mu.Unlock()
	if fresh {
		p.askNow(ctx, v, l.ID, question{l.Exchanges, policy.Classifier.Model})
	}
}

// askNow asks, or notes that it is to be asked later.
func (p *Planner) askNow(ctx context.Context, v identity.Viewer, lineage string, q question) {
	err := p.Ask(ctx, v, lineage, q.exchanges, q.model)
	p.asking.mu.Lock()
	defer p.asking.mu.Unlock()
	p.asking.asked[lineage] = q.exchanges
	delete(p.asking.later, lineage)
	if err == nil {
		return
	}
	if !errors.Is(err, fault.Conflict) {
		p.Log.WarnContext(ctx, "a model cannot be asked about a history for now; the rules decide alone meanwhile", "lineage", lineage, "error", err)
	}
	if len(p.asking.later) < mostWaiting && !errors.Is(err, fault.Invalid) {
		p.asking.later[lineage] = q
	}
}

// AskAgain asks about what had to wait, and reports whether anything still has to.
func (p *Planner) AskAgain(ctx context.Context, v identity.Viewer) bool {
	p.asking.mu.Lock()
	later := maps.Clone(p.asking.later)
	p.asking.mu.Unlock()
	for lineage, q := range later {
		last, _, err := p.Library.PalaceClassified(ctx, v, lineage, "", 1)
		if err == nil && len(last) > 0 && last[0].Exchanges >= q.exchanges { // by the question before
			p.asking.mu.Lock()
			delete(p.asking.later, lineage)
			p.asking.mu.Unlock()
			continue
		}
		p.askNow(ctx, v, lineage, q)
	}
	p.asking.mu.Lock()
	defer p.asking.mu.Unlock()
	return len(p.asking.later) > 0
}
