package quota

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// keys is a Store in a map, by the clock of the test.
type keys struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	key   Key
	until time.Time
	reply *Reply
}

func (s *keys) ClaimKey(_ context.Context, v identity.Viewer, k Key, lease time.Duration) (*Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := v.UserID + k.Route + k.Key
	h, known := s.held[at]
	switch alive := known && time.Now().Before(h.until); {
	case alive && h.key.Fingerprint != k.Fingerprint:
		return nil, fault.New(fault.Invalid, "another request")
	case alive && h.reply != nil:
		return h.reply, nil
	case alive && h.key.Holder != k.Holder:
		return nil, fault.New(fault.Conflict, "still running")
	}
	s.held[at] = &held{key: k, until: time.Now().Add(lease)}
	return nil, nil
}

func (s *keys) KeepReply(_ context.Context, v identity.Viewer, k Key, r Reply, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[v.UserID+k.Route+k.Key] = &held{key: k, until: time.Now().Add(keep), reply: &r}
	return nil
}

func (s *keys) ReleaseKey(_ context.Context, v identity.Viewer, k Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, v.UserID+k.Route+k.Key)
	return nil
}

var ada = identity.Viewer{UserID: "ada"}

func newOnce() *Once { return NewOnce(&keys{held: map[string]*held{}}, slog.New(slog.DiscardHandler)) }

// Requirements: API-05
func TestARepeatedKeyGetsTheFirstReplyFor24Hours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, calls := newOnce(), 0
		work := func(context.Context) (Reply, error) { calls++; return Reply{Status: 200, Body: []byte("first")}, nil }
		k := Key{Route: "POST /v1/chat", Key: "k", Fingerprint: "f"}
		do := func() (Reply, bool) {
			r, replayed, err := o.Do(t.Context(), ada, k, work)
			if err != nil {
				t.Fatal(err)
			}
			return r, replayed
		}
		do()
		time.Sleep(23 * time.Hour)
		if r, replayed := do(); !replayed || string(r.Body) != "first" || calls != 1 {
			t.Errorf("after 23 h: replayed %v, %d calls", replayed, calls)
		}
		time.Sleep(2 * time.Hour)
		if _, replayed := do(); replayed || calls != 2 {
			t.Errorf("after 25 h: replayed %v, %d calls", replayed, calls)
		}
	})
}

// Requirements: API-06
func TestAKeyStillWorkedOnIsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, k := newOnce(), Key{Route: "r", Key: "k"}
		release, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			o.Do(t.Context(), ada, k, func(context.Context) (Reply, error) { <-release; return Reply{}, nil })
		}()
		time.Sleep(time.Hour) // far beyond the lease: it is extended while the work goes on
		_, _, err := o.Do(t.Context(), ada, k, nil)
		if !errors.Is(err, fault.Conflict) {
			t.Errorf("got %v", err)
		}
		close(release)
		<-done
		if _, replayed, err := o.Do(t.Context(), ada, k, nil); !replayed || err != nil {
			t.Errorf("afterwards: replayed %v, %v", replayed, err)
		}
	})
}

func TestFailedWorkMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	o, k := newOnce(), Key{Route: "r", Key: "k"}
	wrong := errors.New("wrong")
	if _, _, err := o.Do(t.Context(), ada, k, func(context.Context) (Reply, error) { return Reply{}, wrong }); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		o.Do(t.Context(), ada, k, func(context.Context) (Reply, error) { panic("worse") })
	}()
	if _, _, err := o.Do(t.Context(), ada, k, func(context.Context) (Reply, error) { return Reply{}, nil }); err != nil {
		t.Error(err)
	}
}

func TestKeysBelongToAPersonARouteAndABody(t *testing.T) {
	t.Parallel()
	o, calls := newOnce(), 0
	work := func(context.Context) (Reply, error) { calls++; return Reply{}, nil }
	k := Key{Route: "r", Key: "k", Fingerprint: "f"}
	other := k
	other.Route = "s"
	o.Do(t.Context(), ada, k, work)
	o.Do(t.Context(), ada, other, work)
	o.Do(t.Context(), identity.Viewer{UserID: "bob"}, k, work)
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	k.Fingerprint = "g"
	if _, _, err := o.Do(t.Context(), ada, k, work); !errors.Is(err, fault.Invalid) {
		t.Errorf("another body: %v", err)
	}
	long := Key{Route: "r", Key: string(make([]byte, 300))}
	if _, _, err := o.Do(t.Context(), ada, long, work); !errors.Is(err, fault.Invalid) {
		t.Errorf("a long key: %v", err)
	}
}

// ledger refuses everything.
type ledger struct{ wait time.Duration }

func (l ledger) Take(context.Context, string, float64, int) (time.Duration, error) {
	return l.wait, nil
}

func (l ledger) Acquire(context.Context, string, int) (func(), bool, error) {
	return nil, l.wait == 0, nil
}

// Requirements: API-16
func TestASpentBucketSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	err := NewLimits(ledger{wait: 1500 * time.Millisecond}).Spend(t.Context(), PlanOf(Free).Chat, "ada")
	if details, ok := fault.From(err).Details.(Exceeded); !ok || details.RetryAfter != 2 || !errors.Is(err, fault.RateLimited) {
		t.Errorf("got %v with %+v", err, fault.From(err).Details)
	}
	if err := NewLimits(ledger{}).Spend(t.Context(), PlanOf(Free).Chat, "ada"); err != nil {
		t.Errorf("a full bucket: %v", err)
	}
	if _, err := NewLimits(ledger{wait: 1}).Hold(t.Context(), "sockets", "ada", 3); !errors.Is(err, fault.Conflict) {
		t.Errorf("no place left: %v", err)
	}
}

