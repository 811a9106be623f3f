package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// operation is one of docs/openapi.json, as the program serves it.
type operation struct {
	method, path string
	closed       bool     // it needs a person
	scopes       []string // of access keys any of which opens it
	fields       map[string]object
	required     []string
	multipart    bool
}

// operations reads what the program says of itself.
func (t *trial) operations() (all []operation) {
	raw := t.nobody().do("GET", "/v1/openapi.json", nil).raw
	var doc struct {
		Paths      map[string]map[string]object
		Components struct{ Schemas map[string]object }
	}
	t.must(json.Unmarshal(raw, &doc))
	for path, methods := range doc.Paths {
		for method, op := range methods {
			security, _ := op["security"].([]any)
			o := operation{method: strings.ToUpper(method), path: path, closed: len(security) > 0, fields: map[string]object{}}
			for _, way := range security {
				one, _ := way.(object)
				list, _ := one["key"].([]any)
				for _, scope := range list {
					o.scopes = append(o.scopes, fmt.Sprint(scope))
				}
			}
			body, _ := op["requestBody"].(object)
			content, _ := body["content"].(object)
			for kind, c := range content {
				media, _ := c.(object)
				schema, _ := media["schema"].(object)
				if ref, _ := schema["$ref"].(string); ref != "" {
					schema = doc.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]]
				}
				properties, _ := schema["properties"].(object)
				for name, p := range properties {
					o.fields[name], _ = p.(object)
				}
				list, _ := schema["required"].([]any)
				for _, name := range list {
					o.required = append(o.required, fmt.Sprint(name))
				}
				o.multipart = strings.HasPrefix(kind, "multipart/")
			}
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	if len(all) < 60 {
		t.must(fmt.Errorf("only %d operations are named", len(all)))
	}
	return all
}

// belongings are what somebody owns, by the names that requests give them.
type belongings struct {
	ids  map[string]string
	told []string // what nobody else may read
}

const mark = "sesame"

// belongings makes one thing of each kind. Whatever of it is text says sesame.
func (p *person) belongings() belongings {
	contextID := p.context(mark)
	question, asked := ask(p, mark, nil)
	up := p.t.need(p.upload(contextID, mark+".md", []byte("# "+mark)))
	document, _ := up.data["document"].(object)
	id, _ := document["id"].(string)
	set := p.need("POST", "/v1/document-sets", object{"title": mark, "document_ids": []string{id}}).text("id")
	list, _ := p.need("GET", "/v1/artifacts?visibility=private", nil).data["data"].([]any)
	artifact := ""
	for _, a := range list {
		if one, _ := a.(object); one["name"] == mark {
			artifact, _ = one["id"].(string)
		}
	}
	message := ""
	messages, _ := p.need("GET", "/v1/conversations/"+asked.text("conversation_id")+"/messages", nil).data["data"].([]any)
	if len(messages) > 0 {
		m, _ := messages[0].(object)
		message, _ = m["id"].(string)
	}
	patch := p.need("POST", "/v1/config/patches", object{
		"artifact_id": artifact, "justification": mark, "patch": []object{{"op": "add", "path": "/title", "value": mark}},
	})
	made := p.need("POST", "/v1/keys", object{"name": mark, "scopes": []string{"read"}})
	hook := p.need("POST", "/v1/webhooks", object{"url": "https://example.org/" + mark, "events": []string{"run.done"}})
	sharedSet := p.need("POST", "/v1/shares", object{"document_set_id": set, "with": p.t.signUp("reader").email})
	event, lesson, cluster, adapter := p.learnt()
	exchange, lineage, block := p.captured()
	b := belongings{ids: map[string]string{
		"exchange": exchange, "lineage": lineage, "block": block, "note": unnoted(),
		"event": event, "lesson": lesson, "cluster": cluster, "adapter": adapter,
		"patch":        fmt.Sprint(patch.data["id"]),
		"key":          made.text("id"),
		"share":        sharedSet.text("id"),
		"webhook":      hook.text("id"),
		"conversation": asked.text("conversation_id"), "run": asked.text("run_id"), "response": "resp_" + asked.text("run_id"), "interrupt": question, "message": message,
		"context": contextID, "document": id, "set": set, "artifact": artifact, "user": p.id, "session": p.session,
	}}
	for kind, id := range b.ids {
		if id == "" {
			p.t.must(fmt.Errorf("%s has no %s to be taken", p.name, kind))
		}
		b.told = append(b.told, id)
	}
	numbers := []string{b.ids["patch"], b.ids["event"]} // a number is in any text
	b.told = append(b.told, made.text("key"))
	b.told = append(slices.DeleteFunc(b.told, func(id string) bool { return slices.Contains(numbers, id) }), mark, p.email)
	return b
}

