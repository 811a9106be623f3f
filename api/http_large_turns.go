package api

import (
	"context"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/quota"
)

// largeBody is from what size on, in bytes, requests of one person take turns.
// Below it, the request costs more than what is in it.
const largeBody = 64 << 10

// largeAtOnce is how many of them are read, checked and stored at once: half of
// the processors stay for everybody else.
func largeAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// inTurn bounds how many large bodies a person sends, or a stranger's address,
// and lets each in when it is its turn among theirs. The turn ends with the
// answer, or where a handler begins to wait for a run.
func (s *server) inTurn(ctx huma.Context, next func(huma.Context)) {
	req := requestOf(ctx.Context())
	if r := req.raw; r == nil || !hasBody(r) || r.ContentLength >= 0 && r.ContentLength < largeBody {
		next(ctx)
		return
	}
	who := req.caller()
	if err := s.Limits.Spend(ctx.Context(), quota.LargeBodies(), who); err != nil {
		s.writeFailure(ctx, err)
		return
	}
	// Nobody notices that a client has left before its body has been read.
	within, cancel := context.WithTimeout(ctx.Context(), s.deadlines.json)
	leave, err := s.large.Enter(within, who)
	if cancel(); err != nil {
		s.writeFailure(ctx, fault.New(fault.RateLimited, "Others of your large requests are still coming in. Wait for one to end, and send this one again."))
		return
	}
	defer leave()
	req.release = leave
	next(ctx)
}
