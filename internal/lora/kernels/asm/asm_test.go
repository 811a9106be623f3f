package asm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"liminal/internal/lora/kernels/asm"
)

func TestTheCommittedFilesAreGenerated(t *testing.T) {
	t.Parallel()
	files, err := asm.Files()
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("internal/lora/kernels/%s is not what the generator writes: run go generate there", name)
		}
	}
}

func TestTilesFitTheRegisters(t *testing.T) {
	t.Parallel()
	for _, s := range asm.Sets() {
		registers := 2 * s.Wide
		for _, tile := range s.NT {
			m, n := tile[0], tile[1]
			need := m*n + n + 1
			if m == 1 {
				need = n + 2
			}
			if need > registers || m*n+4 > registers {
				t.Errorf("%s NT %dx%d needs %d registers of %d", s.Name, m, n, need, registers)
			}
		}
		for _, tile := range s.NN {
			if need := tile[0]*tile[1] + tile[1] + 1; need > registers {
				t.Errorf("%s NN %dx%d needs %d registers of %d", s.Name, tile[0], tile[1], need, registers)
			}
		}
	}
}
