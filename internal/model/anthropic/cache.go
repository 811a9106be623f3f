package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"liminal/internal/model"
)

// worthCaching is how much a request says before it pays to have it kept, in
// characters: providers keep nothing shorter than some 1,000 tokens, and what
// is kept costs a quarter more the first time.
const worthCaching = 4096

// cache marks up to where the beginning of the request will be the same next
// time: the tools, the system text, and the last message that will be sent
// again.
func (q *question) cache(req model.Request) {
	if q.size < worthCaching {
		return
	}
	mark := sdk.NewCacheControlEphemeralParam()
	if n := len(q.params.Tools); n > 0 {
		*q.params.Tools[n-1].GetCacheControl() = mark
	}
	if n := len(q.params.System); n > 0 {
		q.params.System[n-1].CacheControl = mark
	}
	if stable := stable(req, len(q.params.Messages)); stable >= 0 {
		for _, block := range slices.Backward(q.params.Messages[stable].Content) {
			if at := block.GetCacheControl(); at != nil { // thoughts have none
				*at = mark
				break
			}
		}
	}
}

// stable is the place of the last message that the next request repeats, of n;
// -1 when there is none. A loop with tools repeats all of it, a conversation
// what was said before the question: passages are found anew for each.
func stable(req model.Request, n int) int {
	if req.Task == "agent" || len(req.Tools) > 0 {
		return n - 1
	}
	return n - 2
}
