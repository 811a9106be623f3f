package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// fuzz sends requests that are right but for what chance changes.
func fuzz(t *trial) {
	r := seeded()
	all := t.operations()
	mallory := t.signUp("mallory")
	own := mallory.belongings()
	values := []any{
		nil, true, false, 0, -1, 1e308, 1 << 53, "", "\x00", "\u202e\u200b", strings.Repeat("x", 10_000), strings.Repeat("[", 2000), []any{}, []any{nil, nil}, object{}, object{"": nil},
		object{"$ref": "#"}, "'; DROP TABLE message; --", "${input.message}", "{{7*7}}", "../../../etc/passwd", uuid(), "\xff\xfe", []any{object{"op": "add", "path": "/", "value": nil}}, "2026-13-45T99:99:99Z", "\U0001d173",
	}
	count, slowest := choose(t, 300, 3000), time.Duration(0)
	deadline := time.Now().Add(choose(t, 15*time.Second, 3*time.Minute))
	sent := 0
	for ; sent < count && time.Now().Before(deadline); sent++ {
		if sent%150 == 149 {
			mallory = t.signUp("mallory")
		}
		o := all[r.IntN(len(all))]
		if slices.Contains(ends, o.path) || o.multipart || o.path == "/v1/auth/me" && o.method == "DELETE" {
			continue
		}
		list := o.thefts(own)
		try := list[r.IntN(len(list))]
		for range 1 + r.IntN(3) {
			if try.body == nil || len(o.fields) == 0 {
				break
			}
			names := make([]string, 0, len(o.fields))
			for name := range o.fields {
				names = append(names, name)
			}
			slices.Sort(names)
			try.body[names[r.IntN(len(names))]] = values[r.IntN(len(values))]
		}
		raw, _ := json.Marshal(try.bodyOrNil()) // ours
		if r.IntN(4) == 0 && len(raw) > 2 {
			raw[r.IntN(len(raw))] = byte(r.IntN(256))
		}
		path := try.path
		if r.IntN(5) == 0 {
			path += []string{"%00", "%2e%2e", "?limit=-1", "?cursor=%00", "?cursor=AAAA&limit=1e9", "/", "?after=99999999999999999999", "?q=%ff", "?start=-1&end=1e9"}[r.IntN(9)]
		}
		a := mallory.send(6*time.Second, o.method, t.house.ready.HTTP+path, raw, "Content-Type", "application/json")
		if slowest = max(slowest, a.took); a.broken() {
			t.hole("%s %s %.200s: %s", o.method, path, raw, a)
		} else if a.err != nil && !strings.HasSuffix(o.path, "/events") && !strings.HasSuffix(o.path, "/watch") && t.ctx.Err() == nil {
			t.hole("%s %s %.200s: %s", o.method, path, raw, a)
		}
	}
	t.figure("%d requests, the slowest %.1f s", sent, slowest.Seconds())
}

// seeded is the same chance in every run.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(14, 9)) } //nolint:gosec // must be repeatable
