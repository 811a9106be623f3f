package palace

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"liminal/internal/identity"
	"liminal/internal/vault"
)

// KeyKeeper keeps the key of a person's keyed hashes.
type KeyKeeper interface {
	// PalaceKey gives the sealed key to f, nil where there is none, and keeps what f
	// returns instead, unless that is nil.
	PalaceKey(ctx context.Context, v identity.Viewer, f func(sealed []byte) ([]byte, error)) error
}

// sealer seals contents, and the hashes by which they could be guessed: those that the
// database looks for are keyed, the others sealed. Without keys all of it is plain.
type sealer struct {
	ring *vault.Ring
	key  []byte
}

const (
	keyedPrefix  = "k:"
	sealedPrefix = "sealed:"
	nameOfKey    = "palace key"
)

// sealerOf is a person's. The key of hashes stays the same when PALACE_KEYS change: a
// block must be known again.
func sealerOf(ctx context.Context, k KeyKeeper, v identity.Viewer, ring *vault.Ring) (s sealer, err error) {
	s.ring = ring
	err = k.PalaceKey(ctx, v, func(sealed []byte) ([]byte, error) {
		switch {
		case len(sealed) == 0 && ring == nil:
			return nil, nil
		case len(sealed) == 0:
			s.key = make([]byte, sha256.Size)
			_, _ = rand.Read(s.key) // it never fails
			return ring.Seal(nameOfKey, s.key), nil
		}
		if s.key, err = ring.Open(nameOfKey, sealed); err != nil {
			return nil, keyError(err)
		}
		if ring.First(sealed) {
			return nil, nil
		}
		return ring.Seal(nameOfKey, s.key), nil
	})
	return s, err
}

// keyError says what to do where contents do not open.
func keyError(err error) error {
	if unknown := (*vault.UnknownKey)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("what is kept of agents is encrypted with the key %q, which PALACE_KEYS does not have; put it there, behind the one that encrypts now. Nothing is lost meanwhile", unknown.ID)
	}
	return fmt.Errorf("what is kept of agents does not open: a key in PALACE_KEYS is another than it was under the same id, or the database was changed (%w)", err)
}

// keyed is a hash, or a name that has one in it, as the database may know it.
func (s sealer) keyed(text string) string {
	if s.key == nil || text == "" || strings.HasPrefix(text, keyedPrefix) {
		return text
	}
	sum := hmac.New(sha256.New, s.key)
	sum.Write([]byte(text))
	return keyedPrefix + hex.EncodeToString(sum.Sum(nil))
}

func (s sealer) keyedAll(list []string) []string {
	if s.key == nil {
		return list
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = s.keyed(text)
	}
	return out
}

// seal and open are for bytes, by the name they are kept under.
func (s sealer) seal(name string, b []byte) []byte {
	if s.ring == nil || len(b) == 0 {
		return b
	}
	return s.ring.Seal(name, b)
}

func (s sealer) open(name string, b []byte) ([]byte, error) {
	if !vault.Sealed(b) {
		return b, nil
	}
	out, err := s.ring.Open(name, b)
	if err != nil {
		return nil, keyError(err)
	}
	return out, nil
}

// sealText and openText are for texts.
func (s sealer) sealText(name, text string) string {
	if s.ring == nil || text == "" {
		return text
	}
	return sealedPrefix + base64.RawStdEncoding.EncodeToString(s.ring.Seal(name, []byte(text)))
}

func (s sealer) openText(name string, text *string) error {
	encoded, is := strings.CutPrefix(*text, sealedPrefix)
	if !is {
		return nil
	}
	b, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || !vault.Sealed(b) { // somebody said that
		return nil
	}
	if b, err = s.open(name, b); err == nil {
		*text = string(b)
	}
	return err
}

// A block's hash is sealed together with its key, which the database knows keyed only.
const hashAndKey = "\n"

func (s sealer) sealBlock(b *Block) {
	if s.ring == nil {
		return
	}
	b.Hash = s.sealText(b.UUID+"/hash", b.Hash+hashAndKey+b.Key)
	b.Key, b.Chunk = s.keyed(b.Key), s.keyed(b.Chunk)
	b.Label, b.Sum = s.sealText(b.UUID+"/label", b.Label), s.sealText(b.UUID+"/sum", b.Sum)
}

