package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"liminal/internal/runkey"
)

// Values keeps what is too large for a history, by name. A value never changes
// under its name; putting it again makes it young.
type Values interface {
	PutPayload(ctx context.Context, id string, value []byte) error
	// Payload is NotFound for a name that was never put, or was swept.
	Payload(ctx context.Context, id string) ([]byte, error)
}

// Codec is what stands between the values of a run and the history that
// Temporal keeps of them (PLAT-14, SAFE-08): large ones are compressed, what is
// still large goes to Values and leaves its name behind, and all of it is
// encrypted when there are keys. What was written without a codec, or by one of
// other keys that it was given too, is read as well.
type Codec struct {
	keys   []*payloadKey // the first encrypts
	values Values
	runs   *runkey.Ring[*payloadKey] // of runs of which nothing is kept; nil: it has none

	payloads, failures grpc.UnaryClientInterceptor // of answers
}

const (
	encodingSealed  = "binary/liminal"       // Data is flags, then the payload
	encodingClaimed = "binary/liminal-claim" // Data is the name of a value
	metaKey         = "liminal-key"          // id of the key; absent: not encrypted
	metaStored      = "liminal-stored"       // sealed for Values

	// compressAbove is the size in bytes above which compression pays.
	compressAbove = 2 << 10
	// claimAbove is the size in bytes a history may hold of one value.
	claimAbove = 128 << 10
	// claimLimit bounds one visit to Values.
	claimLimit = 10 * time.Second

	plain    = 0 // the flags
	deflated = 1
)

// NewCodec makes a codec of keys as "id:base64 of 32 bytes", separated by
// commas: the first encrypts, all decrypt. Without keys nothing is encrypted.
// values may be nil: then nothing is too large. Where it has the keys of runs of
// which nothing is kept, a runkey.Store, histories of those are sealed with them.
func NewCodec(keys string, values Values) (*Codec, error) {
	c := &Codec{values: values}
	if store, has := values.(runkey.Store); has {
		c.runs = runkey.NewRing(store, newRunPayloadKey)
	}
	if strings.TrimSpace(keys) == "" {
		return c, c.decoders()
	}
	for i, text := range strings.Split(keys, ",") {
		k, err := newPayloadKey(text)
		if err != nil {
			return nil, fmt.Errorf("key %d of LIMINAL_PAYLOAD_KEYS %w", i+1, err)
		}
		if _, twice := c.key(k.id); twice {
			return nil, fmt.Errorf("key %d of LIMINAL_PAYLOAD_KEYS has the id %s of an earlier one", i+1, k.id)
		}
		c.keys = append(c.keys, k)
	}
	return c, c.decoders()
}

// Encode implements converter.PayloadCodec.
func (c *Codec) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) { return c.encode(context.Background(), p) })
}

// Decode implements converter.PayloadCodec.
func (c *Codec) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) { return c.decode(context.Background(), p) })
}

var _ converter.PayloadCodec = (*Codec)(nil)

func each(list []*commonpb.Payload, f func(*commonpb.Payload) (*commonpb.Payload, error)) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		var err error
		if out[i], err = f(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leaves reports whether everything in a message of this size stays as it is.
func (c *Codec) leaves(size int) bool { return len(c.keys) == 0 && size <= compressAbove }

// encode gives the payload a history keeps instead of p.
func (c *Codec) encode(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	key, err := c.sealing(ctx)
	if err != nil {
		return nil, err
	}
	if key == nil && c.leaves(proto.Size(p)) {
		return p, nil
	}
	raw, err := proto.Marshal(p)
	if err != nil {
		return nil, err
	}
	body := append([]byte{plain}, raw...)
	if len(raw) > compressAbove {
		small, err := deflate([]byte{deflated}, raw)
		if err != nil {
			return nil, err
		}
		if len(small) < len(body) {
			body = small
		}
	}
	large := c.values != nil && len(body) > claimAbove
	if !large && body[0] == plain && key == nil {
		return p, nil
	}
	sealed, err := seal(key, body, large)
	if err != nil || !large {
		return sealed, err
	}
	return c.claim(ctx, sealed)
}

// claim stores a sealed payload and gives the one that names it.
func (c *Codec) claim(ctx context.Context, sealed *commonpb.Payload) (*commonpb.Payload, error) {
	// The same value must have the same name in every process.
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(sealed)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, claimLimit)
	defer cancel()
	name := nameOf(raw)
	if err := c.values.PutPayload(ctx, name, raw); err != nil {
		return nil, fmt.Errorf("a value of %d bytes cannot be stored beside the history: %w", len(raw), err)
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingClaimed)}, Data: []byte(name),
	}, nil
}

func nameOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// decode is the other side of encode. What no codec wrote is given back as it is.
func (c *Codec) decode(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	switch string(p.GetMetadata()[converter.MetadataEncoding]) {
	case encodingClaimed:
		sealed, err := c.fetch(ctx, string(p.GetData()))
		if err != nil {
			return nil, err
		}
		return c.opened(ctx, sealed)
	case encodingSealed:
		return c.opened(ctx, p)
	default:
		return p, nil
	}
}

// errTampered says that a value is not the one that was written.
var errTampered = errors.New("a value of the history is not what was written; it has been changed or damaged")

func (c *Codec) fetch(ctx context.Context, name string) (*commonpb.Payload, error) {
	if c.values == nil {
		return nil, errors.New("a value of the history is kept in a store this process does not have")
	}
	ctx, cancel := context.WithTimeout(ctx, claimLimit)
	defer cancel()
	raw, err := c.values.Payload(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("the value %s of a history cannot be read: %w", name, err)
	}
	sealed := new(commonpb.Payload)
	if nameOf(raw) != name || proto.Unmarshal(raw, sealed) != nil {
		return nil, errTampered
	}
	return sealed, nil
}

func (c *Codec) open(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	body, err := c.unseal(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, errTampered
	}
	flags, raw := body[0], body[1:]
	if flags == deflated {
		if raw, err = inflate(raw); err != nil {
			return nil, fmt.Errorf("%w: %w", errTampered, err)
		}
	}
	out := new(commonpb.Payload)
	if proto.Unmarshal(raw, out) != nil {
		return nil, errTampered
	}
	return out, nil
}
