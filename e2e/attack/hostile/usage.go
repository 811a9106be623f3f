package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"liminal/e2e/iopressure"
)

// jiffies are the ticks of /proc/stat in a second, on every Linux there is.
const jiffies = 100

// used is the processor time a process has taken.
func used(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has ended
	}
	_, after, _ := strings.Cut(string(raw), ") ") // its name may hold anything
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / jiffies
}

// busy is the processor time everything on the machine has taken.
func busy() time.Duration {
	raw, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(raw), "\n")
	var sum int64
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err == nil && i != 4 && i != 5 && i < 9 { // idle, iowait; guests are in user
			sum += n
		}
	}
	return time.Duration(sum) * time.Second / jiffies
}

// status is a figure of /proc/PID/status in bytes.
func status(pid int, key string) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// Meter measures what the program takes from begin to end.
type Meter struct {
	house *House
	from  time.Time
	cpu   time.Duration // so far: of the program,
	known time.Duration // of it, what it stands on, and ourselves,
	all   time.Duration // and of everything
	stop  chan struct{}
	done  sync.WaitGroup
	mu    sync.Mutex
	peak  int64
	disk  *iopressure.Recorder
}

// Taken is what a Meter saw.
type Taken struct {
	Lasted  time.Duration
	CPU     time.Duration // of the program
	Foreign float64       // cores that nothing of ours took
	RSS     int64         // of the program at most, in bytes
	Disk    iopressure.Stall
}

// measure begins.
func (h *House) measure() *Meter {
	m := &Meter{house: h, from: time.Now(), stop: make(chan struct{}), disk: iopressure.Record()}
	m.cpu, m.known, m.all = m.sums()
	for _, pid := range h.pids() {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // the peak begins anew, where that is allowed
	}
	m.done.Go(m.watch)
	return m
}

func (m *Meter) sums() (cpu, known, all time.Duration) {
	for _, pid := range m.house.pids() {
		cpu += used(pid)
	}
	known = cpu + used(os.Getpid())
	for _, pid := range m.house.servers {
		known += used(pid)
	}
	return cpu, known, busy()
}

func (m *Meter) watch() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var now, peak int64
		for _, pid := range m.house.pids() {
			now += status(pid, "VmRSS")
			peak += status(pid, "VmHWM")
		}
		m.mu.Lock()
		m.peak = max(m.peak, peak, now)
		m.mu.Unlock()
		if now > m.house.mostRSS {
			m.house.kill("it took %d MiB of memory", now>>20)
		}
		select {
		case <-m.stop:
			return
		case <-tick.C:
		}
	}
}

// end stops and gives what was taken.
func (m *Meter) end() Taken {
	close(m.stop)
	m.done.Wait()
	m.disk.Stop()
	cpu, known, all := m.sums()
	t := Taken{Lasted: time.Since(m.from), RSS: m.peak, CPU: max(0, cpu-m.cpu), Disk: m.disk.Stall(m.from, time.Now())}
	t.Foreign = max(0, (all-m.all-(known-m.known)).Seconds()/t.Lasted.Seconds())
	return t
}