func (s sealer) openHash(uuid string, hash, key *string) error {
	was := *hash
	if err := s.openText(uuid+"/hash", hash); err != nil || was == *hash {
		return err
	}
	*hash, *key, _ = strings.Cut(*hash, hashAndKey)
	return nil
}

func (s sealer) openBlock(b *Block) error {
	return errors.Join(s.openHash(b.UUID, &b.Hash, &b.Key), s.openText(b.UUID+"/label", &b.Label), s.openText(b.UUID+"/sum", &b.Sum))
}

func (s sealer) openPlaces(list []Place, err error) ([]Place, error) {
	for i := range list {
		p := &list[i]
		err = errors.Join(err, s.openHash(p.UUID, &p.Hash, &p.Key), s.openText(p.UUID+"/label", &p.Label))
	}
	return list, err
}

func (s sealer) openExchange(e *Exchange) (err error) {
	if e.Recipe, err = s.open("recipe/"+e.ID, e.Recipe); err != nil {
		return err
	}
	if e.Wire, err = s.open("wire/"+e.ID, e.Wire); err != nil {
		return err
	}
	return errors.Join(s.openText("asked/"+e.ID, &e.Asked.Hash), s.openSent(e.ID, e.Sent))
}

func (s sealer) sealChunk(c Chunk) Chunk {
	c.Hash = s.keyed(c.Hash)
	c.Packed = s.seal("chunk/"+c.Hash, c.Packed)
	return c
}

// sealedTx is a Tx whose contents are sealed.
type sealedTx struct {
	Tx
	sealer
}

// PutExchange implements Tx.
func (t sealedTx) PutExchange(e Exchange) error {
	e.Recipe, e.Wire = t.seal("recipe/"+e.ID, e.Recipe), t.seal("wire/"+e.ID, e.Wire)
	e.Asked.Hash, e.Answered.Hash = t.sealText("asked/"+e.ID, e.Asked.Hash), t.keyed(e.Answered.Hash)
	return t.Tx.PutExchange(e)
}

// PutChunk implements Tx.
func (t sealedTx) PutChunk(c Chunk) error { return t.Tx.PutChunk(t.sealChunk(c)) }

// PutParts implements Tx.
func (t sealedTx) PutParts(chunk string, blocks []string) error {
	return t.Tx.PutParts(t.keyed(chunk), blocks)
}

// Erased implements Tx.
func (t sealedTx) Erased() ([]Place, error) { return t.openPlaces(t.Tx.Erased()) }

func (t sealedTx) openLineages(list []Lineage, err error) ([]Lineage, error) {
	for i := range list {
		err = errors.Join(err, t.openText(list[i].ID+"/digest", &list[i].Digest))
	}
	return list, err
}

// Lineages implements Tx.
func (t sealedTx) Lineages(key string, most int) ([]Lineage, error) {
	return t.openLineages(t.Tx.Lineages(key, most))
}

// LineageOfRun implements Tx.
func (t sealedTx) LineageOfRun(run string) (Lineage, bool, error) {
	l, found, err := t.Tx.LineageOfRun(run)
	list, err := t.openLineages([]Lineage{l}, err)
	return list[0], found, err
}

// PutLineage implements Tx.
func (t sealedTx) PutLineage(l Lineage) error {
	l.Digest = t.sealText(l.ID+"/digest", l.Digest)
	return t.Tx.PutLineage(l)
}

// Timeline implements Tx.
func (t sealedTx) Timeline(lineage string) ([]Place, error) {
	return t.openPlaces(t.Tx.Timeline(lineage))
}

// Blocks implements Tx.
func (t sealedTx) Blocks(keys []string) ([]Place, error) {
	return t.openPlaces(t.Tx.Blocks(t.keyedAll(keys)))
}

// NewBlock implements Tx.
func (t sealedTx) NewBlock(b Block) error {
	t.sealBlock(&b)
	return t.Tx.NewBlock(b)
}
