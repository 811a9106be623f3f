package palace

import "strings"

const (
	// mostSessions bounds the sessions whose lineages are in memory, and mostKnown the
	// chunks, and the blocks of all agents, that are known to be there.
	mostSessions = 64
	mostKnown    = 100_000
)

// memory is what intake knows of the store, as long as nobody else writes to it and
// every transaction ends well. It is thrown away when one does not, and when something
// was erased meanwhile.
type memory struct {
	sessions map[string][]*known // by key, the newest first
	globals  map[string]Place    // the blocks of all agents, by key
	mapped   map[string]struct{} // chunks of which it is noted which blocks lie in them
	erased   map[string]bool     // hashes of blocks that a person erased; nil: not asked yet
	erasures int64               // how many there were
	ledger   *ledger
}

func newMemory(price PriceFunc) *memory {
	return &memory{sessions: map[string][]*known{}, globals: map[string]Place{}, mapped: map[string]struct{}{}, ledger: newLedger(price)}
}

// noted reports whether a chunk is mapped, which it is from now on.
func (m *memory) noted(chunk string) bool {
	if _, ok := m.mapped[chunk]; ok {
		return true
	}
	if len(m.mapped) >= mostKnown {
		clear(m.mapped)
	}
	m.mapped[chunk] = struct{}{}
	return false
}

// wasErased reports whether a person erased what has this hash.
func (m *memory) wasErased(tx Tx, hash string) (bool, error) {
	if m.erased == nil {
		erased, err := tx.Erased()
		if err != nil {
			return false, err
		}
		m.erased = map[string]bool{}
		for _, p := range erased {
			m.erased[p.Hash] = true
		}
	}
	return m.erased[hash], nil
}

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
