package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Person is somebody who chats, uploads and answers, in several windows at
// once.
type Person struct {
	*Client
	seed  uint64
	flows map[string]string // kind of turn → workflow
	files string            // their context

	mu      sync.Mutex
	turns   []*Turn
	uploads []*Upload
	open    []*Turn   // questions left for later
	next    int       // of markers
	cut     time.Time // when their model broke off last
}

// thread is a conversation somebody has open in a window.
type thread struct {
	id    string
	order int // questions accepted in it
}

func newPerson(c *Client, seed uint64) *Person {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.name)) // a hash takes everything
	return &Person{Client: c, seed: seed ^ h.Sum64(), flows: map[string]string{}}
}

func (p *Person) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, stream)) } //nolint:gosec // must be repeatable

// settle makes what a person needs before they begin.
func (p *Person) settle(ctx context.Context) error {
	if err := p.signUp(ctx); err != nil {
		return err
	}
	all := graphs()
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		body := object{"type": "workflow", "name": p.name + "-" + kind, "schema": all[kind]}
		data, err := p.insist(ctx, asJSON("POST", "/v1/artifacts", p.name+"-"+kind, body))
		if err != nil {
			return fmt.Errorf("%s makes workflow %s: %w", p.name, kind, err)
		}
		p.flows[kind], _ = data["id"].(string)
	}
	data, err := p.insist(ctx, asJSON("POST", "/v1/contexts", "", object{"name": "Files of " + p.name}))
	if err != nil {
		return fmt.Errorf("%s makes a context: %w", p.name, err)
	}
	p.files, _ = data["id"].(string)
	return nil
}

// study uploads a first file and waits until it is read, so that there is
// something to ask about.
func (p *Person) study(ctx context.Context) error {
	p.upload(ctx, p.random(3000), 0)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		data, err := p.insist(ctx, asJSON("GET", "/v1/documents/"+p.uploads[0].Document, "", nil))
		if err != nil {
			return fmt.Errorf("the first file of %s is not read: %w", p.name, err)
		}
		if data["status"] == "ready" {
			return nil
		}
		pause(ctx, again)
	}
}

func (p *Person) marker() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return fmt.Sprintf("mk-%s-%04d", p.name, p.next)
}

