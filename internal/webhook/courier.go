package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/vault"
)

const (
	// timeout bounds one request, with its answer.
	timeout = 15 * time.Second
	// lease is how long a courier has for one delivery; afterwards another sends it.
	lease = time.Minute
	// maxAnswer is how much of an answer is read: a connection is of no more use then.
	maxAnswer = 16 << 10
	// sending is how many deliveries a courier sends at a time.
	sending = 16
	// spreading is how many events become deliveries in one transaction.
	spreading = 100
	// pruning is how long a courier waits between two looks at what is old.
	pruning = time.Hour
)

// agent is how requests introduce themselves.
const agent = "Liminal-Webhooks/1"

// CourierOptions are what a courier stands on; all but Logger, Now and Every are
// required.
type CourierOptions struct {
	Queue     Queue
	Vault     *vault.Vault
	HTTP      *http.Client // past the guard of addresses, following nothing; nil: nothing is reached
	Mail      identity.Mail
	PublicURL string // where people find the pages, without a slash at its end
	Logger    *slog.Logger
	Now       func() time.Time
	Every     time.Duration // between two looks for work; 0: a second
}

// Courier sends what is due. Any number of them, in any number of processes, share a
// queue.
type Courier struct {
	o     CourierOptions
	slots chan struct{}
}

// NewCourier makes one.
func NewCourier(o CourierOptions) *Courier {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.HTTP != nil {
		own := *o.HTTP
		own.Timeout = timeout
		o.HTTP = &own
	}
	return &Courier{o: o, slots: make(chan struct{}, sending)}
}

