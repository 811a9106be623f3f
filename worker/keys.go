package worker

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"liminal/internal/vault"
)

// payloadKey is one AES-256 key for two uses, under a key of its own each:
// small values are sealed with a random nonce; those that go to Values with one
// that follows from the value, so that a step done twice puts the same bytes
// under the same name.
type payloadKey struct {
	id            string
	small, large  cipher.AEAD
	nonceOfLarges []byte
}

func newPayloadKey(text string) (*payloadKey, error) {
	id, secret, err := vault.NamedKey(text)
	if strings.HasPrefix(id, runKeyID) {
		return nil, fmt.Errorf("has an id that begins with %s, as those of runs do", runKeyID)
	}
	if err != nil {
		return nil, err
	}
	return payloadKeyOf(id, secret)
}

func payloadKeyOf(id string, secret []byte) (k *payloadKey, err error) {
	k = &payloadKey{id: id}
	if k.small, err = derivedAEAD(secret, "small"); err != nil {
		return nil, err
	}
	if k.large, err = derivedAEAD(secret, "large"); err != nil {
		return nil, err
	}
	k.nonceOfLarges, err = hkdf.Key(sha256.New, secret, nil, "liminal payload nonce", 32)
	return k, err
}

func derivedAEAD(secret []byte, use string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "liminal payload "+use, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (c *Codec) key(id string) (*payloadKey, bool) {
	for _, k := range c.keys {
		if k.id == id {
			return k, true
		}
	}
	return nil, false
}

// seal encrypts a body, if there is a key.
func seal(k *payloadKey, body []byte, stored bool) (*commonpb.Payload, error) {
	p := &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingSealed)}, Data: body}
	if k == nil {
		return p, nil
	}
	p.Metadata[metaKey] = []byte(k.id)
	aead, nonce := k.small, make([]byte, k.small.NonceSize())
	if stored {
		aead = k.large
		p.Metadata[metaStored] = []byte("1")
		sum := hmac.New(sha256.New, k.nonceOfLarges)
		sum.Write(body)
		copy(nonce, sum.Sum(nil))
	} else if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	p.Data = aead.Seal(nonce, nonce, body, []byte(k.id))
	return p, nil
}

func (c *Codec) unseal(ctx context.Context, p *commonpb.Payload) ([]byte, error) {
	id, encrypted := p.GetMetadata()[metaKey]
	if !encrypted {
		return p.GetData(), nil
	}
	k, known := c.key(string(id))
	if run, is := strings.CutPrefix(string(id), runKeyID); is {
		var err error
		if k, err = c.runs.Key(ctx, run); err != nil {
			return nil, err
		}
		known = true
	}
	if !known {
		return nil, fmt.Errorf("a value of the history is encrypted with the key %q, which LIMINAL_PAYLOAD_KEYS does not have", id)
	}
	aead := k.small
	if _, stored := p.GetMetadata()[metaStored]; stored {
		aead = k.large
	}
	size := aead.NonceSize()
	if len(p.GetData()) < size {
		return nil, errTampered
	}
	body, err := aead.Open(nil, p.GetData()[:size], p.GetData()[size:], id)
	if err != nil {
		return nil, errTampered
	}
	return body, nil
}