// kindOf is the thing that a field of a request names; "" names none.
func kindOf(field, path string) string {
	switch {
	case field == "id" || field == "":
		for part, kind := range map[string]string{
			"/conversations/": "conversation", "/runs/": "run", "/contexts/": "context", "/documents/": "document", "/document-sets/": "set",
			"/artifacts/": "artifact", "/sessions/": "session", "/keys/": "key", "/shares/": "share", "/users/": "user", "/patches/": "patch",
			"/clusters/": "cluster", "/adapters/": "adapter", "/training/": "run", "/learning/lessons/": "lesson", "/learning/events/": "event", "/responses/": "response", "/webhooks/": "webhook", "/palace/exchanges/": "exchange", "/palace/blocks/": "block", "/palace/lineages/": "lineage", "/palace/notes/": "note",
		} {
			if strings.Contains(path, part) {
				return kind
			}
		}
		return ""
	case field == "lineage":
		return "lineage"
	case field == "thread_id", field == "replaces":
		return map[string]string{"thread_id": "conversation", "replaces": "message"}[field]
	case strings.Contains(field, "tagged_doc"):
		return "document"
	case strings.Contains(field, "tagged_set"):
		return "set"
	case field == "workflow_id":
		return "artifact"
	case field == "previous_response_id":
		return "response"
	case field == "conversation":
		return "conversation"
	case field == "into":
		return "cluster"
	case field == "document_set_id":
		return "set"
	}
	for _, kind := range []string{"conversation", "message", "run", "interrupt", "context", "document", "artifact", "session", "user", "patch", "event"} {
		if strings.HasPrefix(field, kind+"_id") || field == "active_"+kind+"_id" {
			return kind
		}
	}
	return ""
}

// filled is a body with what it needs, so that a refusal is for what it names.
func (o operation) filled() object {
	body := object{}
	for _, name := range o.required {
		switch {
		case name == "password" || name == "new_password" || name == "old_password":
			body[name] = "wrong horse battery"
		case name == "resume_value":
			body[name] = object{"type": "text_input", "value": "stolen"}
		case name == "schema":
			body[name] = object{"kind": "workflow.chat", "entrypoint": "a", "nodes": []object{{"id": "a", "type": "end"}}}
		case name == "type":
			body[name] = "workflow"
		case name == "with":
			body[name] = "stranger@example.org"
		case name == "scopes":
			body[name] = []string{"read"}
		case name == "tool_id":
			body[name] = "files.list_v1"
		case name == "patch":
			body[name] = []object{{"op": "add", "path": "/title", "value": "stolen"}}
		case name == "email":
			body[name] = "stranger@example.org"
		case name == "url":
			body[name] = "https://stranger.example.org"
		case name == "events" && strings.Contains(o.path, "/webhooks"):
			body[name] = []string{"run.done"}
		case fmt.Sprint(o.fields[name]["type"]) == "array":
			body[name] = []any{}
		case fmt.Sprint(o.fields[name]["type"]) == "object":
			body[name] = object{}
		case fmt.Sprint(o.fields[name]["type"]) == "boolean":
			body[name] = true
		case fmt.Sprint(o.fields[name]["type"]) == "integer":
			body[name] = 1
		default:
			body[name] = "stolen"
		}
	}
	return body
}

// theft is one request that names what is another's.
type theft struct {
	operation
	path  string
	body  object
	names string // what of theirs it names; empty: nothing
}

