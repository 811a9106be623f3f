package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/stream"
)

func TestQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Base: 1000})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h.Append(ctx, "r", stream.Event{Kind: stream.Status, Data: json.RawMessage("{}")})
		go func() {
			for i := range 5 {
				time.Sleep(time.Second)
				h.Append(ctx, "r", stream.Event{Kind: stream.Token, Attempt: 1, Data: json.RawMessage(fmt.Sprintf("%q", fmt.Sprint(i)))})
			}
			h.Append(ctx, "r", stream.Event{Kind: stream.MessageDone, Key: "end"})
			h.Finish(ctx, "r", time.Minute)
		}()
		for e := range h.Follow(ctx, "r", 0) {
			t.Log(e.Seq, e.Kind, string(e.Data))
		}
		for e := range h.Follow(ctx, "r", 1004) {
			t.Log(e.Seq, e.Kind, string(e.Data))
		}
		h.Close()
	})
}
