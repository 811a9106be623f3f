package iopressure

import (
	"testing"
	"time"
)

func TestTheKernelsCountIsRead(t *testing.T) {
	t.Parallel()
	const some = "some avg10=1.00 avg60=0.63 avg300=0.20 total=548521323\n"
	for text, want := range map[string]time.Duration{
		some + "full avg10=0.00 avg60=0.00 avg300=0.20 total=125953202\n": 125953202 * time.Microsecond,
		some + "full avg10=0.00 avg60=0.00 avg300=0.00 total=0":           0,
		some:                      -1,
		"full avg10=0.00 total=x": -1,
		"":                        -1,
	} {
		got, ok := parse(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %s, %t", text, got, ok)
		}
	}
}

// at is a moment so many milliseconds into a made-up recording.
func at(n int) time.Time { return time.UnixMilli(1_000_000 + int64(n)) }

func TestAStallIsWhatWasCountedBetweenTwoMoments(t *testing.T) {
	t.Parallel()
	r := &Recorder{samples: []sample{{at(0), 5 * time.Second}, {at(100), 5 * time.Second}, {at(200), 5100 * time.Millisecond}, {at(300), 5150 * time.Millisecond}}}
	for name, c := range map[string]struct {
		from, to, want int
		most           bool
	}{
		"before it":           {0, 100, 0, false},
		"within it":           {120, 180, 60, true},
		"all of it":           {0, 300, 150, false},
		"just more than half": {2, 300, 150, true},
		"after the last":      {300, 900, 0, false},
		"over the beginning":  {-1000, 200, 100, false},
		"backwards":           {200, 100, 0, false},
	} {
		got := r.Stall(at(c.from), at(c.to))
		if got.For.Round(time.Millisecond) != time.Duration(c.want)*time.Millisecond || got.Of != at(c.to).Sub(at(c.from)) {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "backwards" && got.Most() != c.most {
			t.Errorf("%s: most of the time is %t", name, got.Most())
		}
	}
	if s := (Stall{For: 3100 * time.Millisecond, Of: 5400 * time.Millisecond}).String(); s != "the disk stalled for 3.1 of 5.4 s" {
		t.Error(s)
	}
}

func TestWhereNothingIsCountedNothingStalls(t *testing.T) {
	t.Parallel()
	none := RecordFrom(func() (time.Duration, bool) { return 0, false })
	from := time.Now()
	none.Stop()
	for name, r := range map[string]*Recorder{"no such file": none, "no recorder": nil} {
		if s := r.Stall(from, from.Add(time.Minute)); s.For != 0 || s.Most() {
			t.Errorf("%s: %s", name, s)
		}
	}
	(*Recorder)(nil).Stop()
}

func TestARecorderFollowsTheCount(t *testing.T) {
	t.Parallel()
	began := time.Now()
	// This disk has stood still since the test began.
	r := RecordFrom(func() (time.Duration, bool) { return time.Since(began), true })
	from := time.Now()
	time.Sleep(3 * every)
	to := time.Now() // before the last sample, so that there is one on either side
	r.Stop()
	if s := r.Stall(from, to); !s.Most() || s.For > s.Of+every {
		t.Errorf("%s", s)
	}
	real := Record()
	defer real.Stop()
	if s := real.Stall(from, time.Now()); s.For < 0 || s.For > s.Of+every {
		t.Errorf("%s", s)
	}
}
