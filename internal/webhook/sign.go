package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/vault"
)

// secretPrefix marks a secret for those who look for leaked ones.
const secretPrefix = "whsec_"

// secretBytes is the length of a secret; Standard Webhooks asks for 24 to 64.
const secretBytes = 32

// newSecret makes a secret as receivers are given it.
func newSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// secrets are what of an endpoint is sealed.
type secrets struct {
	Now    string    `json:"now"`
	Before string    `json:"before,omitempty"` // good until Until
	Until  time.Time `json:"until,omitzero"`
}

func seal(w *vault.Vault, endpointID string, s secrets) ([]byte, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return w.Seal(endpointID, string(raw)), nil
}

func open(w *vault.Vault, e Endpoint) (s secrets, err error) {
	raw, err := w.Open(e.ID, e.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(raw), &s)
	}
	if err != nil {
		return s, fault.New(fault.Internal, "The secret of this webhook does not open with this installation's key. Make a new one.")
	}
	return s, nil
}

// sign sets the three headers of Standard Webhooks. While a secret is replaced
// there are two signatures, of which receivers need one.
func (s secrets) sign(h http.Header, id string, body []byte, now time.Time) {
	at := strconv.FormatInt(now.Unix(), 10)
	keys := []string{s.Now}
	if s.Before != "" && now.Before(s.Until) {
		keys = append(keys, s.Before)
	}
	signed := make([]string, len(keys))
	for i, key := range keys {
		raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, secretPrefix)) // we made it
		mac := hmac.New(sha256.New, raw)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(body)
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", at)
	h.Set("webhook-signature", strings.Join(signed, " "))
}
