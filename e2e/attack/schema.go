package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func schemaAttacks() []attack {
	return []attack{
		{name: "schema-bomb", row: "#1", about: "a schema of 10^29 ways to check one value", after: true, once: true, run: schemaBomb},
		{name: "schema-file", row: "#3", about: "a schema that names a file, a pipe and an address of the server's", once: true, run: schemaFile},
	}
}

const (
	// schemaTime is how long the refusal of a schema may take.
	schemaTime = 10 * time.Second
	// schemaMemory is what the program may grow by while it refuses some.
	schemaMemory = 512 * mib
	// helloTime is how long another person's turn may take during an attack.
	helloTime = 5 * time.Second
)

// bomb is a schema whose definitions each use the next one ten times.
func bomb(deep, wide int) object {
	definitions := object{}
	for i := range deep {
		var all []object
		for range wide {
			all = append(all, object{"$ref": fmt.Sprintf("#/definitions/d%d", i+1)})
		}
		definitions[fmt.Sprintf("d%d", i)] = object{"allOf": all}
	}
	definitions[fmt.Sprintf("d%d", deep)] = object{"type": "string"}
	return object{"$ref": "#/definitions/d0", "definitions": definitions}
}

// schemaBomb gives the bomb to everything of a person's that takes a schema.
func schemaBomb(t *trial) {
	mallory, other := t.signUp("mallory"), t.signUp("other")
	before := t.house.memory()
	x := bomb(29, 10)
	var ways sync.WaitGroup
	say := func(way string, a answer) {
		t.figure("%s: %d in %.1f s", way, a.status, a.took.Seconds())
		if a.err != nil || a.status >= 500 {
			t.hole("%s: %s", way, a)
		}
	}
	results := make(chan func(), 16)
	try := func(way string, do func() answer) {
		ways.Go(func() { a := do(); results <- func() { say(way, a) } })
	}
	for i := range choose(t, 1, 6) {
		try(fmt.Sprintf("tool %d", i+1), func() answer {
			return mallory.within(schemaTime, "POST", "/v1/tools/run", object{
				"tool_id": "llm.structured_v1", "input": object{"message": "x", "schema": x, "defaults": object{"message": "x"}},
			})
		})
	}
	try("answer_schema", func() answer { return answered(mallory, "bomb", x, "x") })
	try("recursive answer_schema", func() answer {
		return answered(mallory, "loop", object{"$ref": "#/definitions/a", "definitions": object{"a": object{"allOf": []object{{"$ref": "#/definitions/a"}}}}}, "x")
	})
	ways.Wait()
	close(results)
	for result := range results {
		result()
	}
	if took, err := t.turn(other, helloTime); err != nil {
		t.hole("another person's turn: %v", err)
	} else {
		t.figure("another person's turn %.1f s", took.Seconds())
	}
	if grown := t.house.most() - before; grown > schemaMemory {
		t.hole("memory grew by %d MiB", grown/mib)
	}
	quiet(t)
}

// quiet finds work that goes on after its request has been answered.
func quiet(t *trial) {
	used := func() (ticks int64) {
		for _, p := range t.house.processes {
			ticks += ticksOf(p.cmd.Process.Pid)
		}
		return ticks
	}
	idle := func() bool {
		before := used()
		time.Sleep(time.Second)
		return used()-before < 80 // of a hundred
	}
	if !t.wait(10*time.Second, idle) {
		t.hole("ten seconds after the last answer a core is still busy")
	}
}

// ticksOf is the time of a processor a process has used, in hundredths.
func ticksOf(pid int) (ticks int64) {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // gone: none
	_, after, _ := strings.Cut(string(raw), ") ")
	var user, system int64
	if f := strings.Fields(after); len(f) > 12 {
		_, _ = fmt.Sscan(f[11]+" "+f[12], &user, &system) // the kernel's
	}
	return user + system
}

