package telemetry

import "sync"

// bounded keeps the values of a label few.
type bounded struct {
	most int

	mu   sync.Mutex
	seen map[string]bool
}

// of is value, or "other" once there are enough different ones.
func (b *bounded) of(value string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[value] {
		return value
	}
	if len(b.seen) >= b.most {
		return "other"
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[value] = true
	return value
}
