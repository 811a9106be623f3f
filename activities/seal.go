package activities

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"go.temporal.io/sdk/activity"

	"liminal/internal/fault"
)

// Seals prove that what Temporal hands to a worker was written by a process of
// this installation. Whoever reaches Temporal's frontend can start a workflow
// and schedule an activity with any input, and an input says on whose behalf
// it is; so inputs carry a MAC under the installation's key.
//
// A seal is a pure function of a key that never changes and of what it covers:
// workflow code may make and check one, and still does the same at each replay.
// nil neither seals nor checks; a replay of histories needs no key.
type Seals struct {
	starts, calls []byte
	since         time.Time
}

// sealVersion begins every seal, so that what it covers can change.
const sealVersion = "1."

// NewSeals derives the keys of seals from a secret that all processes of the
// installation share. What began before since may be without a seal: it was
// written by a version that made none.
func NewSeals(secret []byte, since time.Time) (*Seals, error) {
	starts, err := hkdf.Key(sha256.New, secret, nil, "liminal workflow start", sha256.Size)
	if err != nil {
		return nil, err
	}
	calls, err := hkdf.Key(sha256.New, secret, nil, "liminal activity call", sha256.Size)
	return &Seals{starts: starts, calls: calls, since: since}, err
}

// Start is the seal of the input that an execution is begun with: the run, on
// whose behalf, what a parent hands to a child, and what is carried over from
// an earlier execution, as JSON. It holds for one workflow id.
func (s *Seals) Start(workflowID string, in RunInput, carried []byte) (string, error) {
	if s == nil {
		return "", nil
	}
	var child []byte
	if in.Child != nil {
		var err error
		if child, err = in.Child.written(); err != nil {
			return "", err
		}
	}
	in.Child, in.Seal, in.Direct = nil, "", false
	run, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	return seal(s.starts, []byte(workflowID), run, child, carried), nil
}

// Admit refuses an execution that nobody here began. began is when the server
// took it, which no caller chooses.
func (s *Seals) Admit(workflowID string, began time.Time, in RunInput, carried []byte) error {
	if s == nil || in.Seal == "" && began.Before(s.since) {
		return nil
	}
	want, err := s.Start(workflowID, in, carried)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(in.Seal)) {
		return fault.New(fault.Forbidden, "The run was not begun by this installation; begin it by its API.")
	}
	return nil
}

// Call is the seal of a call that travels through a task queue, made by the
// workflow of that id.
func (s *Seals) Call(workflowID string, in CallInput) (string, error) {
	if s == nil {
		return "", nil
	}
	raw, err := in.written()
	if err != nil {
		return "", err
	}
	return seal(s.calls, []byte(workflowID), raw), nil
}

// called refuses a call that no run of this installation made.
func (s *Seals) called(info activity.Info, in CallInput, given string) error {
	if s == nil || given == "" && info.ScheduledTime.Before(s.since) {
		return nil
	}
	want, err := s.Call(info.WorkflowExecution.ID, in)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(given)) {
		return fault.New(fault.Forbidden, "The call was not made by a run of this installation.")
	}
	return nil
}

// seal is the MAC of parts, each with its length before it: no two lists of
// parts are the same bytes.
func seal(key []byte, parts ...[]byte) string {
	mac := hmac.New(sha256.New, key)
	var length [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(p)))
		mac.Write(length[:])
		mac.Write(p)
	}
	return sealVersion + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// SealedCall is Call as a worker takes it from a task queue.
func (s *Set) SealedCall(ctx context.Context, in CallInput, given string) (CallResult, error) {
	if !inline(ctx) {
		if err := s.Seals.called(activity.GetInfo(ctx), in, given); err != nil {
			return CallResult{}, err
		}
	}
	in.raw = nil
	return s.Call(ctx, in)
}

// local refuses an activity that came through a task queue. But for calls and
// sweeps, workflows do all of theirs as local activities, which never leave the
// worker: one from a queue was scheduled by somebody else.
func local(ctx context.Context) error {
	if activity.IsActivity(ctx) && !inline(ctx) {
		return fault.New(fault.Forbidden, "The step was not made by a run of this installation.")
	}
	return nil
}

// UnmarshalJSON keeps what was written beside what it means: a seal is of the
// bytes, whatever fields and numbers another version makes of them.
func (c *ChildInput) UnmarshalJSON(raw []byte) error {
	type plain ChildInput
	if err := json.Unmarshal(raw, (*plain)(c)); err != nil {
		return err
	}
	c.raw = bytes.Clone(raw)
	return nil
}

func (c *ChildInput) written() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	return json.Marshal(c)
}

// UnmarshalJSON is as ChildInput's.
func (c *CallInput) UnmarshalJSON(raw []byte) error {
	type plain CallInput
	if err := json.Unmarshal(raw, (*plain)(c)); err != nil {
		return err
	}
	c.raw = bytes.Clone(raw)
	return nil
}

func (c *CallInput) written() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	return json.Marshal(c)
}
