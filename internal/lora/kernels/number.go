package kernels

import "math"

// FromBF16 is the number a bfloat16 holds: the upper half of a float32.
func FromBF16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// ToBF16 rounds to the nearest bfloat16, ties to even. NaN stays NaN.
func ToBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// BF16 rounds a list of numbers.
func BF16(x []float32) []uint16 {
	out := make([]uint16, len(x))
	for i, v := range x {
		out[i] = ToBF16(v)
	}
	return out
}

// Exp is e to the x within 2·10⁻⁷ of it, relatively; x is held to -87 to 88.
// It is several times faster than math.Exp.
func Exp(x float32) float32 {
	x = min(max(x, -87), 88)
	// Adding and taking away 1.5·2²³ rounds to a whole number, which then
	// stands in the lower bits.
	z := float32(x*1.44269504088896) + 12582912
	n := z - 12582912
	f := x - float32(n*0.693359375) + float32(n*2.12194440e-4)
	p := float32(1.9875691500e-4)
	p = float32(p*f) + 1.3981999507e-3
	p = float32(p*f) + 8.3334519073e-3
	p = float32(p*f) + 4.1665795894e-2
	p = float32(p*f) + 1.6666665459e-1
	p = float32(p*f) + 5.0000001201e-1
	p = float32(float32(p*f)*f) + f + 1
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(z)<<23)
}

// Softmax makes x positive numbers that add up to 1: eˣ, divided by their sum.
// An empty x stays as it is.
func Softmax(x []float32) {
	if len(x) == 0 {
		return
	}
	most := x[0]
	for _, v := range x[1:] {
		most = max(most, v)
	}
	var sum float32
	for i, v := range x {
		x[i] = Exp(v - most)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// Sigmoid is 1/(1+e⁻ˣ).
func Sigmoid(x float32) float32 { return 1 / (1 + Exp(-x)) }

// RMSNorm writes x, divided by the root of its mean square, times w to y, and
// returns what x was multiplied by. All three are of one length.
func RMSNorm(y, x, w []float32, epsilon float32) (factor float32) {
	var sum float32
	for _, v := range x {
		sum += v * v
	}
	factor = float32(1 / math.Sqrt(float64(sum/float32(len(x))+epsilon)))
	y, w = y[:len(x)], w[:len(x)]
	for i, v := range x {
		y[i] = v * factor * w[i]
	}
	return factor
}

// SiLUTimes writes x·sigmoid(x)·u to y. All three are of one length; y may be x
// or u.
func SiLUTimes(y, x, u []float32) {
	y, u = y[:len(x)], u[:len(x)]
	for i, v := range x {
		y[i] = v / (1 + Exp(-v)) * u[i]
	}
}
