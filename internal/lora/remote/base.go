package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
)

// base is the model that the server serves, as its folder here says. Its weights
// need not be here: config.json is enough, and then adapters are compared with
// each other only.
type base struct {
	dir      string
	now      func() time.Time
	patience time.Duration

	mu      sync.Mutex
	reading chan struct{} // nil: nobody reads
	read    bool
	shape   peft.Base
	err     error
	at      time.Time // when it was read
}

// again is when a folder that could not be read is read again.
const again = time.Minute

// errReading says that the folder is being read: that takes as long as its
// weights are large.
var errReading = errors.New("the model's folder is still being read, to tell which model it is; the next answers can use the weights")

// patience is how long an answer waits for that, where nothing else is said.
const patience = 2 * time.Second

// get is the base, when it is known in time. Reading goes on when nobody waits any
// more.
func (b *base) get(ctx context.Context) (peft.Base, error) {
	b.mu.Lock()
	if b.reading == nil && (!b.read || b.err != nil && b.now().Sub(b.at) > again) {
		b.reading = make(chan struct{})
		go b.take(b.reading)
	}
	wait := b.reading
	b.mu.Unlock()
	if wait != nil {
		late := time.NewTimer(b.patience)
		defer late.Stop()
		select {
		case <-wait:
		case <-ctx.Done():
			return peft.Base{}, ctx.Err()
		case <-late.C:
			return peft.Base{}, errReading
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shape, b.err
}

func (b *base) take(done chan struct{}) {
	defer close(done)
	shape, err := readBase(b.dir)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shape, b.err, b.read, b.reading, b.at = shape, err, true, nil, b.now()
}

func readBase(dir string) (peft.Base, error) {
	if dir == "" {
		return peft.Base{}, errors.New("no folder of shared/models is named for it: set LIMINAL_LORA_BASE to one with the model's config.json")
	}
	c, err := llm.ReadConfig(dir)
	if err != nil {
		return peft.Base{}, fmt.Errorf("the model's folder %s cannot be used: %w. LIMINAL_LORA_BASE names it, and it needs the model's config.json", dir, err)
	}
	b := peft.Base{Config: c}
	if _, err := llm.Files(dir); err != nil {
		return b, nil // its weights are with the server only
	}
	if b.Fingerprint, err = llm.Fingerprint(dir); err != nil {
		return b, fmt.Errorf("the model's folder %s cannot be read: %w", dir, err)
	}
	return b, nil
}
