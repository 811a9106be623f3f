package palace

// The names under which the ledger's states are sealed.
const (
	cacheName  = "cache"
	promptName = "prompt/" // and the lineage
)

// CacheState implements Tx.
func (t sealedTx) CacheState() ([]byte, error) {
	state, err := t.Tx.CacheState()
	if err != nil {
		return nil, err
	}
	return t.open(cacheName, state)
}

// PutCacheState implements Tx.
func (t sealedTx) PutCacheState(state []byte) error {
	return t.Tx.PutCacheState(t.seal(cacheName, state))
}

// LastPrompt implements Tx.
func (t sealedTx) LastPrompt(lineage string) ([]byte, error) {
	state, err := t.Tx.LastPrompt(lineage)
	if err != nil {
		return nil, err
	}
	return t.open(promptName+lineage, state)
}

// PutLastPrompt implements Tx.
func (t sealedTx) PutLastPrompt(lineage string, prompt []byte) error {
	return t.Tx.PutLastPrompt(lineage, t.seal(promptName+lineage, prompt))
}
