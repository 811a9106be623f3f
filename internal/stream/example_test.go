package stream_test

import (
	"context"
	"fmt"
	"time"

	"liminal/internal/inproc"
	"liminal/internal/stream"
)

// A run's log is written by whoever runs it and followed by any number of
// readers. A reader that lost its connection says the last Seq it saw and misses
// nothing.
func ExampleLog() {
	ctx := context.Background()
	var log stream.Log = inproc.New(inproc.Options{})
	var events []stream.Event
	for _, data := range []stream.Payload{
		stream.TokenData("It is "), stream.TokenData("three months."),
		stream.MessageDoneData{RunID: "r", Content: "It is three months."},
	} {
		e, err := stream.New("answer", data)
		if err != nil {
			fmt.Println(err)
			return
		}
		events = append(events, e)
	}
	if _, err := log.Append(ctx, "r", events...); err != nil {
		fmt.Println(err)
		return
	}
	if err := log.Finish(ctx, "r", time.Minute); err != nil {
		fmt.Println(err)
		return
	}

	var seen int64 // the reader leaves after the first piece …
	for e, err := range log.Follow(ctx, "r", 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		seen = e.Seq
		break
	}
	for e, err := range log.Follow(ctx, "r", seen) { // … and comes back
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Kind, e.Kind.Ends(), string(e.Data))
	}
	// Output:
	// token false "three months."
	// message_done true {"run_id":"r","content":"It is three months."}
}

// Read gives an event's data as the type of its kind. It takes what it can of
// what another version of the program wrote.
func ExampleRead() {
	e, err := stream.New("search", stream.StatusData{Message: "Looking through the documents"})
	if err != nil {
		fmt.Println(err)
		return
	}
	switch e.Kind {
	case stream.Status:
		data, ok := stream.Read[stream.StatusData](e.Data)
		fmt.Println(e.Node, data.Message, ok)
	}
	// Output:
	// search Looking through the documents true
}
