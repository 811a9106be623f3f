package observed

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"liminal/internal/model"
)

// Price is what a million tokens of each class cost, in US dollars.
type Price struct {
	Input     float64 `json:"input"`
	Output    float64 `json:"output"`
	CacheRead float64 `json:"cache_read"`
	// CacheWrite is for five minutes, CacheWrite1h for an hour. A list that names the
	// first alone means twice the price of input by the second.
	CacheWrite   float64 `json:"cache_write"`
	CacheWrite1h float64 `json:"cache_write_1h"`
	// Long is what calls cost that read more than so many tokens.
	Long *LongPrice `json:"long,omitempty"`
}

// LongPrice is the price of calls that read much: of all of their tokens.
type LongPrice struct {
	Above int64 `json:"above"`
	Price
}

// Used is what a call used, in tokens.
type Used struct{ Input, CacheRead, CacheWrite, CacheWrite1h, Output int64 }

// read is everything that was read.
func (u Used) read() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.CacheWrite1h }

// Prices are the models whose price is known, by name. What other models cost
// is not known, which is not the same as nothing.
type Prices map[string]Price

//go:embed prices.json
var shipped []byte

// ReadPrices returns the prices shipped with the program and, over them, those
// of raw: a JSON object from a model's name to its price. nil raw adds none.
func ReadPrices(raw []byte) (Prices, error) {
	prices := Prices{}
	for _, source := range [][]byte{shipped, raw} {
		if source == nil {
			continue
		}
		var some Prices
		if err := json.Unmarshal(source, &some); err != nil {
			return nil, fmt.Errorf("the prices of models are no JSON object of {input, output, cache_read, cache_write, cache_write_1h} by model: %w", err)
		}
		maps.Copy(prices, some)
	}
	for name, p := range prices {
		if p.least() < 0 || p.Long != nil && p.Long.least() < 0 {
			return nil, fmt.Errorf("the price of the model %q is below zero", name)
		}
		prices[name] = p.whole()
	}
	return prices, nil
}

func (p Price) least() float64 {
	return min(p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheWrite1h)
}

// whole is the price with what a list may leave out.
func (p Price) whole() Price {
	if p.CacheWrite > 0 && p.CacheWrite1h == 0 {
		p.CacheWrite1h = 2 * p.Input
	}
	if p.Long != nil {
		p.Long = &LongPrice{p.Long.Above, p.Long.whole()}
	}
	return p
}

// dated is the end of a name that says which edition of a model is meant.
var dated = regexp.MustCompile(`-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// Of is what a call of a model used, in dollars; nil when the model has no price. An
// edition that has none of its own costs what the model does.
func (p Prices) Of(name string, u Used) *float64 {
	price, known := p[name]
	if !known {
		price, known = p[dated.ReplaceAllString(name, "")]
	}
	if !known {
		return nil
	}
	usd := price.of(u)
	return &usd
}

// cost is what a call used that this program made.
func (p Prices) cost(name string, u model.Usage) *float64 { return p.Of(name, used(u)) }

// used is a usage as prices know it: this program asks for five minutes.
func used(u model.Usage) Used {
	return Used{Input: int64(u.Input), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Output: int64(u.Output)}
}

// of is what a call used, in dollars.
func (p Price) of(u Used) float64 {
	if p.Long != nil && u.read() > p.Long.Above {
		return p.Long.of(u)
	}
	const million = 1e6
	return (p.Input*float64(u.Input) + p.Output*float64(u.Output) +
		p.CacheRead*float64(u.CacheRead) + p.CacheWrite*float64(u.CacheWrite) + p.CacheWrite1h*float64(u.CacheWrite1h)) / million
}
