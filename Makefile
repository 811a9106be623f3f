# make run    builds and starts everything on this machine; needs Go and make
# make test   passes everything; CI runs exactly this
# make check  the inner loop: quick, cached, no Temporal server, no browser
#
# Further: make web api tools requirements fuzz replay bench bench-lane rivals fault attack containers lint e2e browser clean

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BIN     := bin/liminald
LDFLAGS := -s -w -X main.version=$(VERSION)

# What is built, what is tested and what the image holds is compiled in one way,
# whatever folder it is in, and so once: the Temporal server takes minutes.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath $(filter-out -trimpath,$(GOFLAGS))

# The Temporal server takes minutes to compile. These packages hold it or test
# the program that does; they are compiled once, without the race detector, and
# so is what reads whole books to measure how well they are searched, and what
# bounds the memory of its own children: the detector's own is beyond any bound.
ENGINE   := ./internal/eval ./internal/cell ./internal/wire/devserver ./scripts/temporal ./internal/bench ./cmd/liminald ./workflows/internal/record
HEAVY_RE := /internal/eval$$|/internal/cell$$|/internal/wire/devserver$$|/scripts/temporal$$|/internal/bench$$|/cmd/liminald$$|/e2e$$|/e2e/attack/hostile$$|/workflows/internal/record$$
LIGHT     = $(shell $(GO) list ./... | grep -vE '$(HEAVY_RE)')

# These compute, or read what stands in files: their tests have next to nothing
# that waits for another goroutine, and watching them took several times as long.
# What they call is watched in the tests of the packages it is of.
COMPUTES  := ./artifacts ./internal/adaptation ./internal/arch ./internal/architect ./internal/embed/bert ./internal/graph ./internal/learning/lesson ./internal/lora/train ./internal/model/extractive ./internal/rehearsal ./internal/safety
WATCHED    = $(filter-out $(COMPUTES:./%=liminal/%),$(LIGHT))

# Tests of the watched packages that do one thing after the other, and much of it:
# each route asked in turn, each file read in turn. The wall is watched on SQLite.
IN_TURN   := ^Test(NoHostileRequestIsAFaultOfOurs|AKeyOpensTheRoutesOfItsScopesAndNoOther$$|TheWallOnPostgreSQL$$|TheWallHoldsForKeys$$|UploadsAboveThePlanAreRefused$$|AViewPaysWhereTheArithmeticSaysSo$$|WhatIsSaidOftenInAnArchiveStaysSmall$$|FilesOfNothingButPiecesAreRefused$$|HostileArchivesAreRefusedInASentence$$)

# Tests that promise a time hold it where nothing runs beside them: `make promises`.
TIMED     := In(TwoSeconds|TenMilliseconds)$$

# The race detector needs a C compiler; a machine without one still tests. It
# watches our code and the libraries, but for those of the list, where one
# goroutine computes: SQLite, which is C made into Go, and its memory; what makes
# machine code of the reader of PDF; what reads JSON Schemas. Watching them took
# several times as long. Whatever has atomics must be watched, or the detector
# misses how goroutines wait for each other; these have none. In internal/lora/fit
# nothing waits for anything itself, and watching its loops took most of the time
# of tests that train something: they are watched in its own tests of dividing work.
WAZEVO   := github.com/tetratelabs/wazero/internal/engine/wazevo
ALONE    := modernc.org/sqlite/lib modernc.org/memory $(WAZEVO)/ssa $(WAZEVO)/frontend $(WAZEVO)/backend/... github.com/santhosh-tekuri/jsonschema/v5
RACE     := $(if $(shell command -v $${CC:-gcc} 2>/dev/null),-race $(ALONE:%=-gcflags=%=-race=false))
WATCH    := $(if $(RACE),CGO_ENABLED=1 )$(GO) test -vet=off $(RACE)
LOOPS    := $(if $(RACE),-gcflags=liminal/internal/lora/fit=-race=false)
WORKFLOWCHECK := $(GO) run go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOLANGCI      := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: run build test proof check format commits vet workflowcheck api tools requirements requirements-check \
        unit engine promises fuzz replay web web-check e2e browser browser-shared browser-alone bench bench-lane rivals fault fault-short attack attack-short containers lint clean

run: build
	exec $(BIN) dev

build:
	@GO='$(GO)' scripts/build.sh -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/liminald

# Everything runs beside a real PostgreSQL, Redis and Temporal server, started
# for it; LANE_REQUIRED makes a test fail that would skip without them.
test: build
	LANE_REQUIRED=1 GO=$(GO) scripts/lane.sh run $(MAKE) proof
	@echo 'make test: everything passed'

# The longest first; what measures time or memory comes last and by itself. While
# the client is made anew (web-check), nothing that holds it is compiled.
proof:
	@MAKE='$(MAKE)' scripts/proof.sh format requirements-check web-check+workflowcheck unit+browser-shared+vet+engine+e2e+fuzz+containers replay promises fault-short browser-alone attack-short

# `go vet` looks at more than the tests would, so they do not look again.
check: format requirements commits
	$(GO) vet $(LIGHT)
	$(GO) test -vet=off $(LIGHT)

