package palace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/capture"
	"liminal/internal/identity"
	"liminal/internal/vault"
	"liminal/internal/view"
)

// stillMoving is how long after a change of the folder another may have the same time: it
// is looked at once more then.
const stillMoving = 2 * time.Second

// Epoch is one of a lineage, and what became of it.
type Epoch struct {
	view.Epoch
	// Exchanges were sent in it, Refused of them were refused by the backend, and sent
	// as they were.
	Exchanges int `json:"exchanges"`
	Refused   int `json:"refused"`
	// Bytes is how much less was sent in all of them.
	Bytes int64 `json:"bytes_less"`
	// Before and After are the last request before it that was charged for, and the first
	// that was sent in it; nil: there was none yet.
	Before *EpochTokens `json:"before,omitempty"`
	After  *EpochTokens `json:"after,omitempty"`
	// First is the exchange of After.
	First string `json:"-"`
}

// epochFiles are what a proxy has in force, as it was read last.
type epochFiles struct {
	dir     string
	keys    *vault.Ring
	changed time.Time // the folder
	seen    map[string]time.Time
}

// fresh are the epochs of files that changed since the last time.
func (f *epochFiles) fresh(now time.Time, tell func(error)) (list []view.Epoch) {
	info, err := os.Stat(f.dir)
	if err != nil || info.ModTime().Equal(f.changed) && now.Sub(f.changed) > stillMoving {
		return nil // there is none, or nothing new in it
	}
	files, err := os.ReadDir(f.dir)
	if err != nil {
		tell(err)
		return nil
	}
	f.changed = info.ModTime()
	for _, file := range files {
		info, err := file.Info()
		if err != nil || !strings.HasSuffix(file.Name(), ".json") || strings.HasPrefix(file.Name(), ".") {
			continue // it went meanwhile, or is not whole yet
		}
		if at, ok := f.seen[file.Name()]; ok && at.Equal(info.ModTime()) && now.Sub(at) > stillMoving {
			continue
		}
		epochs, err := readEpochs(f.keys, filepath.Join(f.dir, file.Name()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			tell(fmt.Errorf("the epochs in %s cannot be read: %w", file.Name(), err))
		}
		f.seen[file.Name()] = info.ModTime()
		list = append(list, epochs...)
	}
	return list
}

// readEpochs reads a file of a proxy's, sealed or not.
func readEpochs(keys *vault.Ring, file string) (list []view.Epoch, err error) {
	raw, err := os.ReadFile(file)
	if err == nil {
		raw, err = capture.OpenFile(keys, epochsDir+"/"+filepath.Base(file), raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

// noteEpochs takes in what proxies have in force since the last time.
func (i *Intake) noteEpochs(ctx context.Context, store Store, owner identity.Viewer, f *epochFiles) error {
	list := f.fresh(time.Now(), func(err error) {
		i.Log.Warn("a part of what is in force cannot be read; agents are not affected", "error", err)
	})
	if len(list) == 0 {
		return nil
	}
	err := store.TakeIn(ctx, owner, func(tx Tx) error {
		for _, e := range list {
			if e.Lineage == "" { // of a plan that nobody's platform made
				of, err := tx.Lineages(e.Client, 1)
				if err != nil {
					return err
				}
				if len(of) > 0 {
					e.Lineage = of[0].ID
				}
			}
			if err := tx.PutEpoch(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		clear(f.seen) // they are read again
		f.changed = time.Time{}
	}
	return err
}
