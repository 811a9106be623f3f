package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/e2e/iopressure"
)

// served is a house of one handler, so that what looks for holes can be shown some.
func served(t *testing.T, h http.HandlerFunc) *trial {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	house := &house{}
	house.ready.HTTP = s.URL
	return &trial{ctx: t.Context(), house: house, short: true, name: "test"}
}

// document answers with the description of the API, and else as h does.
func document(t *testing.T, h http.HandlerFunc) http.HandlerFunc {
	t.Helper()
	raw, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/openapi.json" {
			_, _ = w.Write(raw)
			return
		}
		h(w, r)
	}
}

var somebodys = belongings{ids: map[string]string{
	"conversation": "c-1", "run": "r-1", "interrupt": "i-1", "message": "m-1", "context": "x-1", "document": "d-1", "set": "s-1",
	"artifact": "a-1", "user": "u-1", "session": "n-1", "patch": "7",
	"event": "8", "lesson": "l-1", "cluster": "k-1", "webhook": "w-1",
}, told: []string{mark}}

func TestEveryThingWithAnIdIsStolen(t *testing.T) {
	t.Parallel()
	tr := served(t, document(t, http.NotFound))
	for _, o := range tr.operations() {
		if strings.Contains(o.path, "{id}") && kindOf("", o.path) == "" && !strings.HasPrefix(o.path, "/v1/preferences/") {
			t.Errorf("%s %s names a thing that nobody is given: say in kindOf and belongings what it is", o.method, o.path)
		}
		for _, try := range o.thefts(somebodys) {
			if strings.Contains(try.path, "{") {
				t.Errorf("%s %s is asked as %s", o.method, o.path, try.path)
			}
		}
	}
}

func TestAnOpenWallIsToldAsAHole(t *testing.T) {
	t.Parallel()
	for what, h := range map[string]http.HandlerFunc{
		"all is open":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) },
		"a word is told": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, mark, http.StatusUnauthorized) },
		"it breaks":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	} {
		tr := served(t, document(t, h))
		all := tr.operations()
		nobodysWalls(tr, all[:10], somebodys, new(counter))
		strangersWalls(&person{t: tr, name: "bob", token: "t", http: http.DefaultClient}, all[20:40], somebodys, new(counter))
		if len(tr.holes) == 0 {
			t.Errorf("%s, and nobody says so", what)
		}
	}
	tr := served(t, document(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	if nobodysWalls(tr, tr.operations(), somebodys, new(counter)); len(tr.holes) > 0 {
		t.Errorf("all is closed: %v", tr.holes)
	}
}

func TestAttacksHaveNamesOfTheirOwnAndOneForEachRow(t *testing.T) {
	t.Parallel()
	var names, rows []string
	for _, a := range attacks() {
		if slices.Contains(names, a.name) || a.about == "" || a.run == nil {
			t.Errorf("%+v is there twice, or says nothing", a.name)
		}
		names, rows = append(names, a.name), append(rows, a.row)
	}
	for _, row := range []string{"#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "#9"} {
		if !slices.Contains(rows, row) {
			t.Errorf("nothing attacks as row %s did", row)
		}
	}
}

func TestAResultSaysItsHoles(t *testing.T) {
	t.Parallel()
	a := attack{name: "door", row: "#0", run: func(t *trial) { t.hole("it is | open"); t.must(os.ErrClosed) }}
	tr := served(t, http.NotFound)
	tr.carryOut(a)
	if row := tr.row(onEmbedded, a); tr.code() != 1 || !strings.Contains(row, `**FAIL**`) || !strings.Contains(row, `it is \| open`) || !strings.Contains(row, os.ErrClosed.Error()) {
		t.Errorf("%d: %s", tr.code(), row)
	}
	fine := attack{name: "wall", run: func(*trial) {}}
	tr = served(t, http.NotFound)
	if tr.carryOut(fine); tr.code() != 0 || !strings.Contains(tr.row(onEmbedded, fine), "PASS") {
		t.Errorf("%d: %s", tr.code(), tr.row(onEmbedded, fine))
	}
}

func TestAForgedTokenReadsAsOne(t *testing.T) {
	t.Parallel()
	tr := served(t, http.NotFound)
	token := forge(object{"alg": "HS256"}, object{"sub": "x"}, []byte("k"))
	if got, _ := json.Marshal(claimsOf(tr, token)); string(got) != `{"sub":"x"}` || strings.Count(token, ".") != 2 {
		t.Errorf("%s says %s", token, got)
	}
	if got := hexAddress("0100007F:1F90"); got != "127.0.0.1:8080" {
		t.Errorf("an address of the kernel's reads %s", got)
	}
}

// A turn that is too slow is measured again while the disk stands still, and
// fails when it is slow each time, or when the disk did its work.
func TestASlowTurnIsMeasuredAgainWhereTheDiskStoodStill(t *testing.T) {
	t.Parallel()
	const limit = 500 * time.Millisecond // of a slow turn
	for name, c := range map[string]struct {
		stalls bool
		slow   int32 // turns, before quick ones
		fails  bool
		turns  int32
	}{
		"quick":               {stalls: true, turns: 1},
		"slow once, stalled":  {stalls: true, slow: 1, turns: 2},
		"slow always":         {stalls: true, slow: 100, fails: true, turns: 1 + iopressure.Retries},
		"slow, disk at work":  {slow: 1, fails: true, turns: 1},
		"quick, disk at work": {turns: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns atomic.Int32
			tr := served(t, func(w http.ResponseWriter, r *http.Request) {
				if turns.Add(1) <= c.slow {
					_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
					<-r.Context().Done()
					return
				}
				_, _ = w.Write([]byte(`{"data":{"content":"hello"}}`))
			})
			began := time.Now()
			tr.disk = iopressure.RecordFrom(func() (time.Duration, bool) {
				if c.stalls {
					return time.Since(began), true
				}
				return time.Since(began) / 4, true
			})
			defer tr.disk.Stop()
			limit := limit
			if c.slow == 0 {
				limit = 10 * time.Second
			}
			p := &person{t: tr, name: "other", http: http.DefaultClient}
			_, err := tr.turn(p, limit)
			if (err != nil) != c.fails || turns.Load() != c.turns || err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d turns, %v", turns.Load(), err)
			}
			if told := len(tr.figures) > 0; told != (c.stalls && c.slow > 0) {
				t.Errorf("the row says %v", tr.figures)
			}
		})
	}
}

// An error is no slowness, however the disk is.
func TestAnErrorIsNeverMeasuredAgain(t *testing.T) {
	t.Parallel()
	tr := served(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	began := time.Now()
	tr.disk = iopressure.RecordFrom(func() (time.Duration, bool) { return time.Since(began), true })
	defer tr.disk.Stop()
	if _, err := tr.turn(&person{t: tr, name: "other", http: http.DefaultClient}, 10*time.Second); err == nil || len(tr.figures) > 0 {
		t.Errorf("%v, %v", err, tr.figures)
	}
}