// Requirements: OPS-12 (file size; rate; decode time), SAFE-04, ISO-08 (three runs, two answers), FILE-03, FILE-08, CFG-12
func TestPlansAreOneTableAndUnknownNamesAreFree(t *testing.T) {
	t.Parallel()
	free, paid := PlanOf(Free), PlanOf(Paid)
	if free.MaxFileBytes != 25<<20 || paid.MaxFileBytes != 200<<20 {
		t.Errorf("files of %d and %d bytes", free.MaxFileBytes, paid.MaxFileBytes)
	}
	if free.Chat != (Rule{"chat", 60, time.Minute}) || free.Intake.Rule() != (Rule{"files.upload", 600, time.Minute}) || free.ConfigOps != (Rule{"configops", 30, time.Hour}) {
		t.Errorf("rates of the free plan: %+v %+v %+v", free.Chat, free.Intake.Rule(), free.ConfigOps)
	}
	for _, name := range []string{"", "FREE", "gold", "paid "} {
		if PlanOf(name) != free {
			t.Errorf("%q is not free", name)
		}
	}
	for _, p := range Plans() {
		if PlanOf(p.Name) != p || p.Runs != 3 || p.Decodes != 2 {
			t.Errorf("%s: %+v", p.Name, p)
		}
		if p.Intake.Documents <= 0 || p.Intake.Documents > paid.Intake.Documents || p.Intake.Bytes < p.MaxFileBytes || p.Intake.PerMinute < p.Intake.Documents {
			t.Errorf("%s: what may be brought in does not add up: %+v", p.Name, p.Intake)
		}
		if p.MaxStorageBytes < p.MaxFileBytes || p.Chat.Burst > paid.Chat.Burst || p.Streams <= 0 || p.Sockets <= 0 || p.MaxDecode <= 0 || p.JobTokens <= 0 || p.Web < p.Mobile {
			t.Errorf("%s does not add up: %+v", p.Name, p)
		}
	}
}

// Requirements: FILE-08, API-16
func TestADocumentWaitsUntilThereIsRoomAmongThoseUnderWay(t *testing.T) {
	t.Parallel()
	i := Intake{Documents: 40, Bytes: 10 * mib}
	for _, c := range []struct {
		underWay UnderWay
		size     int64
		wait     int // seconds; 0: it may come
	}{
		{UnderWay{}, 1, 0},
		{UnderWay{}, 20 * mib, 0}, // one by itself may be larger than all
		{UnderWay{1, 1}, 20 * mib, 1},
		{UnderWay{39, 9 * mib}, mib, 0},
		{UnderWay{39, 9*mib + 1}, mib, 3},
		{UnderWay{40, 1}, 1, 4},
		{UnderWay{40, 0}, 1, 4},
		{UnderWay{10_000, 1}, 1, 10},
	} {
		err := i.Room(c.underWay, c.size)
		if c.wait == 0 {
			if err != nil {
				t.Errorf("%+v and %d bytes: %v", c.underWay, c.size, err)
			}
			continue
		}
		told, _ := fault.From(err).Details.(Exceeded)
		if !errors.Is(err, fault.RateLimited) || told != (Exceeded{Rule: "files.under_way", RetryAfter: c.wait}) {
			t.Errorf("%+v and %d bytes: %v, %+v", c.underWay, c.size, err, told)
		}
	}
}

// Requirements: FILE-08, OPS-12 (rate)
func TestAnInstallationChoosesWhatMayBeBroughtIn(t *testing.T) {
	t.Parallel()
	chosen := Intake{Documents: 1000, PerMinute: 9000}
	for _, name := range []string{Free, Paid} {
		p := PlanOf(name)
		if got, want := p.IntakeOf(chosen), (Intake{1000, p.Intake.Bytes, 9000}); got != want || p.IntakeOf(Intake{}) != p.Intake {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	stranger := PlanOf(Unverified)
	if got := stranger.IntakeOf(chosen); got != stranger.Intake {
		t.Errorf("an address nobody confirmed gets %+v", got)
	}
	if got := stranger.IntakeOf(Intake{Documents: 2, Bytes: 1, PerMinute: 3}); got != (Intake{2, 1, 3}) {
		t.Errorf("less for all is %+v for a stranger", got)
	}
}

// Requirements: CFG-12, SAFE-04
func TestModelsProposeLessOftenThanPeople(t *testing.T) {
	t.Parallel()
	if m := ModelProposals(); m != (Rule{"configops.model", 5, time.Hour}) {
		t.Errorf("the rule of models: %+v", m)
	}
	if free := PlanOf(Free); free.ConfigTry != (Rule{"configops.try", 120, time.Hour}) || free.ConfigOps.Burst <= ModelProposals().Burst {
		t.Errorf("the rules of people: %+v %+v", free.ConfigTry, free.ConfigOps)
	}
	for _, p := range Plans() {
		if p.ConfigTry.Name == p.ConfigOps.Name || p.ConfigTry.Burst < p.ConfigOps.Burst {
			t.Errorf("%s: looking costs as much as proposing: %+v %+v", p.Name, p.ConfigTry, p.ConfigOps)
		}
	}
}
