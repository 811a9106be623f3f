package hub

import "context"

// Last is the Seq of a run's newest event; 0 for a run the hub does not know.
func (h *Hub) Last(_ context.Context, run string) int64 {
	h.mu.Lock()
	l, ok := h.runs[run]
	h.mu.Unlock()
	if !ok {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == l.base {
		return 0
	}
	return l.last
}
