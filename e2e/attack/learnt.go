package main

import (
	"fmt"
	"time"
)

// alike is how many answers somebody gets to one question before they have a
// situation: the clusterer asks for five.
const alike = 6

// learnt has a person say of answers that they are too long, and gives an event
// of theirs, the lesson that was read out of it and the situation it is in.
func (p *person) learnt() (event, lesson, cluster, adapter string) {
	for range alike {
		turn := p.need("POST", "/v1/chat", object{"message": "hello", "stream": false})
		said := p.need("POST", "/v1/preferences", object{
			"conversation_id": turn.text("conversation_id"), "message_id": turn.text("message_id"), "signal": "dislike", "notes": "too long",
		})
		preference, _ := said.data["preference"].(object)
		event = fmt.Sprint(preference["id"])
	}
	p.do("POST", "/v1/learning/run", nil) // refused where it has begun by itself
	p.t.wait(30*time.Second, func() bool {
		lesson = firstID(p.need("GET", "/v1/learning", nil).data["lessons"])
		cluster = firstID(p.need("GET", "/v1/clusters", nil).data["data"])
		adapter = firstID(p.need("GET", "/v1/adapters", nil).data["data"])
		return lesson != "" && cluster != "" && adapter != ""
	})
	return event, lesson, cluster, adapter
}

// firstID is the id of the first of a list of things; empty: there is none.
func firstID(list any) string {
	all, _ := list.([]any)
	if len(all) == 0 {
		return ""
	}
	one, _ := all[0].(object)
	id, _ := one["id"].(string)
	return id
}
