// Package iopressure tells for how much of a time the machine stood still
// because its disk did. It serves tests that promise a time: nobody can keep
// one while no write ends.
//
// It reads what Linux counts in /proc/pressure/io as "full": the time in which
// whatever had something to do waited for a disk. What only waits while others
// compute does not count, and neither does a program that is slow by itself.
// On a system without it there are no stalls to tell of, and every bound holds
// as it stands.
//
// It imports the standard library only.
package iopressure

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Retries is how often at most a time that the disk spoiled is measured again.
// What is slow then too is slow.
const Retries = 2

// every is how often the kernel's count is read.
const every = 100 * time.Millisecond

const source = "/proc/pressure/io"

// Recorder reads the kernel's count from Record to Stop. A nil one knows of no
// stalls.
type Recorder struct {
	read    func() (time.Duration, bool)
	mu      sync.Mutex
	samples []sample
	stop    chan struct{}
	done    sync.WaitGroup
}

// sample is what the kernel had counted at a moment.
type sample struct {
	at   time.Time
	full time.Duration
}

// Record begins. The recorder must be stopped.
func Record() *Recorder {
	return RecordFrom(func() (time.Duration, bool) {
		raw, err := os.ReadFile(source)
		if err != nil {
			return 0, false
		}
		return parse(string(raw))
	})
}

// RecordFrom records another count than the kernel's, for tests: read returns
// it, or false where there is none.
func RecordFrom(read func() (time.Duration, bool)) *Recorder {
	r := &Recorder{read: read, stop: make(chan struct{})}
	if r.sample() {
		r.done.Go(r.watch)
	}
	return r
}

// Stop ends the recording; what was recorded can still be asked for.
func (r *Recorder) Stop() {
	if r == nil {
		return
	}
	close(r.stop)
	r.done.Wait()
	r.sample()
}

func (r *Recorder) watch() {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			r.sample()
		}
	}
}

// sample reads the count once, and reports whether there is one.
func (r *Recorder) sample() bool {
	full, ok := r.read()
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, sample{at: time.Now(), full: full})
	return true
}

// Stall is for how long of a time the disk stood still.
type Stall struct{ For, Of time.Duration }

// Most reports whether it was for most of the time.
func (s Stall) Most() bool { return 2*s.For > s.Of }

func (s Stall) String() string {
	return fmt.Sprintf("the disk stalled for %.1f of %.1f s", s.For.Seconds(), s.Of.Seconds())
}

// Stall tells of the time between two moments, of which at most the part that
// was recorded can have been a stall.
func (r *Recorder) Stall(from, to time.Time) Stall {
	s := Stall{Of: to.Sub(from)}
	if r == nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) > 0 && from.Before(to) {
		s.For = max(0, r.counted(to)-r.counted(from))
	}
	return s
}

// counted is what the kernel had counted at a moment, on a line between the two
// samples beside it.
func (r *Recorder) counted(at time.Time) time.Duration {
	i := sort.Search(len(r.samples), func(i int) bool { return !r.samples[i].at.Before(at) })
	switch i {
	case 0:
		return r.samples[0].full
	case len(r.samples):
		return r.samples[i-1].full
	}
	a, b := r.samples[i-1], r.samples[i]
	part := float64(at.Sub(a.at)) / float64(b.at.Sub(a.at))
	return a.full + time.Duration(part*float64(b.full-a.full))
}

// parse finds the total of "full", in microseconds since the system started.
func parse(text string) (time.Duration, bool) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "full ") {
			continue
		}
		_, total, _ := strings.Cut(line, "total=")
		n, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
		return time.Duration(n) * time.Microsecond, err == nil
	}
	return 0, false
}
