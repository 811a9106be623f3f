package inproc

import "context"

// Last is the Seq of a run's newest event; 0 for a run the memory does not know.
func (m *Memory) Last(_ context.Context, run string) int64 {
	m.mu.Lock()
	l, ok := m.runs[run]
	m.mu.Unlock()
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
