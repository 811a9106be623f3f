package main

import (
	"context"
	"fmt"

	"liminal/internal/capture"
	"liminal/internal/config"
)

// checkPalace says whether what the capture proxy keeps is encrypted, and how full the
// store of the platform that runs is of it.
func checkPalace(ctx context.Context, conf config.Config) finding {
	f := finding{Check: "contents of agents", Health: well, Says: "what the capture proxy keeps is encrypted with the first of PALACE_KEYS"}
	keys, err := capture.Keys(conf.Palace.Keys)
	switch {
	case err != nil:
		f.Health, f.Says, f.Hint = ill, err.Error(), "PALACE_KEYS is id:base64[,id:base64], each of 32 bytes: a:$(openssl rand -base64 32)"
		return f
	case keys == nil:
		f.Says, f.Hint = "what the capture proxy keeps is not encrypted; only its owner may read the folder", "PALACE_KEYS=a:$(openssl rand -base64 32) encrypts it from then on"
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	var stats struct {
		Bytes int64 `json:"stored_bytes"`
	}
	if platformOn(conf.PalaceDir()).Get(ctx, "/v1/palace/stats", nil, &stats) != nil { // none runs, which others say
		return f
	}
	bound := int64(conf.Palace.Disk)
	f.Says += fmt.Sprintf("; the store has %s of the %s that PALACE_DISK lets it have", size(stats.Bytes), size(bound))
	if stats.Bytes >= bound-bound/100 {
		f.Health, f.Hint = warning, "what is put away makes room by itself; where nothing is, exchanges come without their contents: raise PALACE_DISK, or erase something"
	}
	return f
}
