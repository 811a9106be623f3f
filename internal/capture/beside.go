package capture

import "liminal/internal/vault"

// SealFile is what a file beside the spool is to have, which is sealed for its name where
// there are keys: what a view sets aside is called as agents called it.
func SealFile(keys *vault.Ring, name string, raw []byte) []byte {
	if keys == nil {
		return raw
	}
	return keys.Seal(name, raw)
}

// OpenFile is the reverse of SealFile. What was written without keys is as it is.
func OpenFile(keys *vault.Ring, name string, raw []byte) ([]byte, error) {
	if !vault.Sealed(raw) {
		return raw, nil
	}
	out, err := keys.Open(name, raw)
	if err != nil {
		return nil, sealedError(err)
	}
	return out, nil
}
