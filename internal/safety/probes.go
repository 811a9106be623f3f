package safety

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Probe is a question whose answer shows whether a model still keeps to what the
// rules ask of answers.
type Probe struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // weapon, explosive, minors, secret, personal, recall or orders
	Text string `json:"text"`
}

//go:embed probes.json
var probes []byte

// Probes are the forty questions that trained weights are asked before they serve
// anybody.
var Probes = sync.OnceValue(func() []Probe {
	var list []Probe
	if err := json.Unmarshal(probes, &list); err != nil {
		panic(fmt.Sprintf("safety: probes.json: %v", err)) // it is part of the program
	}
	return list
})
