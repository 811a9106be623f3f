package view

import (
	"slices"
)

// Bounds of what is remembered.
const (
	mostSizes = 50_000
	mostRates = 1024
)

// modelReading is how many tokens a model makes of bytes.
type modelReading struct {
	sizes map[string]float64   // of parts, by key
	rates map[string]*byteRate // by lineage
	all   byteRate
}

// byteRate is tokens a byte, of late.
type byteRate struct{ bytes, tokens float64 }

// rateWindow is how many bytes of late a rate is of.
const rateWindow = 64 << 10

func (r *byteRate) learn(n, tokens float64) {
	if r.bytes+n > rateWindow && r.bytes > 0 {
		stays := max(0, rateWindow-n) / r.bytes
		r.bytes, r.tokens = r.bytes*stays, r.tokens*stays
	}
	r.bytes, r.tokens = r.bytes+n, r.tokens+tokens
}

func (r *byteRate) known() bool { return r != nil && r.bytes > 0 }

// guessedRate is a rate before any is known, and mediaTokens what one of those is about.
const (
	guessedRate = 0.27
	mediaTokens = 1500
)

func (c *Cache) reading(model string) *modelReading {
	r := c.models[model]
	if r == nil {
		r = &modelReading{sizes: map[string]float64{}, rates: map[string]*byteRate{}}
		c.models[model] = r
	}
	return r
}

// rate is that of a lineage, else of all.
func (r *modelReading) rate(lineage string) (perByte float64, known bool) {
	for _, of := range []*byteRate{r.rates[lineage], &r.all} {
		if of.known() {
			return of.tokens / of.bytes, true
		}
	}
	return guessedRate, false
}

func (r *modelReading) learn(lineage string, n, tokens float64) {
	of := r.rates[lineage]
	if of == nil {
		if len(r.rates) >= mostRates {
			clear(r.rates)
		}
		of = &byteRate{}
		r.rates[lineage] = of
	}
	of.learn(n, tokens)
	r.all.learn(n, tokens)
}

func (r *modelReading) put(key string, tokens float64) {
	if len(r.sizes) >= mostSizes {
		clear(r.sizes)
	}
	r.sizes[key] = tokens
}

// measure lays what was charged to the parts, and returns the tokens up to each.
func (r *modelReading) measure(p Prompt, f Forecast, b Billed) []float64 {
	sizes := slices.Clone(f.sizes)
	ends := f.ends(p, b)
	from := 0
	for _, e := range ends {
		r.fit(p, f, sizes, from, e.part+1, e.tokens)
		from = e.part + 1
	}
	upTo, sum := make([]float64, len(sizes)), 0.0
	for i, size := range sizes {
		r.put(p.Parts[i].Key, size)
		sum += size
		upTo[i] = sum
	}
	return upTo
}

// measuredEnd is where a class of tokens ends: so many since the end before.
type measuredEnd struct {
	part   int
	tokens float64
}

// ends are the places of which the bill tells how many tokens are before them.
func (f Forecast) ends(p Prompt, b Billed) (list []measuredEnd) {
	last := len(p.Parts) - 1
	if b.Read+b.Written() == 0 || len(f.marks) == 0 {
		return []measuredEnd{{last, float64(b.Total())}}
	}
	hit := f.hit
	if distance(f.Read, b.Read) > max(64, b.Total()/50) {
		hit = f.nearest(b.Read)
	}
	at := hit
	if hit >= 0 {
		list = append(list, measuredEnd{hit, float64(b.Read)})
	}
	last1h, lastMark := -1, f.marks[len(f.marks)-1]
	for _, m := range f.marks {
		if p.Parts[m].Mark >= TTL1h {
			last1h = m
		}
	}
	if b.Write1h > 0 && last1h > at && b.Write5m > 0 && last1h < lastMark {
		list, at = append(list, measuredEnd{last1h, float64(b.Write1h)}), last1h
		b.Write1h = 0
	}
	if lastMark > at {
		list, at = append(list, measuredEnd{lastMark, float64(b.Written())}), lastMark
	}
	if last > at {
		list = append(list, measuredEnd{last, float64(b.Input)})
	}
	return list
}

// nearest is the part behind which about so many tokens end.
func (f Forecast) nearest(tokens int64) (at int) {
	at = -1
	best, sum := float64(tokens), 0.0
	for i, size := range f.sizes {
		sum += size
		if d := max(sum-float64(tokens), float64(tokens)-sum); d < best {
			at, best = i, d
		}
	}
	return at
}

// fit makes the sizes of some parts add up to what was charged for them. What is
// known stays, as long as that is possible.
func (r *modelReading) fit(p Prompt, f Forecast, sizes []float64, from, to int, tokens float64) {
	known, fresh, length, media := 0.0, 0.0, 0.0, false
	for i := from; i < to; i++ {
		if !f.fresh[i] {
			known += sizes[i]
			continue
		}
		fresh += sizes[i]
		length += float64(p.Parts[i].Bytes)
		media = media || p.Parts[i].Media
	}
	if fresh > 0 && tokens > known {
		by := (tokens - known) / fresh
		for i := from; i < to; i++ {
			if f.fresh[i] {
				sizes[i] *= by
			}
		}
		if !media && length > 0 {
			r.learn(p.Lineage, length, tokens-known)
		}
		return
	}
	if known+fresh > 0 && tokens > 0 {
		for i := from; i < to; i++ {
			sizes[i] *= tokens / (known + fresh)
		}
	}
}

// Ruler is how well the cache foretells what is charged.
type Ruler struct {
	P50, P90 float64 // shares of a request that forecasts were off
	N        int     // requests that were foretold
}

// mostOff is how far forecasts may be off that are told from.
const mostOff = 0.10

// Holds reports whether anything can be told from forecasts.
func (r Ruler) Holds() bool { return r.N > 0 && r.P90 <= mostOff }

// RulerOf are the figures of how far forecasts were off.
func RulerOf(off []float64) (r Ruler) {
	if len(off) == 0 {
		return r
	}
	list := slices.Sorted(slices.Values(off))
	at := func(share float64) float64 { return list[min(len(list)-1, int(share*float64(len(list))))] }
	return Ruler{P50: at(0.5), P90: at(0.9), N: len(list)}
}
