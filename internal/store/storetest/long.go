package storetest

import (
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
)

// LongTalk measures a conversation of 10,000 messages: what a client reads of
// it when it opens one, and what the rarer acts on all of it cost.
func LongTalk(b *testing.B, open Open) {
	s := open(b, unlimited).Store
	v := person(b, s)
	talk, first, last := id.New(), "", ""
	text := strings.Repeat("Pets are welcome, says the lease in § 4, as long as they are small. ", 8)
	for turn := range 100 {
		a := accept(b, s, v, chat.NewTurn{ConversationID: talk, Message: text})
		end := answer(a.Run.ID, text)
		for i := range 98 {
			end.Notices = append(end.Notices, chat.Message{Role: []string{"system", "user"}[i%2], Content: text})
		}
		closeTurn(b, s, v, end)
		if last = a.MessageID; turn == 0 {
			first = last
		}
	}
	read := func(name string, r chat.MessageRange, n int) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p := got(s.MessagePage(b.Context(), v, talk, r))(b); len(p.Messages) != n {
					b.Fatalf("%d messages", len(p.Messages))
				}
			}
		})
	}
	end := got(s.MessagePage(b.Context(), v, talk, chat.MessageRange{Latest: true, Limit: 60}))(b)
	middle := chat.MessageRange{Before: end.Earlier, Limit: 60}
	for range 50 {
		middle.Before = got(s.MessagePage(b.Context(), v, talk, middle))(b).Earlier
	}
	read("latest60", chat.MessageRange{Latest: true, Limit: 60}, 60)
	read("before60", middle, 60)
	read("first60", chat.MessageRange{Limit: 60}, 60)
	b.Run("branch", func(b *testing.B) {
		for b.Loop() {
			got(s.Branch(b.Context(), v, talk, last, id.New()))(b)
		}
	})
	a := accept(b, s, v, chat.NewTurn{ConversationID: talk, Message: "anew", Replaces: first})
	closeTurn(b, s, v, answer(a.Run.ID, "!"))
	versions := []string{first, a.MessageID}
	i := 0
	b.Run("show", func(b *testing.B) {
		for b.Loop() {
			need(b, s.ShowVersion(b.Context(), v, talk, versions[i%2]))
			i++
		}
	})
	need(b, s.ShowVersion(b.Context(), v, talk, first))
	read("latest60-with-versions", chat.MessageRange{Latest: true, Limit: 60}, 60)
}
