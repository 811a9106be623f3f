package palace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/klauspost/compress/zstd"

	"liminal/internal/capture"
)

// most is what a packed body may have when it is unpacked, in bytes: more than any
// that a proxy keeps.
const mostUnpacked = 256 << 20

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostUnpacked))
})

func packed(b []byte) ([]byte, error) {
	z, err := packer()
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(b, nil), nil
}

func unpacked(b []byte) ([]byte, error) {
	z, err := unpacker()
	if err != nil {
		return nil, err
	}
	return z.DecodeAll(b, nil)
}

// piece is a part of a body: so many of the own bytes, or a chunk.
type piece struct {
	Own   int    `json:"n,omitempty"`
	Chunk string `json:"c,omitempty"`
}

// recipe makes a body.
type recipe struct {
	pieces []piece
	own    []byte
}

// pack is the recipe as bytes: the length of the list, the list, what is in no chunk.
func (r recipe) pack() ([]byte, error) {
	list, err := json.Marshal(r.pieces)
	if err != nil {
		return nil, err
	}
	return packed(append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(list))), list...), r.own...))
}

func openRecipe(p []byte) (r recipe, err error) {
	if len(p) == 0 {
		return r, nil
	}
	raw, err := unpacked(p)
	if err != nil {
		return r, err
	}
	if len(raw) < 4 || len(raw)-4 < int(binary.LittleEndian.Uint32(raw)) {
		return r, errors.New("a recipe is shorter than it says")
	}
	end := 4 + binary.LittleEndian.Uint32(raw)
	r.own = raw[end:]
	return r, json.Unmarshal(raw[4:end], &r.pieces)
}

// chunks are the hashes that a recipe names.
func (r recipe) chunks() (list []string) {
	for _, p := range r.pieces {
		if p.Chunk != "" {
			list = append(list, p.Chunk)
		}
	}
	return list
}

// body is what a recipe makes, which must be what was kept.
func (r recipe) body(chunks map[string][]byte, hash string) ([]byte, error) {
	out, own := []byte{}, r.own
	for _, p := range r.pieces {
		if p.Chunk != "" {
			c, ok := chunks[p.Chunk]
			if !ok {
				return nil, erased("request")
			}
			out = append(out, c...)
			continue
		}
		if p.Own > len(own) {
			return nil, errors.New("a recipe names more bytes than it has")
		}
		out, own = append(out, own[:p.Own]...), own[p.Own:]
	}
	if hashOf(out) != hash {
		return nil, errors.New("what is kept does not make the body that passed")
	}
	return out, nil
}

// recipeOf takes a body apart. chunks are where the spans of it begin, by that, and
// the bytes of them in body.
func recipeOf(body []byte) (r recipe, spans []capture.Span) {
	spans = capture.Spans(body, 1) // the shortest message too may have to be erased
	at := 0
	plain := func(to int) {
		if to > at {
			r.own = append(r.own, body[at:to]...)
			r.pieces = append(r.pieces, piece{Own: to - at})
		}
	}
	for _, s := range spans {
		plain(s.From)
		at = s.To
		r.pieces = append(r.pieces, piece{Chunk: hashOf(body[s.From:s.To])})
	}
	plain(len(body))
	return r, spans
}

// Wire is the heads of an exchange, when what came of its answer, and what the backend
// said that it changed of the request; nil: it said nothing of that.
type Wire struct {
	Asked       http.Header      `json:"request_header"`
	Answered    http.Header      `json:"response_header"`
	Marks       []capture.Mark   `json:"marks"`
	Transformed []Transformation `json:"transformed"`
}

// OpenWire unpacks them.
func OpenWire(p []byte) (w Wire, err error) {
	if len(p) == 0 {
		return w, nil
	}
	raw, err := unpacked(p)
	if err != nil {
		return w, err
	}
	return w, json.Unmarshal(raw, &w)
}
