package mail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// Outbox writes letters into a folder, one .eml file each, for whoever runs
// this program to read (G-11). Names grow with time. A file is complete when
// it has its name.
type Outbox struct {
	dir, from string
	folder    sync.Once
	made      error
}

var _ identity.Mail = (*Outbox)(nil)

// NewOutbox returns the outbox of a folder, which is made with the first
// letter and belongs to nobody else: letters hold tokens.
func NewOutbox(dir, from string) (*Outbox, error) {
	if err := checkSender(from); err != nil {
		return nil, err
	}
	return &Outbox{dir: dir, from: from}, nil
}

// Send implements identity.Mail.
func (o *Outbox) Send(_ context.Context, l identity.Letter) error {
	o.folder.Do(func() { o.made = os.MkdirAll(o.dir, 0o700) })
	if o.made != nil {
		return fmt.Errorf("the folder of mails cannot be made: %w", o.made)
	}
	m, err := message(o.from, l)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(o.dir, ".letter-*") // mode 0600
	if err != nil {
		return fmt.Errorf("a mail cannot be written: %w", err)
	}
	_, err = m.WriteTo(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(o.dir, id.New()+".eml"))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what is half written helps nobody
		return fmt.Errorf("a mail cannot be written: %w", err)
	}
	return nil
}
