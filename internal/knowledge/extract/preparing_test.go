package extract

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for the first PDF of an installation is told that its reader is made
// ready; everybody after them waits for nothing and is told nothing.
func TestWhoWaitsForThePDFReaderIsToldSo(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]string{
		8 * time.Second:        "[{0 0 true} {0 0 false}]",
		200 * time.Millisecond: "[]",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &Parsers{pdf: func() (*pdfEngine, error) { time.Sleep(takes); return &pdfEngine{}, nil }}
			told := []Progress{}
			if e, err := p.readyPDF(WithProgress(t.Context(), func(at Progress) { told = append(told, at) })); err != nil || e == nil {
				t.Fatal(e, err)
			}
			if got := fmt.Sprint(told); got != want {
				t.Errorf("when it takes %s: %s, want %s", takes, got, want)
			}
		})
	}
}
