package fit

import "fmt"

// State is what an AdamW keeps between steps: with it, and the params, training
// goes on as if it had never stopped.
type State struct {
	Step         int
	Mean, Square [][]float32 // of the params, in their order
}

// State gives what is kept, not a copy; before the first step nothing is.
func (a *AdamW) State() State { return State{a.step, a.mean, a.square} }

// Restore takes up a state that was kept for params of the same sizes.
func (a *AdamW) Restore(s State, params []Param) error {
	if s.Step == 0 {
		a.step, a.mean, a.square = 0, nil, nil
		return nil
	}
	if len(s.Mean) != len(params) || len(s.Square) != len(params) {
		return fmt.Errorf("the state is of %d params, not %d", len(s.Mean), len(params))
	}
	for i, p := range params {
		if len(s.Mean[i]) != len(p.Value) || len(s.Square[i]) != len(p.Value) {
			return fmt.Errorf("param %d of the state has %d numbers, not %d", i, len(s.Mean[i]), len(p.Value))
		}
	}
	a.step, a.mean, a.square = s.Step, s.Mean, s.Square
	return nil
}
