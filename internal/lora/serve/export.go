package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"liminal/internal/fault"
	"liminal/internal/lora/peft"
)

// Folders are the folders of adapters' weights below a root.
type Folders struct{ Root string }

// Peft opens the files of a version that PEFT reads, with its params.json, and
// nothing else that lies there. NotFound where there is no such folder; Internal
// where a file is not what params.json says, or that is not the one of the
// checksum.
func (f Folders) Peft(dir, checksum string) (fs.FS, error) {
	if !filepath.IsLocal(dir) {
		return nil, fault.New(fault.NotFound, "There is no folder of weights %q.", dir)
	}
	path := filepath.Join(f.Root, dir)
	names := []string{peft.ConfigFile, peft.WeightsFile, ParamsFile}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(path, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fault.New(fault.NotFound, "The weights of this version are not there any more: %s is missing.", name)
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fault.New(fault.Internal, "%s of this version is no file.", name)
		}
	}
	if err := Verify(path, checksum, peft.Base{}); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The weights of this version are not those the adapter was approved with, so they are not handed out.")
	}
	return some{os.DirFS(path), names}, nil
}

// some are the named files of a folder.
type some struct {
	fs.FS
	names []string
}

// ReadDir implements fs.ReadDirFS.
func (s some) ReadDir(string) ([]fs.DirEntry, error) {
	out := make([]fs.DirEntry, 0, len(s.names))
	for _, name := range s.names {
		info, err := fs.Stat(s.FS, name)
		if err != nil {
			return nil, err
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	return out, nil
}