// thefts are the requests of one operation on somebody's belongings.
func (o operation) thefts(b belongings) (list []theft) {
	path, names := o.path, ""
	if kind := kindOf("", o.path); kind != "" && strings.Contains(path, "{id}") {
		path, names = strings.ReplaceAll(path, "{id}", b.ids[kind]), kind
	}
	for from, to := range map[string]string{"{id}": "1", "{thread_id}": b.ids["conversation"], "{run_id}": b.ids["run"], "{n}": "1", "{name}": "free", "{provider}": "google", "{kind}": "workflow", "{surface}": surfaceOf(path), "{turn_id}": b.ids["run"], "{model}": b.ids["artifact"], "{assistant_id}": b.ids["artifact"], "{assistant}": b.ids["artifact"], "{checkpoint_id}": b.ids["message"], "{delivery_id}": b.ids["message"], "{agent_id}": "1"} {
		if strings.Contains(path, from) && from == "{thread_id}" {
			names = "conversation"
		}
		if strings.Contains(path, from) && from == "{turn_id}" {
			names = "run"
		}
		if strings.Contains(path, from) && slices.Contains([]string{"{model}", "{assistant_id}", "{assistant}"}, from) {
			names = "artifact"
		}
		path = strings.ReplaceAll(path, from, to)
	}
	if names == "" && strings.Contains(o.path, "{run_id}") {
		names = "run"
	}
	var body object
	if len(o.fields) > 0 {
		body = o.filled()
	}
	list = append(list, theft{operation: o, path: path, body: body, names: names})
	for field, schema := range o.fields {
		kind := kindOf(field, "")
		if kind == "" || o.path == "/api/{surface}/turn" && field == "session_id" { // a label of the caller's, told again to them
			continue
		}
		with := o.filled()
		var id any = b.ids[kind]
		if n, err := strconv.Atoi(b.ids[kind]); err == nil {
			id = n
		}
		if with[field] = id; strings.Contains(fmt.Sprint(schema["type"]), "array") {
			with[field] = []any{id}
		}
		list = append(list, theft{operation: o, path: path, body: with, names: field})
	}
	switch o.path {
	case "/v1/files", "/v1/files/link":
		for _, at := range []string{"files/sesame.md", "../" + b.ids["user"] + "/files/sesame.md", "/users/" + b.ids["user"] + "/files/sesame.md", "files/../../" + b.ids["user"] + "/files/sesame.md"} {
			list = append(list, theft{operation: o, path: path + "?path=" + url.QueryEscape(at), body: object{"path": at}, names: "path"})
		}
	case "/api/{surface}/history":
		list = append(list, theft{operation: o, path: path + "?session_id=" + b.ids["conversation"], names: "conversation"})
	case "/v1/interrupts", "/v1/config/patches", "/v1/runs":
		list = append(list, theft{operation: o, path: path + "?all=true&artifact_id=" + b.ids["artifact"] + "&conversation_id=" + b.ids["conversation"]})
	}
	return list
}

// ends are the operations that would end the attacker's own sign-in, or change
// what all later attacks stand on.
var ends = []string{"/v1/auth/logout", "/v1/auth/sessions"}

func walls(t *trial) {
	ada := t.signUp("ada")
	theirs := ada.belongings()
	all := t.operations()
	stranger, abroad := t.signUp("bob"), t.tenant("eve", "acme")
	var calls counter
	var each sync.WaitGroup
	each.Go(func() { nobodysWalls(t, all, theirs, &calls) })
	for _, who := range []*person{stranger, abroad} {
		each.Go(func() { strangersWalls(who, all, theirs, &calls) })
	}
	each.Wait()
	scopesWalls(t, all, &calls)
	for _, path := range []string{
		"/v1/conversations/" + theirs.ids["conversation"], "/v1/contexts/" + theirs.ids["context"], "/v1/document-sets/" + theirs.ids["set"],
		"/v1/artifacts/" + theirs.ids["artifact"], "/v1/documents/" + theirs.ids["document"],
	} {
		if a := ada.do("GET", path, nil); !a.ok() || !strings.Contains(string(a.raw), mark) {
			t.hole("afterwards %s is %s", path, a)
		}
	}
	if ada.email == palaceOwner && t.house.deployment == onEmbedded {
		if a := ada.do("GET", "/v1/palace/blocks/"+theirs.ids["block"], nil); !a.ok() || !strings.Contains(string(a.raw), mark) {
			t.hole("afterwards what an agent said is %s", a)
		}
	}
	if a := ada.do("GET", "/v1/interrupts", nil); !strings.Contains(string(a.raw), theirs.ids["interrupt"]) {
		t.hole("afterwards the question is gone: %s", a)
	}
	if a := ada.do("GET", "/v1/config/patches/"+theirs.ids["patch"], nil); !strings.Contains(string(a.raw), `"pending"`) {
		t.hole("afterwards the proposal is %s", a)
	}
	if a := ada.do("GET", "/v1/runs/"+theirs.ids["run"], nil); !strings.Contains(string(a.raw), `"waiting"`) {
		t.hole("afterwards the run is %s", a)
	}
	if a := ada.do("GET", "/v1/keys", nil); !strings.Contains(string(a.raw), `"ended":false`) {
		t.hole("afterwards the access key is %s", a)
	}
	for path, id := range map[string]string{"/v1/learning": theirs.ids["lesson"], "/v1/clusters": theirs.ids["cluster"], "/v1/adapters": theirs.ids["adapter"]} {
		if a := ada.do("GET", path, nil); !strings.Contains(string(a.raw), id) {
			t.hole("afterwards what was learnt is gone from %s: %s", path, a)
		}
	}
	t.figure("%d calls over %d operations", calls.Load(), len(all))
}

// scopes are those of access keys, with every route that the document says one
// opens.
var scopes = []string{"chat", "read", "write", "tools", "artifacts", "propose", "mcp"}

