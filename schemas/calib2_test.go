package schemas

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCalibCompile(t *testing.T) {
	many := func(n int, f string) string {
		var l []string
		for i := range n {
			l = append(l, strings.ReplaceAll(f, "$i", fmt.Sprint(i)))
		}
		return strings.Join(l, ",")
	}
	for name, s := range map[string]string{
		"props":         `{"properties":{` + many(3900, `"p$i":{"type":"string"}`) + `}}`,
		"props2020":     `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{` + many(3900, `"p$i":{"type":"string"}`) + `}}`,
		"props2019":     `{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{` + many(3900, `"p$i":{"type":"string"}`) + `}}`,
		"bad props":     `{"properties":{` + many(3900, `"p$i":{"type":7}`) + `}}`,
		"bad props2020": `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{` + many(3900, `"p$i":{"type":7}`) + `}}`,
		"patterns":      `{"properties":{` + many(900, `"p$i":{"pattern":"[a-z]{40}"}`) + `}}`,
		"bigpatterns":   `{"properties":{` + many(10, `"p$i":{"pattern":"(\\pL|x){1000}"}`) + `}}`,
		"bigpatterns2":  `{"properties":{` + many(10, `"p$i":{"pattern":"^(\\pL{900})$"}`) + `}}`,
		"enum":          `{"enum":[` + many(15000, `$i`) + `]}`,
		"enumcollide":   `{"enum":[` + many(6000, `[$i,"a"]`) + `]}`,
		"required":      `{"required":[` + many(12000, `"$i"`) + `]}`,
		"refs":          `{"definitions":{"a":{"type":"string"}},"properties":{` + many(1000, `"p$i":{"$ref":"#/definitions/a"}`) + `}}`,
		"odd refs":      `{"x":{` + many(300, `"q$i":{"properties":{"a":{"type":"string"}}}`) + `},"properties":{` + many(300, `"p$i":{"$ref":"#/x/q$i"}`) + `}}`,
		"odd refs2": `{"x":` + strings.Repeat(`{"not":`, 25) + `{"properties":{` + many(300, `"q$i":{"type":"string"}`) + `}}` + strings.Repeat(`}`, 25) + `,"properties":{` + func() string {
			var l []string
			for i := range 20 {
				l = append(l, fmt.Sprintf(`"p%d":{"$ref":"#/x%s"}`, i, strings.Repeat("/not", i)))
			}
			return strings.Join(l, ",")
		}() + `}}`,
		"deepnest": strings.Repeat(`{"properties":{"a":`, 30) + `{}` + strings.Repeat(`}}`, 30),
		"anyitems": `{"anyOf":[` + many(1900, `{"items":[{}]}`) + `]}`,
	} {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		start := time.Now()
		_, err := Compile([]byte(s))
		took := time.Since(start)
		runtime.ReadMemStats(&b)
		msg := ""
		if err != nil {
			msg = cut(err.Error(), 150)
		}
		t.Logf("%-14s %d bytes: %v %d MB %d %s", name, len(s), took, (b.TotalAlloc-a.TotalAlloc)>>20, len(fmt.Sprint(err)), msg)
	}
}
