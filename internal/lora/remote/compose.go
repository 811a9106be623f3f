package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
)

// part is an adapter as it goes into a composed one.
type part struct {
	model.Adapter
	dir      string // its version's folder
	identity string // of its weights
	gate     int    // in steps of 1/gates
	weights  *llm.Adapter
}

// gates is how finely gates are told apart: what differs by less is the same
// composed adapter.
const gates = 32

// compose has the adapters of a request be one that the server has, until release
// is called.
func (m *Model) compose(ctx context.Context, applied model.Applied) (with composed, release func(), err error) {
	b, err := m.base.get(ctx)
	if err != nil {
		return with, nil, err
	}
	if b.Name, err = m.serves(ctx); err != nil {
		return with, nil, err
	}
	parts, err := m.parts(applied.Local)
	if err != nil {
		return with, nil, err
	}
	with.lost = m.beside(ctx, applied)
	for {
		name, n := nameOf(b, m.MaxRank, parts)
		if m.wide(name) && len(parts) > 1 {
			parts, with.left = lighter(parts, with.left)
			continue
		}
		if at, no := m.refusedAt(name); no {
			return with, nil, fmt.Errorf("the server refused %s at %s; it is asked again a minute later", name, at.Format(time.TimeOnly))
		}
		release, hit, gone, err := m.Store.Use(name, n, func(dir string) error { return m.fill(dir, b, parts) })
		m.unload(ctx, gone)
		if errors.Is(err, errRank) && len(parts) > 1 {
			m.widen(name)
			m.refusing(ctx, []model.Adapter{lightest(parts).Adapter}, err)
			continue
		}
		if err != nil {
			return with, nil, err
		}
		m.Asked(hit)
		with.name, with.path = name, m.path(name)
		if err := m.tell(ctx, with); err != nil {
			release()
			m.refuse(name)
			return with, nil, err
		}
		return with, release, nil
	}
}

// path is a composed adapter's folder as the server calls it.
func (m *Model) path(name string) string {
	if m.ServerDir != "" {
		return strings.TrimRight(m.ServerDir, "/") + "/" + name
	}
	return m.Store.Path(name)
}

// parts are adapters with what tells their weights apart.
func (m *Model) parts(list []model.Adapter) ([]part, error) {
	var out []part
	for _, a := range list {
		p := part{Adapter: a, gate: int(math.Round(min(a.Weight, 1) * gates))}
		if p.gate == 0 {
			continue // the same as without
		}
		var err error
		if p.dir, err = serve.At(m.Root, a.Dir, a.Version); err == nil {
			p.identity, err = identity(p.dir)
		}
		if err != nil {
			return nil, fmt.Errorf("the adapter %s: %w", a.ID, err)
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, errors.New("no gate is open")
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(a.identity, b.identity) })
	return out, nil
}

// identity tells versions of adapters apart: by their params.json, which has the
// checksums of all files, and where there is none by when they were written.
func identity(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, serve.ParamsFile))
	if err == nil {
		sum := sha256.Sum256(raw)
		return hex.EncodeToString(sum[:]), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text := dir
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
	}
	return text, nil
}

// nameOf is the name of what parts make together on a base: the same again, and
// another for anything else. What the artifacts' checksums are is in it too, so
// that one that is wrong finds nothing that was made of what was right.
func nameOf(b peft.Base, most int, parts []part) (string, note) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%d\n", b.Name, b.Fingerprint, most)
	n := note{Base: b.Fingerprint}
	for _, p := range parts {
		fmt.Fprintf(h, "%s %s %d\n", p.identity, p.Checksum, p.gate)
		n.Parts = append(n.Parts, strings.TrimPrefix(p.Dir, "/"))
		n.Gates = append(n.Gates, fmt.Sprintf("%d/%d", p.gate, gates))
	}
	return prefix + hex.EncodeToString(h.Sum(nil))[:32], n
}

// errRank says that what parts make together is of a higher rank than the server
// takes.
var errRank = errors.New("LIMINAL_LORA_MAX_RANK, which is to be the server's --max-lora-rank, does not allow for it")

// fill writes what parts make together into a folder.
func (m *Model) fill(dir string, b peft.Base, parts []part) error {
	own := b
	own.Name = "" // the server's name for it is not the one adapters were trained under
	var list []llm.Gated
	sums := map[string]string{}
	for _, p := range parts {
		a, err := serve.ReadAdapter(p.dir, p.Checksum, own)
		if err != nil {
			return fmt.Errorf("the adapter %s: %w", p.ID, err)
		}
		if sum, err := serve.BaseOf(p.dir); err != nil {
			return fmt.Errorf("the adapter %s: %w", p.ID, err)
		} else if sum != "" {
			sums[sum] = p.ID
		}
		list = append(list, llm.Gated{Adapter: a, Gate: float32(p.gate) / gates})
	}
	if len(sums) > 1 {
		return errors.New("the adapters were trained on different bases")
	}
	one := peft.Compose(b.Config, list...)
	rank, ok := allowed(one.Rank(), m.MaxRank)
	if !ok {
		return fmt.Errorf("together the adapters are of rank %d: %w", one.Rank(), errRank)
	}
	_, err := peft.Write(dir, one, b, rank)
	if err != nil {
		return fmt.Errorf("a composed adapter cannot be written: %w", err)
	}
	return nil
}

// allowed is the rank to write: the least that every server's kernels know, up to
// the largest that this one takes.
func allowed(rank, most int) (int, bool) {
	for _, r := range []int{8, 16, 32, 64, 128, 256, 512} {
		if r >= rank && r <= most {
			return r, true
		}
	}
	return rank, rank <= most
}

// lightest is the part of the lowest gate.
func lightest(parts []part) part {
	return slices.MinFunc(parts, func(a, b part) int { return cmp.Compare(a.gate, b.gate) })
}

// lighter are parts without the lightest, which is added to those left out.
func lighter(parts []part, left []model.Adapter) ([]part, []model.Adapter) {
	out := lightest(parts)
	kept := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.ID == out.ID })
	return kept, append(left, out.Adapter)
}