// chat has conversations until stop is closed.
func (p *Person) chat(ctx context.Context, window uint64, stop <-chan struct{}) {
	r := p.random(window)
	at := &thread{}
	for !closed(stop) && ctx.Err() == nil {
		if r.IntN(4) == 0 {
			at = &thread{}
		}
		kind := p.choose(r)
		if left := p.playTurn(ctx, r, at, kind); left {
			at = &thread{} // a new turn here would give the question up
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// choose is what somebody does next. Only the first person's model breaks off
// and only the second's falls silent: a tool that fails five times within a
// minute rests for everybody, as it should, and then there is no load.
func (p *Person) choose(r *rand.Rand) string {
	deck := []string{
		kindPlain, kindPlain, kindPlain, kindPlain, kindStream, kindStream, kindDirect, kindCancel,
		kindQuestion, kindQuestion, kindQuestion, kindDocument, kindDocument, kindQueue, kindQueue, kindPlain,
	}
	switch p.name {
	case "p1":
		deck[0] = kindCut
	case "p2":
		deck[0] = kindHang
	}
	kind := deck[r.IntN(len(deck))]
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == kindCut && time.Since(p.cut) < cutEvery {
		return kindPlain
	}
	if kind == kindCut {
		p.cut = time.Now()
	}
	return kind
}

// cutEvery is how seldom a model breaks off.
const cutEvery = 20 * time.Second

// playTurn is one turn from the question to the end of what comes of it. It
// reports true when a question of it stays open.
func (p *Person) playTurn(ctx context.Context, r *rand.Rand, at *thread, kind string) (left bool) {
	if kind == kindQueue {
		p.pair(ctx, r, at)
		return false
	}
	t := p.ask(ctx, r, at, kind, nil)
	if t == nil || !t.accepted() || t.Direct != nil {
		return false
	}
	return p.attend(ctx, r, t)
}

// pair asks twice without waiting in between: the second queues.
func (p *Person) pair(ctx context.Context, r *rand.Rand, at *thread) {
	first := p.ask(ctx, r, at, kindPlain, nil)
	if first == nil || !first.accepted() {
		return
	}
	second := p.ask(ctx, r, at, kindQueue, object{"multitask": "enqueue"})
	seed := r.Uint64()
	var wg sync.WaitGroup
	if second != nil && second.accepted() {
		wg.Go(func() { p.attend(ctx, rand.New(rand.NewPCG(seed, 1)), second) }) //nolint:gosec // must be repeatable
	}
	p.attend(ctx, r, first)
	wg.Wait()
}

// ask sends a question until the platform has taken it or refused it for good.
func (p *Person) ask(ctx context.Context, r *rand.Rand, at *thread, kind string, more object) *Turn {
	t := &Turn{Person: p.name, Kind: kind, Marker: p.marker(), Key: uuid(r), Asked: time.Now()}
	t.Message = p.words(r, t)
	body := object{"message": t.Message, "stream": kind != kindDirect, "workflow_id": p.flow(kind), "context_ids": []string{}}
	if kind == kindDocument {
		body["context_ids"] = []string{p.files}
	}
	if at.id != "" {
		body["conversation_id"] = at.id
	}
	maps.Copy(body, more)
	req := asJSON("POST", "/v1/chat", t.Key, body)
	if r.IntN(2) == 0 { // the other way to name it
		body["client_request_id"] = t.Key
		req = asJSON("POST", "/v1/chat", "", body)
	}
	req.tries = &t.Tries
	p.mu.Lock()
	p.turns = append(p.turns, t)
	p.mu.Unlock()
	if kind == kindStream {
		p.stream(ctx, t, at, req)
		return t
	}
	data, err := p.impatiently(ctx, r, t, req)
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		t.Refused = refused.Error()
		p.tally.count("turns refused: " + refused.reason())
		*at = thread{}
	}
	if err != nil {
		return nil
	}
	p.accept(t, at, data)
	return t
}

// stream asks with a request that streams its answer itself.
func (p *Person) stream(ctx context.Context, t *Turn, at *thread, req request) {
	reader := &Reader{Name: "first"}
	was, err := p.listen(ctx, t, reader, req)
	if err != nil {
		*at = thread{}
		return
	}
	t.Readers = append(t.Readers, reader)
	p.accept(t, at, object{"run_id": was.run, "conversation_id": was.conversation})
}

// accept writes down what the platform promised.
func (p *Person) accept(t *Turn, at *thread, data object) {
	t.Run, _ = data["run_id"].(string)
	t.Conversation, _ = data["conversation_id"].(string)
	t.UserMessage, _ = data["user_message_id"].(string)
	if text, ok := data["content"].(string); ok && t.Kind == kindDirect {
		t.Direct = &text
	}
	at.id = t.Conversation
	at.order++
	t.Order = at.order
}

// impatiently sends a request, and one time in eight the same once more at the
// same moment, as somebody does who clicks twice.
func (p *Person) impatiently(ctx context.Context, r *rand.Rand, t *Turn, req request) (object, error) {
	if r.IntN(8) > 0 {
		return p.patiently(ctx, req)
	}
	second, tries := req, 0
	second.tries = &tries
	twin := make(chan string, 1)
	go func() {
		data, _ := p.patiently(ctx, second) // the first one says what became of it
		run, _ := data["run_id"].(string)
		twin <- run
	}()
	data, err := p.patiently(ctx, req)
	t.Twin = <-twin
	t.Tries += tries
	return data, err
}

// patiently is insist for a conversation that is busy with the turn before,
// or a person with too many: that passes.
func (p *Person) patiently(ctx context.Context, req request) (object, error) {
	const most = 90 // a request's claim on its key may outlive its process by 30 s
	for range most {
		data, err := p.insist(ctx, req)
		refused := (*Refusal)(nil)
		if !errors.As(err, &refused) || refused.Status != 409 {
			return data, err
		}
		p.tally.count("requests told it is busy: " + refused.reason())
		if !pause(ctx, 500*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
	return nil, &Refusal{Status: 409, Code: "conflict", Message: "busy for 45 s", Details: object{"reason": "busy for 45 s"}}
}

func (p *Person) flow(kind string) string {
	if id := p.flows[kind]; id != "" {
		return id
	}
	return p.flows[kindPlain]
}

// words is what a person says in a turn of a kind.
func (p *Person) words(r *rand.Rand, t *Turn) string {
	switch t.Kind {
	case kindCut:
		return fmt.Sprintf("By cut-%03d. tell me about %s", r.IntN(cuts), t.Marker)
	case kindHang:
		return "By hang-now tell me about " + t.Marker
	case kindDocument:
		return "What is the code word of the report? " + t.Marker
	default:
		return "Tell me about " + t.Marker
	}
}

// attend follows a turn with one or two readers and does what its kind says.
func (p *Person) attend(ctx context.Context, r *rand.Rand, t *Turn) (left bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	if t.Kind == kindCancel {
		after := time.Duration(300+r.IntN(900)) * time.Millisecond
		wg.Go(func() { p.cancel(ctx, t, after) })
	}
	if r.IntN(6) == 0 && t.Kind != kindQuestion {
		second := &Reader{Name: "second"}
		t.Readers = append(t.Readers, second)
		ways := leaving(r)
		wg.Go(func() { p.follow(ctx, t.Run, second, ways) })
	}
	if t.Kind == kindStream {
		if first := t.Readers[0]; first.end() == nil { // it broke off
			p.follow(ctx, t.Run, first, leaving(r))
		}
		return false
	}
	first := &Reader{Name: "first"}
	t.Readers = append(t.Readers, first)
	end := p.follow(ctx, t.Run, first, leaving(r))
	if end == nil || end.Kind != "paused" {
		return false
	}
	if r.IntN(3) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.open = append(p.open, t)
		return true
	}
	_ = pause(ctx, time.Duration(r.IntN(2500))*time.Millisecond) // they think
	p.reply(ctx, r, t, leaving(r))
	return false
}

// leaving is how a reader reads: a third of them vanish in the middle.
func leaving(r *rand.Rand) manners {
	after, away := 2+r.IntN(14), time.Duration(300+r.IntN(2500))*time.Millisecond
	if r.IntN(3) > 0 {
		return manners{}
	}
	return manners{leaveAfter: after, away: away}
}

// cancel stops a turn in the middle.
func (p *Person) cancel(ctx context.Context, t *Turn, after time.Duration) {
	if !pause(ctx, after) {
		return
	}
	t.CancelSent = true
	if _, err := p.insist(ctx, asJSON("POST", "/v1/chat/cancel", "", object{"run_id": t.Run})); err == nil {
		t.CancelTaken = true
	}
}

// reply answers the question a turn waits with, and follows it to its end. A
// reply of unknown fate is sent again: the platform must take one of them.
func (p *Person) reply(ctx context.Context, r *rand.Rand, t *Turn, ways manners) {
	reader := t.Readers[len(t.Readers)-1]
	id := asked(reader)
	if id == "" {
		return
	}
	rivals := 1
	if r.IntN(4) == 0 {
		rivals = 2 // answered in two windows at once
	}
	var wg sync.WaitGroup
	for n := range rivals {
		a := &Reply{Interrupt: id, Marker: fmt.Sprintf("rp-%s-%d-%d", strings.TrimPrefix(t.Marker, "mk-"), n, r.IntN(1000))}
		t.Replies = append(t.Replies, a)
		wg.Go(func() { p.answer(ctx, a, rivals == 1) })
	}
	wg.Wait()
	p.follow(ctx, t.Run, reader, ways)
}

// answer sends one reply until the platform has taken or refused it.
func (p *Person) answer(ctx context.Context, a *Reply, alone bool) {
	req := asJSON("POST", "/v1/chat/resume", "", object{"interrupt_id": a.Interrupt, "resume_value": object{"type": "text_input", "value": "like " + a.Marker}})
	req.tries = &a.Tries
	_, err := p.insist(ctx, req)
	refused := (*Refusal)(nil)
	switch {
	case err == nil:
		a.Taken = true
	case errors.As(err, &refused) && refused.Status == 409 && a.Tries > 1:
		a.Taken = alone // an earlier try of ours, or the rival: nobody can tell
	case errors.As(err, &refused):
		a.Refused = refused.Error()
	}
}

// asked is the question a reader was left with.
func asked(r *Reader) string {
	all := r.events()
	for _, e := range slices.Backward(all) {
		if e.Kind == "interrupt" {
			return e.field("interrupt_id")
		}
	}
	return ""
}

// later answers half of the questions left open.
func (p *Person) later(ctx context.Context) {
	p.mu.Lock()
	left := slices.Clone(p.open)
	p.mu.Unlock()
	r := p.random(1000)
	for i, t := range left {
		if i%2 == 0 {
			p.reply(ctx, r, t, leaving(r))
		}
	}
}

// bring uploads a file every now and then until stop is closed.
func (p *Person) bring(ctx context.Context, stop <-chan struct{}) {
	r := p.random(2000)
	for n := 1; !closed(stop) && ctx.Err() == nil; n++ {
		p.upload(ctx, r, n)
		wait, cancel := context.WithCancel(ctx)
		go func() {
			select {
			case <-stop:
			case <-wait.Done():
			}
			cancel()
		}()
		pause(wait, time.Duration(8+r.IntN(12))*time.Second)
		cancel()
	}
}

// upload sends a file until it is acknowledged, at most thrice: a file has no
// key, so each try may be one.
func (p *Person) upload(ctx context.Context, r *rand.Rand, n int) {
	const most = 3
	content := p.report(r, n)
	sum := sha256.Sum256(content)
	u := &Upload{Person: p.name, Name: fmt.Sprintf("report-%s-%d.md", p.name, n), SHA256: hex.EncodeToString(sum[:])}
	p.mu.Lock()
	p.uploads = append(p.uploads, u)
	p.mu.Unlock()
	req := form(u.Name, content, object{"context_id": p.files})
	req.tries = &u.Tries
	for range most {
		data, refused, err := p.once(ctx, req)
		if err == nil && refused == nil {
			u.acknowledged(data)
			return
		}
		p.tally.count("uploads sent again")
		if !pause(ctx, time.Second) {
			return
		}
	}
}

func (u *Upload) acknowledged(data object) {
	file, _ := data["file"].(object)
	document, _ := data["document"].(object)
	u.Path, _ = file["path"].(string)
	u.Document, _ = document["id"].(string)
	u.Run, _ = data["run_id"].(string)
}

// report is a document of some pages with a code word in it.
func (p *Person) report(r *rand.Rand, n int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Report %d of %s\n\nThe code word of the report is codeword-%s-%d-%d.\n\n", n, p.name, p.name, n, r.IntN(10_000))
	for i := range 20 + r.IntN(400) {
		fmt.Fprintf(&b, "Entry %d of this report names the vessel %d and its master.\n\n", i, r.IntN(20_000))
	}
	return []byte(b.String())
}
