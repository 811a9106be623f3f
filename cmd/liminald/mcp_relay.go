package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// relay carries messages both ways between a program that started us and a server,
// until the program ends. A server that was started anew has forgotten the session;
// the program, which began it once and for all, is not asked to know of that.
type relay struct {
	near mcp.Connection
	dial func(ctx context.Context) (mcp.Connection, error)
	log  io.Writer

	far   mcp.Connection   // with the session of now; run's own
	hello *jsonrpc.Request // what began it; nil: nothing, or the protocol has no sessions
	back  chan error
}

// greets is how long a server may take to begin a session.
const greets = 30 * time.Second

// neverSent is the code by which the protocol's library says that a message did not
// arrive.
const neverSent = -32005

func (r *relay) run(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if r.far, err = r.dial(ctx); err != nil {
		return err
	}
	r.back = make(chan error, 1)
	go r.listen(ctx, r.far)
	there := make(chan error, 1)
	go func() { there <- r.carry(ctx) }()
	select {
	case err = <-there:
		_ = r.far.Close() // the session ends by itself as well
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case err = <-r.back:
		return fmt.Errorf("the connection to the server ended: %w", err)
	}
}

// listen hands on what a session says, until it is gone: what is sent next begins
// another.
func (r *relay) listen(ctx context.Context, far mcp.Connection) {
	for {
		msg, err := far.Read(ctx)
		if errors.Is(err, mcp.ErrSessionMissing) {
			return
		}
		if err == nil {
			err = r.near.Write(ctx, msg)
		}
		if err != nil {
			select {
			case r.back <- err:
			default: // it has ended for another reason
			}
			return
		}
	}
}

// carry hands on what the program says. What does not reach the server is answered in
// its place.
func (r *relay) carry(ctx context.Context) error {
	for {
		msg, err := r.near.Read(ctx)
		if err != nil {
			return err
		}
		err = r.send(ctx, msg)
		if err == nil || ctx.Err() != nil {
			continue
		}
		why := (*jsonrpc.Error)(nil)
		if !errors.As(err, &why) || why.Code == neverSent { // not the server's own words
			fmt.Fprintln(r.log, "liminald mcp:", err)
			why = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The server did not take this: " + err.Error()}
		}
		if call, ok := msg.(*jsonrpc.Request); ok && call.IsCall() {
			if err := r.near.Write(ctx, &jsonrpc.Response{ID: call.ID, Error: why}); err != nil {
				return err
			}
		}
	}
}

// send sends a message, in a new session where the one before is gone: nothing was done
// with it there.
func (r *relay) send(ctx context.Context, msg jsonrpc.Message) error {
	call, _ := msg.(*jsonrpc.Request)
	if call != nil && call.Method == "initialize" {
		r.hello = call
	}
	err := r.far.Write(ctx, msg)
	if !errors.Is(err, mcp.ErrSessionMissing) || r.hello == nil {
		return err
	}
	if err := r.again(ctx); err != nil {
		return fmt.Errorf("the server has forgotten the session, and another could not begin: %w", err)
	}
	fmt.Fprintln(r.log, "liminald mcp: the server had forgotten the session, and goes on in another")
	if call == nil { // it answers what was asked in the one that is gone
		return nil
	}
	return r.far.Write(ctx, msg)
}

// again begins a session as the program began its own.
func (r *relay) again(ctx context.Context) error {
	far, err := r.dial(ctx)
	if err != nil {
		return err
	}
	greeting, stop := context.WithTimeout(ctx, greets)
	defer stop()
	if err := r.greet(greeting, far); err != nil {
		_ = far.Close() // it was never used
		return err
	}
	_ = r.far.Close() // there is nothing to end
	r.far = far
	go r.listen(ctx, far)
	return nil
}

func (r *relay) greet(ctx context.Context, far mcp.Connection) error {
	hello := *r.hello
	var err error
	if hello.ID, err = jsonrpc.MakeID("liminald again"); err != nil {
		return err
	}
	if err := far.Write(ctx, &hello); err != nil {
		return err
	}
	for {
		msg, err := far.Read(ctx)
		if err != nil {
			return err
		}
		answer, ok := msg.(*jsonrpc.Response)
		if !ok || answer.ID != hello.ID {
			continue // nobody waits for it yet
		}
		if answer.Error != nil {
			return answer.Error
		}
		return far.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized", Params: json.RawMessage("{}")})
	}
}
