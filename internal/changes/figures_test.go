package changes

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

// The values are those of Newcombe (1998), Statistics in Medicine 17, table I,
// method 3.
//
// Requirements: CFG-11
func TestSharesHaveTheirWilsonInterval(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {29, 29, 0.8830, 1},
	} {
		got := share(one.k, one.n)
		if !near(got.Low, one.low) || !near(got.High, one.high) || !near(got.Value, float64(one.k)/float64(one.n)) {
			t.Errorf("%d of %d: %+v, want %v to %v", one.k, one.n, got, one.low, one.high)
		}
	}
	if got := share(0, 0); got != (Estimate{High: 1}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// The ranks are those of the sign test's tables: the 2nd and the 9th of ten.
//
// Requirements: CFG-11
func TestMediansLieBetweenTheOrderStatisticsOfTheSignTest(t *testing.T) {
	t.Parallel()
	for n, outside := range map[int]int{1: 0, 5: 0, 6: 0, 8: 0, 9: 1, 10: 1, 12: 2, 15: 3, 20: 5, 25: 7, 50: 17, 100: 39, 5000: 2430} {
		if got := rank(n); got != outside {
			t.Errorf("of %d values %d lie outside, want %d", n, got, outside)
		}
	}
	if got := median([]float64{9, 1, 4, 7, 3, 8, 10, 2, 6, 5}); got != (Estimate{Value: 5.5, Low: 2, High: 9}) {
		t.Errorf("of ten: %+v", got)
	}
	if got := median([]float64{3, 1, 2}); got != (Estimate{Value: 2, Low: 1, High: 3}) {
		t.Errorf("of three: %+v", got)
	}
	if got := median(nil); got != (Estimate{}) {
		t.Errorf("of none: %+v", got)
	}
}

// Requirements: CFG-11
func TestAFigureIsWorseOnlyWhereItIsSure(t *testing.T) {
	t.Parallel()
	if got := worse(share(10, 100), share(15, 100)); got != nil {
		t.Errorf("15 of 100 beside 10: %v", *got)
	}
	if got := worse(share(10, 100), share(40, 100)); got == nil || !*got {
		t.Error("40 of 100 beside 10 is not worse")
	}
	if got := worse(share(40, 100), share(10, 100)); got == nil || *got {
		t.Error("10 of 100 beside 40 is not better")
	}
}