// answered asks a question whose answer is checked by a schema, and answers it
// so. The answer is that of the first request that is refused.
func answered(p *person, name string, schema object, value any) answer {
	asked, a := ask(p, name, schema)
	if asked == "" {
		return a
	}
	return p.within(schemaTime, "POST", "/v1/chat/resume", object{
		"interrupt_id": asked, "resume_value": object{"type": "text_input", "value": value},
	})
}

// ask runs a graph of one question, and returns its id.
func ask(p *person, name string, schema object) (interrupt string, last answer) {
	node := object{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "sesame?", "save_as": "reply", "next": "end"}
	if schema != nil {
		node["answer_schema"] = schema
	}
	made := p.workflow(name, node, object{"id": "end", "type": "end"})
	if !made.ok() {
		return "", made
	}
	turn := p.within(schemaTime, "POST", "/v1/chat", object{"message": name, "workflow_id": name})
	question, _ := turn.data["interrupt"].(object)
	interrupt, _ = question["interrupt_id"].(string)
	return interrupt, turn
}

const secret = "SECRET-VALUE-7f3a"

// schemaFile lets schemas name what only the server can reach, and looks for
// it in what is answered.
func schemaFile(t *trial) {
	mallory := t.signUp("mallory")
	dir := t.house.dir
	file, fifo := filepath.Join(dir, "sec.json"), filepath.Join(dir, "pipe.json")
	t.must(os.WriteFile(file, []byte(`{"const":"`+secret+`"}`), 0o600))
	t.must(syscall.Mkfifo(fifo, 0o600))
	var hits atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = w.Write([]byte(`{"const":"` + secret + `"}`)) // whoever asks may leave
	}))
	defer site.Close()
	opened := make(chan struct{})
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { openedBy(fifo, opened, stop) })
	n := 0
	for what, schema := range map[string]object{
		"file":        {"$ref": "file://" + file},
		"no scheme":   {"$ref": file},
		"relative":    {"$id": "file://" + dir + "/x.json", "$ref": "sec.json"},
		"nested":      {"properties": object{"a": object{"$id": "file://" + dir + "/y.json", "$ref": "sec.json"}}, "anyOf": []object{{"$ref": "file://" + file}}},
		"pipe":        {"$ref": "file://" + fifo},
		"http":        {"$ref": site.URL + "/sec.json"},
		"meta":        {"$schema": site.URL + "/meta.json", "type": "string"},
		"meta file":   {"$schema": "file://" + file, "type": "string"},
		"dynamic":     {"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicRef": "file://" + file},
		"recursive":   {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "file://" + file},
		"upper case":  {"$ref": "FILE://" + file},
		"localhost":   {"$ref": "file://localhost" + file},
		"definitions": {"definitions": object{"x": object{"$ref": "file://" + file}}, "$ref": "#/definitions/x"},
	} {
		n++
		for way, a := range map[string]answer{
			"answer_schema": answered(mallory, fmt.Sprintf("file%d", n), schema, "wrong"),
			"tool": mallory.within(schemaTime, "POST", "/v1/tools/run", object{
				"tool_id": "llm.structured_v1", "input": object{"message": "x", "schema": schema, "defaults": object{"message": "x"}},
			}),
		} {
			if strings.Contains(string(a.raw), secret) {
				t.hole("%s as %s: %s", what, way, a)
			}
			if a.err != nil || a.status >= 500 {
				t.hole("%s as %s is not refused clearly: %s", what, way, a)
			}
		}
	}
	close(stop)
	watch.Wait()
	select {
	case <-opened:
		t.hole("a pipe of the server's was opened")
	default:
	}
	if got := hits.Load(); got > 0 {
		t.hole("the server asked another server for a schema %d times", got)
	}
	t.figure("%d schemas, two ways each", n)
}

// openedBy reports when somebody opens a pipe to read it.
func openedBy(fifo string, opened chan<- struct{}, stop <-chan struct{}) {
	for {
		f, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			_ = f.Close() // whoever reads it reads nothing
			close(opened)
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}
