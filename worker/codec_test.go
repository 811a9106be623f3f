package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"liminal/internal/fault"
)

// memStore is Values in memory.
type memStore struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func newMemStore() *memStore { return &memStore{kept: map[string][]byte{}} }

func (s *memStore) PutPayload(_ context.Context, id string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[id] = bytes.Clone(value)
	return nil
}

func (s *memStore) Payload(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.kept[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such value.")
	}
	return bytes.Clone(v), nil
}

func keyText(id string) string {
	secret := bytes.Repeat([]byte(id)[:1], 32)
	return id + ":" + base64.StdEncoding.EncodeToString(secret)
}

func newCodec(t *testing.T, values Values, ids ...string) *Codec {
	t.Helper()
	var keys []string
	for _, id := range ids {
		keys = append(keys, keyText(id))
	}
	c, err := NewCodec(strings.Join(keys, ","), values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func payload(t *testing.T, v any) *commonpb.Payload {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayload(v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// noise is text that no compression makes smaller by more than half.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func encodeOne(t *testing.T, c *Codec, p *commonpb.Payload) *commonpb.Payload {
	t.Helper()
	out, err := c.Encode([]*commonpb.Payload{p})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func decodeOne(c *Codec, p *commonpb.Payload) (*commonpb.Payload, error) {
	out, err := c.Decode([]*commonpb.Payload{p})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Requirements: PLAT-14, SAFE-08
func TestAValueComesBackFromTheCodecAsItWas(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"small": "hello", "large and even": strings.Repeat("hello ", 20_000),
		"large and uneven": noise(20_000), "enormous": noise(3 << 20),
	} {
		for _, ids := range [][]string{nil, {"a"}, {"a", "b"}} {
			t.Run(name+" "+strings.Join(ids, ""), func(t *testing.T) {
				t.Parallel()
				values := newMemStore()
				c := newCodec(t, values, ids...)
				p := payload(t, text)
				kept := encodeOne(t, c, p)
				if size := proto.Size(kept); size > claimAbove+1<<10 {
					t.Errorf("the history holds %d bytes", size)
				}
				if got := len(values.kept) == 1; got != (name == "enormous") {
					t.Errorf("%d values are kept beside the history", len(values.kept))
				}
				if len(ids) > 0 && bytes.Contains(kept.GetData(), []byte(text[:5])) {
					t.Error("the history holds the text")
				}
				back, err := decodeOne(c, kept)
				if err != nil || !proto.Equal(back, p) {
					t.Errorf("it comes back otherwise (%v)", err)
				}
			})
		}
	}
}

func TestWhatWasWrittenWithoutACodecIsRead(t *testing.T) {
	t.Parallel()
	p := payload(t, "written before")
	back, err := decodeOne(newCodec(t, newMemStore(), "a"), p)
	if err != nil || !proto.Equal(back, p) {
		t.Errorf("it comes back as %v (%v)", back, err)
	}
}

// A rollout of a new key passes through processes that know both, in either
// order.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	values := newMemStore()
	old, both, reversed, renewed := newCodec(t, values, "a"), newCodec(t, values, "b", "a"), newCodec(t, values, "a", "b"), newCodec(t, values, "b")
	for name, text := range map[string]string{"small": "hello", "claimed": noise(300_000)} {
		p := payload(t, text)
		for _, pair := range []struct {
			from, to *Codec
			ok       bool
		}{{old, both, true}, {old, reversed, true}, {both, reversed, true}, {reversed, both, true}, {both, renewed, true}, {old, renewed, false}} {
			back, err := decodeOne(pair.to, encodeOne(t, pair.from, p))
			if pair.ok && (err != nil || !proto.Equal(back, p)) {
				t.Errorf("%s: it comes back otherwise (%v)", name, err)
			}
			if !pair.ok && (err == nil || !strings.Contains(err.Error(), `"a"`)) {
				t.Errorf("%s: a key that is gone gives %v", name, err)
			}
		}
	}
}

// Requirements: SAFE-08
func TestATamperedValueIsAnError(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"small": "hello", "large": noise(10_000), "claimed": noise(300_000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := newMemStore()
			c := newCodec(t, values, "a", "b")
			kept := encodeOne(t, c, payload(t, text))
			damaged := proto.CloneOf(kept)
			damaged.Data[len(damaged.Data)/2] ^= 1
			if _, err := decodeOne(c, damaged); err == nil {
				t.Error("a changed byte is not noticed")
			}
			cut := proto.CloneOf(kept)
			cut.Data = cut.Data[:3]
			if _, err := decodeOne(c, cut); err == nil {
				t.Error("a cut value is not noticed")
			}
			if kept.Metadata[metaKey] != nil {
				kept.Metadata[metaKey] = []byte("b")
				if _, err := decodeOne(c, kept); err == nil {
					t.Error("another key opens it")
				}
				return
			}
			for id := range values.kept {
				values.kept[id][100] ^= 1
			}
			if _, err := decodeOne(c, kept); err == nil {
				t.Error("a changed value beside the history is not noticed")
			}
		})
	}
}

// A step that is done again must not leave its large value twice.
func TestTheSameLargeValueIsKeptOnce(t *testing.T) {
	t.Parallel()
	values := newMemStore()
	p := payload(t, noise(300_000))
	first := encodeOne(t, newCodec(t, values, "a"), p)
	second := encodeOne(t, newCodec(t, values, "a", "b"), p)
	if !proto.Equal(first, second) || len(values.kept) != 1 {
		t.Errorf("it is kept %d times", len(values.kept))
	}
	small := payload(t, "hello")
	if c := newCodec(t, values, "a"); proto.Equal(encodeOne(t, c, small), encodeOne(t, c, small)) {
		t.Error("two small values that are equal look equal")
	}
}

func TestABadKeyIsToldWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"nothing":                          "id:base64",
		":" + keyText("a")[2:]:             "id:base64",
		"a:!!":                             "base64",
		"a:c2VjcmV0":                       "6 bytes",
		keyText("a") + "," + "b:x":         "key 2",
		keyText("a") + ", " + keyText("a"): "earlier",
	} {
		_, err := NewCodec(text, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}
