package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture/capturetest"
	"liminal/internal/view"
)

// played is a history of twenty large results, and what of them is set aside.
type played struct {
	every int  // of so many results one; 0: none
	cold  bool // the cache is cold when the view begins
}

// costs are what the first so many requests after the first turn cost, in tokens of
// input at full price: what is asked does not depend on whether more will be.
func (p played) costs(t *testing.T, after []int) map[int]float64 {
	t.Helper()
	now := time.Now()
	clock := func() time.Time { return now }
	up := &capturetest.Upstream{Next: calls(20, file), Cache: &capturetest.PrefixCache{Now: clock}}
	k := talking(t, up)
	k.proxy.viewer.now = clock
	k.Cached = true
	k.says = func(n int, _ capturetest.Use) string {
		if n > 20 {
			return fmt.Sprint(n, strings.Repeat(" a short result", 20))
		}
		return fmt.Sprint(n, strings.Repeat(" what a large file says", 200))
	}
	k.turn("Read the files.")
	if p.cold {
		now = now.Add(6 * time.Minute)
	}
	var set []capturetest.Use
	for i, u := range k.uses {
		if p.every > 0 && i%p.every == 0 {
			set = append(set, u)
		}
	}
	k.plan(func(v *view.Plan) {
		if v.Asked = !p.cold; p.every == 0 {
			v.Mode = view.Shadow
		}
	}, set...)
	before := len(k.answers)
	requests := slices.Max(after)
	up.Next = calls(requests-1, file)
	k.turn("Go on.")
	if n := len(k.answers) - before; n != requests || (p.every > 0) != (len(k.epochs()) == 1) {
		t.Fatalf("%d requests, %+v", n, k.epochs())
	}
	total, costs := 0.0, map[int]float64{}
	for i, raw := range k.answers[before:] {
		var m struct {
			Usage struct {
				Input    float64 `json:"input_tokens"`
				Read     float64 `json:"cache_read_input_tokens"`
				Creation struct {
					Five float64 `json:"ephemeral_5m_input_tokens"`
					Hour float64 `json:"ephemeral_1h_input_tokens"`
				} `json:"cache_creation"`
			}
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		total += m.Usage.Input + 0.1*m.Usage.Read + 1.25*m.Usage.Creation.Five + 2*m.Usage.Creation.Hour
		if slices.Contains(after, i+1) {
			costs[i+1] = total
		}
	}
	return costs
}

// Whether a view pays is what a backend with a prompt cache says. A cold cache is free to
// change; a warm one is worth changing only for much of it, or for long.
//
// palace.md, 7: Pays
func TestAViewPaysWhereTheArithmeticSaysSo(t *testing.T) {
	t.Parallel()
	after := []int{1, 4, 16, 48}
	for _, cold := range []bool{true, false} {
		raw := played{0, cold}.costs(t, after)
		for _, every := range []int{1, 2, 4} {
			in := played{every, cold}.costs(t, after)
			for _, n := range after {
				pays := in[n] < raw[n]
				t.Logf("cold %-5v 1 of %d results aside, %2d requests: %8.0f tokens of input, without %8.0f (%+.0f %%)", cold, every, n, in[n], raw[n], 100*(in[n]/raw[n]-1))
				switch {
				case cold && !pays:
					t.Errorf("a cold cache, 1 of %d, %d requests: it does not pay", every, n)
				case !cold && every == 4 && n <= 16 && pays:
					t.Errorf("a warm cache, 1 of %d, %d requests: it pays", every, n)
				case !cold && every == 1 && n >= 4 && !pays:
					t.Errorf("a warm cache, all of it, %d requests: it does not pay", n)
				}
			}
		}
	}
}
