package proxy

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// unawareFile has the models that do not know how to drop bound thinking.
	unawareFile = "models.json"
	// unawareFor is how long the next process believes that: a backend may learn it, and
	// to ask once more costs one refusal.
	unawareFor = 7 * 24 * time.Hour
	// mostUnaware and longestModel bound what is remembered; a name is the client's.
	mostUnaware, longestModel = 100, 200
)

// unawareModel is a model of a backend that does not know block_binding.
type unawareModel struct {
	Model    string    `json:"model"`
	Upstream string    `json:"upstream"`
	At       time.Time `json:"at"` // when it refused
}

// unawareModels are remembered in a file, so that a restart costs nobody a refusal.
type unawareModels struct {
	file, upstream string
	list           []unawareModel
}

// read takes over what another process learned lately.
func (u *unawareModels) read(now time.Time) error {
	raw, err := os.ReadFile(u.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &u.list)
	}
	if err != nil {
		u.list = nil
	}
	u.list = slices.DeleteFunc(u.list, func(m unawareModel) bool { return now.Sub(m.At) >= unawareFor })
	return err
}

func (u *unawareModels) has(model string) bool {
	return slices.ContainsFunc(u.list, func(m unawareModel) bool { return m.Model == model && m.Upstream == u.upstream })
}

// add remembers one.
func (u *unawareModels) add(model string, now time.Time) error {
	if len(model) > longestModel {
		return nil // it is refused each time
	}
	u.list = slices.DeleteFunc(u.list, func(m unawareModel) bool { return m.Model == model && m.Upstream == u.upstream })
	u.list = append(u.list, unawareModel{model, u.upstream, now.UTC()})
	u.list = u.list[max(0, len(u.list)-mostUnaware):]
	raw, err := json.Marshal(u.list)
	if err == nil {
		err = makeFolder(filepath.Dir(u.file))
	}
	if err != nil {
		return err
	}
	return writeWhole(u.file, raw)
}
