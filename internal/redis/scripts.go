package redis

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed lua/append.lua
	appendSource string
	//go:embed lua/read.lua
	readSource string
	//go:embed lua/finish.lua
	finishSource string
	//go:embed lua/take.lua
	takeSource string
	//go:embed lua/acquire.lua
	acquireSource string
	//go:embed lua/renew.lua
	renewSource string
	//go:embed lua/release.lua
	releaseSource string
	//go:embed lua/count.lua
	countSource string
	//go:embed lua/enter.lua
	enterSource string
	//go:embed lua/leave.lua
	leaveSource string
)

// The scripts: each is one step that no other client sees half done.
var (
	appendScript  = redis.NewScript(appendSource)
	readScript    = redis.NewScript(readSource)
	finishScript  = redis.NewScript(finishSource)
	takeScript    = redis.NewScript(takeSource)
	acquireScript = redis.NewScript(acquireSource)
	renewScript   = redis.NewScript(renewSource)
	releaseScript = redis.NewScript(releaseSource)
	countScript   = redis.NewScript(countSource)
	enterScript   = redis.NewScript(enterSource)
	leaveScript   = redis.NewScript(leaveSource)
)
