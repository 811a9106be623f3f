package redis

import (
	"strings"
	"testing"
	"time"

	"liminal/internal/cache"
	"liminal/internal/id"
	"liminal/internal/leaktest"
	"liminal/internal/quota"
	"liminal/internal/store/storetest"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// busy is how long Redis may take to answer where that is not what is tested:
// a busy machine pauses for seconds.
const busy = 30 * time.Second

// open is a Memory with keys of its own on the test stack's Redis.
func open(t testing.TB, o Options) *Memory {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = "liminal:" + id.New() + ":"
	}
	o.Answer = busy
	m, err := Open(t.Context(), storetest.Server(t, "LANE_REDIS"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// Requirements: STREAM-24 (missed events are replayed), STREAM-32
func TestStreamLog(t *testing.T) {
	t.Parallel()
	storetest.StreamLog(t, func(t testing.TB, _ int64) stream.Log { return open(t, Options{}).Log() })
}

// Requirements: API-16
func TestLedger(t *testing.T) {
	t.Parallel()
	storetest.Ledger(t, func(t testing.TB) quota.Ledger { return open(t, Options{Lease: time.Hour}).Ledger() })
}

// Requirements: DATA-10
func TestCache(t *testing.T) {
	t.Parallel()
	storetest.Cache(t, func(t testing.TB) cache.Cache { return open(t, Options{}).Cache() })
}

// pair are two processes' Memories on the same keys.
func pair(t testing.TB, o Options) (one, other *Memory) {
	o.Prefix = "liminal:" + id.New() + ":"
	return open(t, o), open(t, o)
}

// Requirements: ISO-09
func TestBreakers(t *testing.T) {
	t.Parallel()
	storetest.Breakers(t, func(t testing.TB) (tool.Breakers, tool.Breakers) {
		one, other := pair(t, Options{})
		return one.Breakers(), other.Breakers()
	})
}

func TestDecodes(t *testing.T) {
	t.Parallel()
	storetest.Decodes(t, func(t testing.TB, each int) (tool.Decodes, tool.Decodes) {
		one, other := pair(t, Options{Lease: time.Hour})
		return one.Decodes(each), other.Decodes(each)
	})
}

func TestAServerThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"5.0.14": true, "6.0.20": true, "6.2.0": false, "7.0.15": false, "10.0": false, "": false, "unknown": false,
	} {
		if got := tooOld(version); got != want {
			t.Errorf("%q is too old: %v", version, got)
		}
	}
	_, err := Open(t.Context(), "redis://"+serve(t, "redis_version:5.0.14\r\n"), Options{Answer: busy})
	if err == nil || !strings.Contains(err.Error(), "is version 5.0.14; use 6.2 or later") {
		t.Errorf("an old server: %v", err)
	}
}