// scopesWalls plays every route with a key of every scope: one that the document
// does not open to the scope is refused, before anything is looked for.
func scopesWalls(t *trial, all []operation, calls *counter) {
	for _, scope := range scopes {
		p := t.signUp("keys-" + scope)
		p.token = p.need("POST", "/v1/keys", object{"name": scope, "scopes": []string{scope}}).text("key")
		for _, o := range all {
			if !o.closed || slices.Contains(o.scopes, scope) {
				continue
			}
			calls.Add(1)
			path := strings.NewReplacer("{id}", "00000000-0000-4000-8000-000000000009", "{thread_id}", "00000000-0000-4000-8000-000000000009", "{n}", "1").Replace(o.path)
			a := p.within(10*time.Second, o.method, path, nil)
			if a.status == http.StatusTooManyRequests { // too many refusals: a new person goes on
				next := t.signUp("keys-" + scope)
				p.token = next.need("POST", "/v1/keys", object{"name": scope, "scopes": []string{scope}}).text("key")
				a = p.within(10*time.Second, o.method, path, nil)
			}
			if a.status != http.StatusForbidden || !strings.Contains(string(a.raw), `"key_`) {
				t.tell("by a key of %s %s %s: %s", scope, o.method, o.path, a)
			}
		}
	}
}

// counter counts calls.
type counter = atomic.Int32

// holes are told one at a time.
var telling sync.Mutex

func (t *trial) tell(format string, args ...any) {
	telling.Lock()
	defer telling.Unlock()
	t.hole(format, args...)
}

func nobodysWalls(t *trial, all []operation, theirs belongings, calls *counter) {
	n, own := t.nobody(), 0
	for _, o := range all {
		for _, try := range o.thefts(theirs) {
			calls.Add(1)
			if own++; own%200 == 0 {
				n = t.nobody() // whoever fails too often has to wait
			}
			a := n.do(o.method, try.path, try.bodyOrNil())
			switch {
			case a.err != nil || a.status >= 500:
				t.tell("as nobody %s %s: %s", o.method, o.path, a)
			case o.closed && a.status != http.StatusUnauthorized:
				t.tell("as nobody %s %s with %s: %s", o.method, o.path, try.names, a)
			}
			leaks(t, a, try, theirs)
		}
	}
}

func (f theft) bodyOrNil() any {
	if f.body == nil || f.method == http.MethodGet {
		return nil
	}
	return f.body
}

func strangersWalls(p *person, all []operation, theirs belongings, calls *counter) {
	t := p.t
	began := time.Now()
	for _, o := range all {
		if slices.Contains(ends, o.path) || o.path == "/v1/auth/me" && o.method == "DELETE" {
			continue
		}
		for _, try := range o.thefts(theirs) {
			calls.Add(1)
			a := p.within(10*time.Second, o.method, try.path, try.bodyOrNil())
			if a.status == http.StatusTooManyRequests || a.status == http.StatusUnauthorized && o.closed && p.do("GET", "/v1/auth/me", nil).status == http.StatusUnauthorized {
				p.replace()
				a = p.within(10*time.Second, o.method, try.path, try.bodyOrNil())
			}
			switch {
			case a.err != nil && strings.HasSuffix(o.path, "/events"):
			case a.err != nil || a.broken():
				t.tell("as another %s %s with %s: %s", o.method, o.path, try.names, a)
			case a.ok() && try.names != "" && !harmless(o, try):
				t.tell("as another %s %s with their %s: %s", o.method, o.path, try.names, a)
			}
			leaks(t, a, try, theirs)
		}
	}
	t.figure("%s took %.1f s", p.name, time.Since(began).Seconds())
}

// replace becomes a new stranger of the same kind: the one before is counted.
func (p *person) replace() {
	telling.Lock()
	defer telling.Unlock()
	defer func() { // this is a goroutine of its own
		if failed, ok := recover().(stop); ok {
			p.t.hole("no other stranger can come: %v", failed.err)
		}
	}()
	next := p.t.tenant(p.name, p.tenant)
	p.http, p.token, p.again, p.session, p.id, p.email = next.http, next.token, next.again, next.session, next.id, next.email
}

// harmless are answers of success to a request that names another's thing: it
// reached nothing of theirs.
func harmless(o operation, try theft) bool {
	return try.names == "session_id" || // of one's own cookies
		o.path == "/v1/files" && o.method == http.MethodGet ||
		o.path == "/v1/files/limits"
}

// leaks finds what is another's in an answer.
func leaks(t *trial, a answer, try theft, theirs belongings) {
	raw, _ := json.Marshal(try.body) // ours
	asked := try.path + string(raw)
	for _, word := range theirs.told {
		if strings.Contains(string(a.raw), word) && !strings.Contains(asked, word) {
			t.tell("%s %s tells %q: %s", try.method, try.operation.path, word, a)
		}
	}
}

// surfaceOf is a surface that speaks the protocol of a path.
func surfaceOf(path string) string {
	for _, way := range []string{"/chat", "/chat-stream", "/clear", "/history"} {
		if strings.HasSuffix(path, "{surface}"+way) {
			return "claude"
		}
	}
	return "paliadin"
}
