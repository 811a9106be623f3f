package bench

import "time"

// sizes is how much of everything is measured.
type sizes struct {
	warm, alone int           // calls before, and calls of, a distribution
	during      time.Duration // of a rate
	turns       int           // the long conversation's last turn
	resumes     int           // paused runs answered one by one
	paused      int           // runs that wait at once
	tokens      int           // of the streamed answer
	ingest      int           // bytes of the ingested document
	chunks      int           // in the searched index
	searches    int
	// settle is the pause before each measurement. The engine looks once more at
	// every workflow task, 10 s after it was handed out: what one measurement
	// left would be counted in the next.
	settle time.Duration
}

// full is what the published figures are made of; it takes some minutes.
func full() sizes {
	return sizes{
		warm: 50, alone: 400, during: 10 * time.Second, turns: 1000, resumes: 200, paused: 10_000,
		tokens: 2000, ingest: 8 << 20, chunks: 100_000, searches: 200, settle: 12 * time.Second,
	}
}

// quick shows that everything works and roughly how fast, in under a minute.
func quick() sizes {
	return sizes{
		warm: 10, alone: 60, during: 2 * time.Second, turns: 100, resumes: 40, paused: 500,
		tokens: 500, ingest: 1 << 20, chunks: 10_000, searches: 50,
	}
}
