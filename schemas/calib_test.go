package schemas

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func bombN(depth, fan int, leaf string) string {
	var defs []string
	for i := range depth {
		refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/definitions/d%d"},`, i+1), fan), ",")
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[%s]}`, i, refs))
	}
	defs = append(defs, fmt.Sprintf(`"d%d":%s`, depth, leaf))
	return `{"definitions":{` + strings.Join(defs, ",") + `},"$ref":"#/definitions/d0"}`
}
func nestv(d int, leaf any) any {
	for range d {
		leaf = map[string]any{"a": leaf}
	}
	return leaf
}
func lst(n int, v any) []any {
	l := make([]any, n)
	for i := range l {
		l[i] = v
	}
	return l
}
func TestCalib(t *testing.T) {
	str := func(n int) string { return strings.Repeat("a", n) }
	objs := []any{}
	for i := range 2500 {
		objs = append(objs, map[string]any{"a": "x", "b": 1.5, "c": true, "d": "y", "e": nil, "f": float64(i), "g": "z", "h": "w"})
	}
	for name, c := range map[string]struct {
		s string
		v any
	}{
		"allOf 10^2":    {bombN(2, 10, `{"type":"string"}`), map[string]any{"a": 1.0}},
		"allOf 10^3":    {bombN(3, 10, `{"type":"string"}`), map[string]any{"a": 1.0}},
		"allOf 10^4":    {bombN(4, 10, `{"type":"string"}`), map[string]any{"a": 1.0}},
		"2^12":          {bombN(12, 2, `{"type":"string"}`), map[string]any{"a": 1.0}},
		"2^11 ok":       {bombN(11, 2, `{"type":"object"}`), map[string]any{"a": 1.0}},
		"fail list":     {`{"items":{"type":"string"}}`, lst(18000, 1.0)},
		"fail list 50k": {`{"items":{"type":"string"}}`, lst(50000, 1.0)},
		"pass objs":     {`{"items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{},"d":{"type":"string"},"f":{"type":"number"},"g":{"type":"string"}}}}`, objs},
		"fail objs":     {`{"items":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"},"c":{"type":"null"},"d":{"type":"number"},"f":{"type":"null"},"g":{"type":"array"}}}}`, objs},
		"pattern":       {`{"items":{"pattern":"^(a?){40}a{40}b$"}}`, lst(50, str(200))},
		"pattern long":  {`{"pattern":"(a*)*b"}`, str(180_000)},
		"enum":          {`{"items":{"enum":[` + strings.TrimSuffix(strings.Repeat(`1.25e10,`, 300), ",") + `]}}`, lst(250, 2.0)},
		"unique":        {`{"uniqueItems":true}`, lst(1, 1.0)},
		"unique arr": {`{"uniqueItems":true}`, func() []any {
			l := []any{}
			for i := range 1300 {
				l = append(l, []any{float64(i)})
			}
			return l
		}()},
		"deep rec":       {`{"additionalProperties":{"$ref":"#"},"type":["object","string"]}`, nestv(120, 1.0)},
		"deep rec allof": {`{"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}`, nestv(30, "x")},
		"deep wide fail": {`{"additionalProperties":{"$ref":"#"},"type":["object","string"]}`, nestv(60, func() any {
			m := map[string]any{}
			for i := range 500 {
				m[fmt.Sprint(i)] = 1.0
			}
			return m
		}())},
		"anyOf": {`{"items":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"string"},`, 100), ",") + `]}}`, lst(300, 1.0)},
		"required": {`{"items":{"required":[` + strings.TrimSuffix(func() string {
			s := ""
			for i := range 900 {
				s += fmt.Sprintf(`"%d",`, i)
			}
			return s
		}(), ",") + `]}}`, lst(1500, map[string]any{})},
		"text 1MB": {`{"type":"object","properties":{"t":{"type":"string","maxLength":2000000}}}`, map[string]any{"t": str(1 << 20)}},
	} {
		start := time.Now()
		s, err := Compile([]byte(c.s))
		if err != nil {
			t.Log(name, "COMPILE", err)
			continue
		}
		comp := time.Since(start)
		start = time.Now()
		work, f, _ := s.plan.afford(context.Background(), c.v)
		dp := time.Since(start)
		if f != "" {
			t.Logf("%-16s compile %v dp %v refused", name, comp, dp)
			continue
		}
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		start = time.Now()
		e := s.compiled.Validate(c.v)
		took := time.Since(start)
		runtime.ReadMemStats(&b)
		t.Logf("%-16s compile %v dp %v work %d validate %v (%.2f units/0.1us) %d KB err %v", name, comp, dp, work, took, float64(took.Nanoseconds())/100/float64(work), (b.TotalAlloc-a.TotalAlloc)>>10, e != nil)
	}
	r := NewRegistry()
	files, _ := filepath.Glob("../artifacts/*/*.json")
	more, _ := filepath.Glob("../artifacts/*/*/*.json")
	tools, _ := filepath.Glob("../internal/tool/builtin/*.json")
	for _, f := range append(append(files, more...), tools...) {
		doc, _ := os.ReadFile(f)
		var k struct {
			Kind                      string
			InputSchema, OutputSchema json.RawMessage
		}
		json.Unmarshal(doc, &k)
		v, err := decode(doc)
		if err != nil {
			continue
		}
		m := object(v)
		for _, key := range []string{"input_schema", "output_schema"} {
			if sc, ok := m[key]; ok {
				b, _ := json.Marshal(sc)
				if _, err := Compile(b); err != nil {
					t.Log(f, key, err)
				}
			}
		}
		if e, ok := r.kinds[k.Kind]; ok {
			s, _ := e.compile()
			start := time.Now()
			work, fl, _ := s.plan.afford(context.Background(), v)
			dp := time.Since(start)
			start = time.Now()
			s.compiled.Validate(v)
			if took := time.Since(start); took > 2*time.Millisecond || fl != "" {
				t.Log(f, len(doc), work, dp, took, fl)
			}
		}
	}
}
