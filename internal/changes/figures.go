package changes

import (
	"math"
	"slices"
)

// z is the quantile of the normal distribution of a two-sided interval of 95 %.
const z = 1.959963984540054

// share estimates a probability from k of n, by Wilson's score interval: it
// stays within 0 and 1 and tells the truth for few runs too.
func share(k, n int) Estimate {
	if n <= 0 {
		return Estimate{High: 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	scale := 1 + z*z/m
	middle := (p + z*z/(2*m)) / scale
	half := z / scale * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Estimate{Value: p, Low: max(0, middle-half), High: min(1, middle+half)}
}

// median estimates the median of what was measured, between the two order
// statistics that hold it with 95 % confidence; of fewer than six there are no
// such two, and the range is all there is.
func median(values []float64) Estimate {
	n := len(values)
	if n == 0 {
		return Estimate{}
	}
	sorted := slices.Sorted(slices.Values(values))
	e := Estimate{Value: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	r := rank(n)
	e.Low, e.High = sorted[r], sorted[n-1-r]
	return e
}

// rank is how many of n sorted values lie outside on each side: the most whose
// probability, of a fair coin's heads, is 2.5 % or less.
func rank(n int) int {
	sum, outside := 0.0, 0
	whole, _ := math.Lgamma(float64(n + 1))
	for k := range n / 2 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(whole - a - b - float64(n)*math.Ln2)
		if sum > 0.025 {
			break
		}
		outside = k
	}
	return outside
}

// worse compares two figures of which less is better: true or false where
// their ranges do not meet, else null.
func worse(before, after Estimate) *bool {
	switch {
	case after.Low > before.High:
		return new(true)
	case after.High < before.Low:
		return new(false)
	}
	return nil
}
