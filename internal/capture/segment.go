package capture

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"liminal/internal/vault"
)

// A segment is a file of records behind a line that names the form. A record is
//
//	length   4 bytes, little endian, of what follows the sum
//	sum      4 bytes, CRC-32C of that
//	kind     1 byte
//	payload  zstd
//
// A payload is a JSON object, its length before it in 4 bytes, and bytes. What a
// record names lies in the same segment before it, so a segment is read without
// any other, and one that was cut anywhere is read up to there.
const (
	segmentForm   = "liminal palace spool 1\n"
	recordHead    = 8
	longestRecord = 128 << 20 // beyond it is damage
)

type kind byte

const (
	kindSpan    kind = 1 + iota // bytes that several bodies have in common
	kindRequest                 // the head of an exchange, and how its body is made
	kindPart                    // bytes of a response
	kindEnding                  // how it ended
	kindWriter                  // who writes the segment; its first record
	kindSent                    // what reached the backend, where that is not the body

	kindErased kind = 0x80 // in the kind of a record that was erased; it is on no disk
)

// writerRecord is the payload of kindWriter.
type writerRecord struct {
	ID string `json:"id"`
}

// requestRecord is the payload of kindRequest; the bytes behind it are those of
// the body that are in no span.
type requestRecord struct {
	Request
	// Recipe makes the body: n > 0 are the next n of the own bytes, n < 0 the span
	// -n-1 of the segment, counted from its beginning.
	Recipe []int  `json:"recipe,omitempty"`
	Sum    string `json:"sha256,omitempty"` // of the body, in hexadecimal
	Masked bool   `json:"masked,omitempty"`
}

// partRecord is the payload of kindPart; the bytes behind it are the response's.
type partRecord struct {
	ID     string `json:"id"`
	From   int64  `json:"from"`
	Marks  []Mark `json:"marks,omitempty"`
	Masked bool   `json:"masked,omitempty"`
}

// sentRecord is the payload of kindSent.
type sentRecord struct {
	ID string `json:"id"`
	Sent
}

