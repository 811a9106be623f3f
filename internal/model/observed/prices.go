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
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

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
			return nil, fmt.Errorf("the prices of models are no JSON object of {input, output, cache_read, cache_write} by model: %w", err)
		}
		maps.Copy(prices, some)
	}
	for name, p := range prices {
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 {
			return nil, fmt.Errorf("the price of the model %q is below zero", name)
		}
	}
	return prices, nil
}

// dated is the end of a name that says which edition of a model is meant.
var dated = regexp.MustCompile(`-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// cost is what a call used in dollars; nil when the model has no price. An
// edition that has none of its own costs what the model does.
func (p Prices) cost(name string, u model.Usage) *float64 {
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

// of is what a call used, in dollars.
func (p Price) of(u model.Usage) float64 {
	const million = 1e6
	return (p.Input*float64(u.Input) + p.Output*float64(u.Output) +
		p.CacheRead*float64(u.CacheRead) + p.CacheWrite*float64(u.CacheWrite)) / million
}
