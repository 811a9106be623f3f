package adaptation

import (
	"context"
	"strings"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/model"
)

// Feedback records what people say of answers; *learning.Recorder is one.
type Feedback interface {
	Record(ctx context.Context, v identity.Viewer, f learning.Feedback) (learning.Event, error)
	Latest(ctx context.Context, v identity.Viewer, messageIDs ...string) (map[string]learning.Event, error)
}

// Compared are the adapters that an answer of a comparison is made with: the one
// that is compared, as it is now and as all conversations will take it, or none.
// NotFound for one that is not the viewer's to use. It tells which lessons are in
// it.
func (s *Steps) Compared(ctx context.Context, v identity.Viewer, c learning.Comparison, which, locale string) (with []model.Adapter, lessons []string, err error) {
	a, err := s.o.Library.Get(ctx, v, c.AdapterID)
	switch {
	case err != nil:
		return nil, nil, err
	case a.Type != artifacts.KindAdapter || a.IsDraft():
		return nil, nil, fault.New(fault.NotFound, "There is no adapter %s in use.", c.AdapterID)
	case which != c.With():
		return nil, nil, nil
	}
	p, err := ReadPinned(a)
	if err != nil {
		return nil, nil, err
	}
	told, err := s.Tell(ctx, v, p.Lessons, p.Examples, locale)
	if err != nil {
		return nil, nil, err
	}
	one := p.With(told)
	one.Weight = 1
	return []model.Adapter{one}, told.Lessons, nil
}

// KeepCompared keeps an answer of a comparison.
func (s *Steps) KeepCompared(ctx context.Context, v identity.Viewer, c learning.Comparison, a learning.Compared) error {
	if strings.TrimSpace(a.Text) == "" {
		a.Text = "–" // a message has words
	}
	return s.o.Store.PutCompared(ctx, v, c, a)
}

// Chosen records which answer of a comparison is better: it is liked, and the
// other one is not. It may be told again.
func (s *Steps) Chosen(ctx context.Context, v identity.Viewer, c learning.Comparison, which string) error {
	if which != learning.First && which != learning.Second {
		return fault.New(fault.Invalid, "The better answer is %s or %s, not %q.", learning.First, learning.Second, which)
	}
	if s.o.Feedback == nil {
		return fault.New(fault.NotFound, "Nobody keeps what is said of answers here.")
	}
	better, worse := c.AnswerID(which), c.AnswerID(learning.Other(which))
	said, err := s.o.Feedback.Latest(ctx, v, better, worse)
	if err != nil {
		return err
	}
	for _, one := range []struct{ message, signal string }{{better, "like"}, {worse, "dislike"}} {
		if said[one.message].Signal == one.signal {
			continue
		}
		if _, err := s.o.Feedback.Record(ctx, v, learning.Feedback{ConversationID: c.ConversationID(), MessageID: one.message, Signal: one.signal}); err != nil {
			return err
		}
	}
	return nil
}
