package palace

import "strings"

const (
	// mostSessions bounds the sessions whose lineages are in memory, and mostKnown the
	// chunks and blocks that are known to be there.
	mostSessions = 64
	mostKnown    = 100_000
)

// memory is what intake knows of the store, as long as nobody else writes to it and
// every transaction ends well. It is thrown away when one does not.
type memory struct {
	sessions map[string][]*known // by key, the newest first
	there    map[string]struct{}
	ledger   *ledger
}

func newMemory(price PriceFunc) *memory {
	return &memory{sessions: map[string][]*known{}, there: map[string]struct{}{}, ledger: newLedger(price)}
}

func (m *memory) has(hash string) bool {
	_, ok := m.there[hash]
	return ok
}

func (m *memory) put(hash string) {
	if len(m.there) >= mostKnown {
		clear(m.there)
	}
	m.there[hash] = struct{}{}
}

func (m *memory) block(key string) bool { return m.has("block:" + key) }

// lineages are those of a session, the newest first.
func (m *memory) lineages(tx Tx, key string) ([]*known, error) {
	if list, ok := m.sessions[key]; ok {
		return list, nil
	}
	found, err := tx.Lineages(key, candidates)
	if err != nil {
		return nil, err
	}
	if len(m.sessions) >= mostSessions {
		clear(m.sessions)
	}
	list := make([]*known, len(found))
	for i, l := range found {
		list[i] = &known{Lineage: l}
	}
	m.sessions[key] = list
	return list, nil
}

// load is a lineage as it is known already, or comes to be.
func (m *memory) load(tx Tx, l Lineage) (*known, error) {
	list, err := m.lineages(tx, l.Key)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.ID == l.ID {
			return k, nil
		}
	}
	return &known{Lineage: l}, nil
}

// add puts a new lineage before the others of its session.
func (m *memory) add(l *known) {
	list := append([]*known{l}, m.sessions[l.Key]...)
	m.sessions[l.Key] = list[:min(len(list), candidates)]
}

// known is a lineage with its blocks.
type known struct {
	Lineage
	loaded  bool
	places  []Place
	named   map[string]Place   // those the protocol names, by key
	unnamed map[string][]Place // the others, by hash, in order
}

// need loads the blocks.
func (l *known) need(tx Tx) error {
	if !l.loaded {
		places, err := tx.Timeline(l.ID)
		if err != nil {
			return err
		}
		l.places, l.loaded = places, true
	}
	if l.named == nil {
		l.named, l.unnamed = map[string]Place{}, map[string][]Place{}
		for _, p := range l.places {
			l.remember(p)
		}
	}
	return nil
}

// remember notes a block of the lineage.
func (l *known) remember(p Place) {
	if isIdent(p.Key) {
		l.named[p.Key] = p
		return
	}
	l.unnamed[p.Hash] = append(l.unnamed[p.Hash], p)
}

// byKey is the block of a name in this lineage; nil: there is none. A result whose
// content is another is another block.
func (l *known) byKey(ident, hash string, t Type) *Place {
	for _, key := range []string{ident, ident + "#" + hash} {
		if p, ok := l.named[key]; ok && (p.Hash == hash || t != ToolResult) {
			return &p
		}
	}
	return nil
}

// toolOf is the tool whose use a result belongs to.
func (l *known) toolOf(result string) string {
	use := "use:" + strings.TrimPrefix(result, "result:")
	if p, ok := l.named[use]; ok {
		return p.Tool
	}
	for key, p := range l.named {
		if strings.HasPrefix(key, use+"#") {
			return p.Tool
		}
	}
	return ""
}