format:
	@bad=$$(find . -name '*.go' -not -path '*/node_modules/*' -not -path './.*' -exec gofmt -l {} +); \
	[ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }

# The subjects of a change's commits: short and imperative.
commits:
	@$(GO) run ./scripts/commits

vet:
	$(GO) vet ./...
	$(GO) vet -tags containers ./e2e

# Workflows must give the same commands for the same history, always.
workflowcheck:
	$(WORKFLOWCHECK) -config workflowcheck.config.yaml ./workflows/...

# After a change of the API: its document, and the client's types out of it.
api:
	$(GO) test ./api -count=1 -run Document -update
	$(GO) run ./scripts/apitypes

# The page of all tools, of their specs; a test of scripts/tools holds it to them.
tools:
	$(GO) run ./scripts/tools

requirements:
	$(GO) run ./scripts/requirements

requirements-check:
	$(GO) run ./scripts/requirements -check

# `make vet` looks at all of it, so the tests do not look again.
unit:
	$(WATCH) $(LOOPS) -shuffle=on -timeout 20m -skip '$(IN_TURN)|$(TIMED)' $(WATCHED)
	$(GO) test -vet=off -shuffle=on -timeout 20m -skip '$(TIMED)' $(COMPUTES)
	$(GO) test -vet=off -run 'Dialect|LogSays|GroundedReader|$(IN_TURN)' ./api ./internal/capture/proxy ./internal/knowledge/extract # all logs; watched, only some
	$(if $(RACE),$(WATCH) -run 'AnyNumberOfProcessors|^TestGradientsAre|AdamW' ./internal/lora/fit)

# One package at a time: each starts servers of its own.
engine:
	$(GO) test -vet=off -p 1 -shuffle=on -timeout 20m $(ENGINE)

# What promises a time or a bound of memory, which the race detector would spoil,
# and anything beside it.
promises:
	$(GO) test -run 'InTwoSeconds$$' ./internal/rehearsal
	$(GO) test -run 'InTenMilliseconds$$' ./internal/tool/builtin
	$(GO) test -run 'Bounds|ToldSo|Thousands|Circle|Confined|AnotherProcess' ./internal/knowledge/extract
	$(GO) test -vet=off -run 'AnotherProcess|AnotherWorker|Killed|WholeTree|LookedIntoWherever' ./workflows/internal/record -parallel 1 -alone

fuzz:
	GO=$(GO) scripts/fuzz.sh $(FUZZTIME)

# What shipped once must still be understood: recorded runs and default artifacts.
replay: build
	$(BIN) replay workflows/testdata/histories/*.json
	$(BIN) validate artifacts/defaults/*/*.json

# Rebuilds the committed client (web/dist) from its sources; needs Node.
web:
	scripts/web.sh build

web-check:
	scripts/web.sh check

# The real program from outside: over HTTP and with kill -9, then in a browser.
e2e: build
	LIMINALD=$(abspath $(BIN)) $(GO) test -vet=off -count=1 -timeout 20m ./e2e

browser: browser-shared browser-alone

# What may run beside other things, and what measures.
browser-shared: build
	LIMINALD=$(abspath $(BIN)) GO=$(GO) scripts/web.sh browser -skip '^TestBrowserAlone$$'

browser-alone: build
	LIMINALD=$(abspath $(BIN)) GO=$(GO) scripts/web.sh browser -run '^TestBrowserAlone$$'

bench: build
	$(BIN) bench

# The same against PostgreSQL, Redis and a separate Temporal server.
bench-lane: build
	GO=$(GO) scripts/lane.sh run --program $(BIN) bench

# A turn beside the same in LangGraph and DBOS, which come from PyPI.
rivals: build
	LIMINALD=$(abspath $(BIN)) scripts/rivals/run.sh

# A load of turns, questions and uploads while things are killed, and then a
# count of what was lost, doubled or reordered. The bar is none.
fault: build
	LIMINALD=$(abspath $(BIN)) $(GO) run ./e2e/fault --lane both --for 3m

fault-short: build
	LIMINALD=$(abspath $(BIN)) $(GO) run ./e2e/fault --lane both --short

# What a stranger or an account of its own does to take the house, against the
# real program on both lanes. It holds.
attack: build
	GO=$(GO) scripts/lane.sh run $(GO) run ./e2e/attack --program $(abspath $(BIN)) --lane both
	$(GO) run ./e2e/attack/hostile --program $(BIN)
	GO=$(GO) scripts/lane.sh run --program $(GO) run ./e2e/attack/hostile --program $(BIN) --lane production

attack-short: build
	$(GO) run ./e2e/attack --program $(abspath $(BIN)) --lane both --short
	LIMINALD=$(abspath $(BIN)) $(GO) test -count=1 -timeout 10m ./e2e/attack/hostile

# The image is built, run, killed and upgraded; the files of Compose and
# Kubernetes are held to their schemas. Where the machine does not allow
# containers it is skipped, and the table of `make test` says why.
containers:
	GO=$(GO) scripts/containers.sh

# Not part of `make test`: installing the linter alone takes minutes.
lint:
	$(GOLANGCI) run

clean:
	rm -rf bin