// Run works until ctx ends, and returns once nothing is on its way any more. What
// is cut off by the end is sent again, by whoever claims it next.
func (c *Courier) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	var pruned time.Time
	tick := time.NewTicker(c.o.Every)
	defer tick.Stop()
	for {
		if now := c.o.Now(); now.Sub(pruned) >= pruning {
			pruned = now
			if _, err := c.o.Queue.Prune(ctx, identity.System(), now.Add(-KeepFor)); err != nil {
				c.complain(ctx, "old deliveries of webhooks are not forgotten yet", err)
			}
		}
		if err := c.pass(ctx, &all); err != nil {
			c.complain(ctx, "webhooks cannot be sent now", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (c *Courier) complain(ctx context.Context, what string, err error, args ...any) {
	if ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, what, append(args, "error", err)...)
	}
}

// pass begins to send what is due, as far as there is room, and does not wait for
// it: one receiver that is slow holds up nobody else.
func (c *Courier) pass(ctx context.Context, all *sync.WaitGroup) error {
	system := identity.System()
	due, err := c.o.Queue.Due(ctx, system)
	if err != nil || !due {
		return err
	}
	for {
		n, err := c.o.Queue.Spread(ctx, system, spreading)
		if err != nil {
			return err
		}
		if n < spreading {
			break
		}
	}
	room := cap(c.slots) - len(c.slots)
	if room == 0 {
		return nil
	}
	jobs, err := c.o.Queue.Claim(ctx, system, room, lease)
	for _, j := range jobs {
		c.slots <- struct{}{} // there is room
		all.Go(func() {
			defer func() { <-c.slots }()
			c.deliver(ctx, j)
		})
	}
	return err
}

// deliver makes one attempt and writes what came of it.
func (c *Courier) deliver(ctx context.Context, j Job) {
	o, err := c.attempt(ctx, j)
	if ctx.Err() != nil {
		return // it was cut off; its lease runs out
	}
	if err != nil {
		c.complain(ctx, "a webhook was not sent, by a fault of ours", err, "delivery", j.ID)
		o = c.later(j, Outcome{Error: "ours"}, 0)
	}
	off, err := c.o.Queue.Settle(ctx, identity.System(), j, o)
	if err != nil {
		c.complain(ctx, "what came of a webhook is not written; it is sent again", err, "delivery", j.ID)
		return
	}
	if off {
		c.tellOff(ctx, j)
	}
}

// later is an outcome of a failure: to be tried again, or for good.
func (c *Courier) later(j Job, o Outcome, asked time.Duration) Outcome {
	wait, again := pause(j.Attempts, asked)
	o.Status = Failed
	if again && !o.Gone {
		o.Status, o.NextAt = Waiting, c.o.Now().Add(wait)
	}
	return o
}

func (c *Courier) attempt(ctx context.Context, j Job) (Outcome, error) {
	if !allowed(j) {
		return Outcome{Status: Skipped, Error: "not_allowed"}, nil
	}
	var told Subject
	if !id.Unkept(j.Event.RunID) && (j.Event.Kind == QuestionWaiting || j.Event.Kind == RunFailed) || j.Endpoint.Channel == Mail && j.Event.Kind == QuestionWaiting {
		var err error
		if told, err = c.o.Queue.Subject(ctx, identity.System(), j.Event); err != nil {
			return Outcome{}, err
		}
	}
	if j.Endpoint.Channel == Mail {
		return c.write(ctx, j, told), nil
	}
	return c.post(ctx, j, told)
}

// allowed reports whether an endpoint may be told still.
func allowed(j Job) bool {
	return j.Endpoint.On && !j.Endpoint.KeyEnded && j.Person.Active && (j.Endpoint.TenantID == "" || j.Person.Role == identity.RoleAdmin && j.Person.TenantID == j.Endpoint.TenantID)
}

// post sends a signed request.
func (c *Courier) post(ctx context.Context, j Job, told Subject) (Outcome, error) {
	if c.o.HTTP == nil {
		return c.later(j, Outcome{Error: "closed"}, 0), nil
	}
	body, err := payload(j.Event, j.Endpoint.TenantID != "", told, c.o.PublicURL).body()
	if err != nil {
		return Outcome{}, err
	}
	keys, err := open(c.o.Vault, j.Endpoint)
	if err != nil {
		return Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.Endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return Outcome{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", agent)
	keys.sign(req.Header, j.ID, body, c.o.Now())
	res, err := c.o.HTTP.Do(req)
	if err != nil {
		return c.later(j, Outcome{Error: unsent(err)}, 0), nil
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // the status is the answer
	if res.StatusCode >= http.StatusOK && res.StatusCode < http.StatusMultipleChoices {
		return Outcome{Status: Sent, Code: res.StatusCode}, nil
	}
	return c.later(j, Outcome{Code: res.StatusCode, Error: "status", Gone: res.StatusCode == http.StatusGone}, askedToWait(res.StatusCode, res.Header)), nil
}

// unsent is why there was no answer, in a word: of the rest no more is told than the
// kind, since a person chose the address.
func unsent(err error) string {
	if errors.Is(err, fault.Forbidden) || errors.Is(err, fault.Invalid) { // of our own guard
		return "closed"
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return "timeout"
	}
	return "unreachable"
}

// write sends a letter about an event.
func (c *Courier) write(ctx context.Context, j Job, told Subject) Outcome {
	switch {
	case j.Event.Kind == QuestionWaiting && (told.Question == nil || told.Question.Status != run.Pending):
		return Outcome{Status: Skipped, Error: "answered"}
	case j.Person.Unverified || j.Person.Email == "":
		return Outcome{Status: Skipped, Error: "no_address"}
	}
	if err := c.o.Mail.Send(ctx, letter(j, told, c.o.PublicURL)); err != nil {
		c.complain(ctx, "a letter about a run was not sent", err, "delivery", j.ID)
		return c.later(j, Outcome{Error: "mail"}, 0)
	}
	return Outcome{Status: Sent}
}

// tellOff writes to a person whose endpoint was turned off.
func (c *Courier) tellOff(ctx context.Context, j Job) {
	if j.Endpoint.Channel == Mail || j.Person.Unverified || j.Person.Email == "" {
		return
	}
	if err := c.o.Mail.Send(ctx, offLetter(j, c.o.PublicURL)); err != nil {
		c.complain(ctx, "a person was not told that their webhook is off", err, "webhook", j.EndpointID)
	}
}