// endingRecord is the payload of kindEnding.
type endingRecord struct {
	ID       string   `json:"id"`
	Response Response `json:"response"`
	Ending   Ending   `json:"ending"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoder compresses records, and seals them where there are keys.
type encoder struct {
	*zstd.Encoder
	ring *vault.Ring // nil: they are not sealed
}

// Keys reads what PALACE_KEYS says; nil: nothing, and all is plain.
func Keys(text string) (*vault.Ring, error) {
	r, err := vault.NewRing(text, "liminal palace")
	if err != nil {
		err = fmt.Errorf("PALACE_KEYS: %w", err)
	}
	return r, err
}

// sealedAs is the name that records are sealed for.
const sealedAs = "spool"

// newEncoder compresses records. They are short, so little memory does.
func newEncoder(ring *vault.Ring) (*encoder, error) {
	out, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	return &encoder{out, ring}, err
}

// EncodeAll appends src to dst as a payload.
func (e *encoder) EncodeAll(src, dst []byte) []byte {
	if e.ring == nil {
		return e.Encoder.EncodeAll(src, dst)
	}
	return append(dst, e.ring.Seal(sealedAs, e.Encoder.EncodeAll(src, nil))...)
}

// decoder reads what an encoder made, with keys or without.
type decoder struct {
	*zstd.Decoder
	ring *vault.Ring
}

func newDecoder(ring *vault.Ring) (*decoder, error) {
	in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*longestRecord))
	return &decoder{in, ring}, err
}

// DecodeAll is the reverse of EncodeAll.
func (d *decoder) DecodeAll(payload, dst []byte) (_ []byte, err error) {
	if vault.Sealed(payload) {
		if payload, err = d.ring.Open(sealedAs, payload); err != nil {
			return nil, sealedError(err)
		}
	}
	return d.Decoder.DecodeAll(payload, dst)
}

// sealedError says what to do where a record does not open.
func sealedError(err error) error {
	if unknown := (*vault.UnknownKey)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("%w; PALACE_KEYS must have it, behind the one that encrypts now", err)
	}
	return fmt.Errorf("a record does not open: its key in PALACE_KEYS is another than it was, or the record was changed (%w)", err)
}

// closedToUs reports whether an error is of keys: nothing is damaged, and what is
// there opens when the keys are right again.
func closedToUs(err error) bool {
	unknown := (*vault.UnknownKey)(nil)
	return errors.As(err, &unknown) || errors.Is(err, vault.ErrForeign)
}

// appendRecord adds a record to dst.
func appendRecord(out *encoder, dst []byte, k kind, head any, content []byte) ([]byte, error) {
	doc := []byte{}
	if head != nil {
		var err error
		if doc, err = json.Marshal(head); err != nil {
			return nil, err
		}
	}
	payload := make([]byte, 0, 4+len(doc)+len(content))
	payload = binary.LittleEndian.AppendUint32(payload, uint32(len(doc)))
	payload = append(append(payload, doc...), content...)
	at := len(dst)
	dst = append(dst, make([]byte, recordHead)...)
	dst = out.EncodeAll(payload, append(dst, byte(k)))
	if len(dst)-at-recordHead > longestRecord {
		return nil, fmt.Errorf("a record of %d bytes is longer than a segment may hold", len(dst)-at)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-recordHead))
	binary.LittleEndian.PutUint32(dst[at+4:], crc32.Checksum(dst[at+recordHead:], castagnoli))
	return dst, nil
}

var (
	// errTorn is what a record says that was not written to its end.
	errTorn = errors.New("the segment ends within a record")
	// errDamaged is what a record says that was, and is another now.
	errDamaged = errors.New("the sum of a record is wrong")
	// errErased is what a span says whose record was erased.
	errErased = errors.New("the content was erased")
)

// erasedSum stands where the sum of a record stood that was erased: all that follows
// its kind is zeros, or becomes zeros.
const erasedSum = 0xE7A5ED00

// readRecord reads one record; io.EOF where there is none, errTorn where it is not
// whole. payload is as it was written, compressed; of what
// was erased, kindErased is in k, and the payload says nothing.
func readRecord(r io.Reader) (k kind, payload []byte, err error) {
	var head [recordHead]byte
	switch n, err := io.ReadFull(r, head[:]); {
	case n == 0 && errors.Is(err, io.EOF):
		return 0, nil, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, nil, errTorn
	case err != nil:
		return 0, nil, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length == 0 { // room that was made before a power cut, and not written
		return 0, nil, errTorn
	}
	if length > longestRecord {
		return 0, nil, errDamaged
	}
	// Read as it comes: the length of a torn record may be anything.
	body, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err != nil {
		return 0, nil, err
	}
	switch {
	case len(body) < int(length):
		return 0, nil, errTorn
	case crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(head[4:]):
	case binary.LittleEndian.Uint32(head[4:]) == erasedSum:
		return kind(body[0]) | kindErased, body[1:], nil
	default:
		return 0, nil, errDamaged
	}
	return kind(body[0]), body[1:], nil
}

// opened takes a payload apart: its document goes into head, unless that is nil.
func opened(in *decoder, payload []byte, head any) (content []byte, err error) {
	raw, err := in.DecodeAll(payload, nil)
	if err != nil {
		return nil, err
	}
	if len(raw) < 4 || uint64(len(raw)-4) < uint64(binary.LittleEndian.Uint32(raw)) {
		return nil, errors.New("a record is shorter than it says")
	}
	doc, content := raw[4:4+binary.LittleEndian.Uint32(raw)], raw[4+binary.LittleEndian.Uint32(raw):]
	if head != nil {
		if err := json.Unmarshal(doc, head); err != nil {
			return nil, err
		}
	}
	return content, nil
}
