# Everything here needs Go, make and git, and nothing else; only test-race needs a C
# compiler as well, test-page Chromium, and DOWNLOAD=1 curl.

# The cluster to talk to. Give yours: make run KUBECONFIG=~/.kube/config
# Without one, make starts its own and leaves your ~/.kube/config alone.
OWN_KUBECONFIG := $(CURDIR)/cluster/byhand.kubeconfig
ifeq ($(strip $(KUBECONFIG)),)
KUBECONFIG := $(OWN_KUBECONFIG)
endif
export KUBECONFIG
OWN := $(filter $(OWN_KUBECONFIG),$(KUBECONFIG))

# The kubectl that the cluster's build made, else the one on the PATH.
KUBECTL := PATH="$(CURDIR)/cluster/bin:$$PATH" kubectl
# What people need to know while a program runs in the foreground.
define SECOND_TERMINAL
@echo 'In a second terminal: export KUBECONFIG=$(KUBECONFIG)$(if $(OWN), PATH=$(CURDIR)/cluster/bin:$$PATH)'
$(if $(OWN),@echo 'After Ctrl-C the cluster still runs: make cluster-down removes it.')
endef

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Every build tag that a test hides behind.
TAGS := integration,bare,long,mutants,page
# Every module of this repository. Each is built, tested and linted.
MODULES := $(dir $(wildcard ./go.mod */go.mod */*/go.mod))

.DEFAULT_GOAL := help
# Each step needs the one before.
.NOTPARALLEL:
.PHONY: help
help: ## Show this help
	@awk -F ':.* ##+ ' '/^[a-z-]+:.* ## / {printf "  make %-14s %s\n", $$1, $$2} \
		/^[a-z-]+:.* ### / {more = more sprintf("  make %-14s %s\n", $$1, $$2)} \
		END {printf "\nand\n\n%s", more}' $(firstword $(MAKEFILE_LIST))

##@ Run

# The program and the control plane take minutes to build. While one of them is missing a
# recorded run plays, and bin/page has its address: the program's page goes there, so that
# a browser goes over to it by itself.
TO_BUILD := bin/byhand
TO_BUILD += $(if $(OWN),cluster/bin/built-from)
PLAYER := $(if $(filter-out $(wildcard $(TO_BUILD)),$(TO_BUILD)),bin/replay)
.PHONY: run
run: $(PLAYER) ## Run the controller; starts a cluster unless KUBECONFIG names yours
	@echo 127.0.0.1:0 >bin/page
	@$(if $(PLAYER),$(PLAYER) --address bin/page internal/page/recording.json) $(MAKE) --no-print-directory bin/byhand own-cluster install samples
	$(SECOND_TERMINAL)
	@exec bin/byhand --page "$$(cat bin/page)"

# It needs nothing but the standard library.
.PHONY: bin/replay
bin/replay:
	@echo "Everything is built, once. First what plays a recorded run meanwhile, in less than a minute:"
	go build -o $@ ./internal/page/replay
	@echo "See it in a browser. The page goes over to your own cluster when that is ready."
	@test ! -e bin/site/playground.html || echo "Or play: open file://$(CURDIR)/bin/site/playground.html in a browser."
	@echo "And read README.md, then the files in its order: you need no cluster for that."

.PHONY: bin/byhand
bin/byhand:
	@test -e $@ || echo "Building the program, the first time a minute or two:"
	go build -o $@ .

.PHONY: install
install: ### Install the CRDs into the cluster
	@$(KUBECTL) version --client >/dev/null 2>&1 || { echo "no kubectl: install it, or run 'make cluster', which builds one"; exit 1; }
	@$(KUBECTL) apply -f config/crd
	@$(KUBECTL) wait --for=condition=Established --timeout=30s -f config/crd >/dev/null

.PHONY: uninstall
uninstall: ### Remove the CRDs, and with them every Project and Foo
	@$(KUBECTL) delete --ignore-not-found -f config/crd

.PHONY: samples
samples: install ### Create the sample Project and Foo
	@$(KUBECTL) apply -f config/samples

.PHONY: deploy
deploy: ### Run the controller in the cluster, from your image: make deploy IMG=name:tag
	@test -n "$(IMG)" || { echo "which image? make deploy IMG=name:tag (docker build -t name:tag . makes one)"; exit 1; }
	@$(KUBECTL) kustomize config/default | sed 's|^\( *image: \).*|\1$(IMG)|' | $(KUBECTL) apply -f -
	@$(KUBECTL) -n byhand-system rollout status deployment/byhand --timeout=2m
	@! $(KUBECTL) get nodes -o yaml | grep -q 'kwok.x-k8s.io/node: fake' || \
		echo "kwok plays this cluster's nodes: these Pods say Running and run nothing. make run runs the controller here."

.PHONY: undeploy
undeploy: ### Take the controller away; every Foo stays, with its Deployment
	@$(KUBECTL) delete --ignore-not-found -k config/manager
	@echo "The CRDs are still there, and so is every Foo and Project: make uninstall removes them."

##@ Site

# Where to write it. SOURCE=https://… is where others can read the repository's files, and
# URL=https://… where the site will stand: a preview of a link needs that.
SITE ?= bin/site
SOURCE ?=
URL ?=

.PHONY: site
site: ### Write the site: picture, playground, sources beside their comments; opens from disk
	cd site && go run . -out "$(abspath $(SITE))" -source "$(SOURCE)" -url "$(URL)"

.PHONY: playground
playground: site ## The controller in a browser tab, beside an API server in memory: break it
	@page="$(abspath $(SITE))/playground.html"; \
	open "$$page" 2>/dev/null || xdg-open "$$page" 2>/dev/null || echo "open file://$$page in a browser"

# It needs a control plane without controllers of its own, and kwok, which plays the node.
.PHONY: chain
chain: ### Record the way from a Deployment to a running Pod, for the site (a minute)
	cd cluster && go run . exec $(FROM) --components etcd,kube-apiserver,kwok-controller -- $(MAKE) --no-print-directory -C .. chain-here

.PHONY: chain-here
chain-here:
	go run ./internal/page/chain internal/page/chain/chain.json

##@ Chapters

# More arguments for the program: make chapter CHAPTER=at ARGS=--trace
CHAPTER ?=
ARGS ?= $(ARGS_$(CHAPTER))
ARGS_dynamic = get foos --watch
ARGS_finalizer = --store bin/volumes
ARGS_apply = --beside=3s
# What runs beside the program: http speaks no TLS, and kubectl proxy does that for it.
BESIDE_http = $(KUBECTL) proxy & trap "kill $$! 2>/dev/null" EXIT INT TERM; \
	until $(KUBECTL) --server=http://127.0.0.1:8001 get --raw /version >/dev/null 2>&1; do kill -0 $$! || exit 1; sleep 0.1; done;
# A chapter without CRDs of its own uses Projects and Foos; apiserver is there to do without.
CHAPTER_CRDS = $(if $(filter-out apiserver,$(CHAPTER)),$(firstword $(wildcard chapters/$(CHAPTER)/config/crd) config/crd))
CHAPTER_SAMPLES = $(firstword $(wildcard chapters/$(CHAPTER)/config/samples) config/samples)

.PHONY: chapter
chapter: chapter-exists own-cluster ## Run a chapter: make chapter CHAPTER=http (chapters/README.md lists them)
	$(if $(CHAPTER_CRDS),@$(KUBECTL) apply -f $(CHAPTER_CRDS))
	$(if $(CHAPTER_CRDS),@$(KUBECTL) wait --for=condition=Established --timeout=30s -f $(CHAPTER_CRDS) >/dev/null)
	$(if $(CHAPTER_CRDS),@$(KUBECTL) apply -f $(CHAPTER_SAMPLES))
	cd chapters && go build -o ../bin/ ./$(CHAPTER)
	$(SECOND_TERMINAL)
	@$(BESIDE_$(CHAPTER)) $(if $(BESIDE_$(CHAPTER)),,exec )bin/$(CHAPTER) $(ARGS)

.PHONY: chapter-down
chapter-down: chapter-exists ### Take away what a chapter has installed, and its CRDs
	@test ! -e chapters/$(CHAPTER)/down.sh || { export PATH="$(CURDIR)/cluster/bin:$$PATH" && sh chapters/$(CHAPTER)/down.sh; }
	$(if $(CHAPTER_CRDS),@$(KUBECTL) delete --ignore-not-found -f $(CHAPTER_CRDS))

.PHONY: chapter-exists
chapter-exists:
	@test -n "$(CHAPTER)" -a -e "chapters/$(CHAPTER)/main.go" || { echo "which chapter? make chapter CHAPTER=NAME, where NAME is one of: $(notdir $(patsubst %/,%,$(dir $(wildcard chapters/*/main.go))))"; exit 1; }

##@ Exercise

.PHONY: exercise
exercise: ## Begin a Foo controller of your own: make exercise DIR=../mine
	@sh exercise/new.sh exercise "$$DIR"

.PHONY: mine
mine: ## Begin a controller of your own kind: make mine DIR=../desk (COPY=1: it stands alone)
	@COPY='$(COPY)' sh exercise/new.sh mine "$$DIR"

##@ Cluster

# CLUSTER=other starts or removes another one beside it.
CLUSTER ?= byhand
# DOWNLOAD=1 downloads the official programs with curl instead of compiling them, where one
# of these targets would build a control plane.
DOWNLOAD ?=
FROM := $(if $(filter-out 0,$(DOWNLOAD)),--download)

.PHONY: cluster
cluster: ### Start a real control plane (the first time builds it: about 8 minutes)
	@cd cluster && go run . up --name $(CLUSTER) $(FROM)

.PHONY: cluster-down
cluster-down: ### Stop the cluster and remove its data
	@cd cluster && go run . down --name $(CLUSTER)

.PHONY: own-cluster
own-cluster:
	@$(if $(OWN),$(MAKE) --no-print-directory cluster,echo 'using the cluster that KUBECONFIG names: $(KUBECONFIG)')

##@ Test

# Run a target of this file against a cluster that is started for it: a whole control
# plane, or etcd and kube-apiserver alone, where every request can be counted.
ON_CLUSTER := cd cluster && go run . exec $(FROM) -- $(MAKE) --no-print-directory -C ..
ON_BARE_CLUSTER := cd cluster && go run . exec $(FROM) --components etcd,kube-apiserver -- $(MAKE) --no-print-directory -C ..

# Run targets at the same time: most of them wait most of the time. Each must succeed.
define BESIDE
@running=; failed=0; trap 'kill $$running' INT TERM; \
for target in $(1); do $(MAKE) --no-print-directory $$target & running="$$running $$!"; done; \
for process in $$running; do wait $$process || failed=1; done; exit $$failed
endef

# The unit tests of each module.
UNIT_TESTS := $(addprefix unit-,$(MODULES))
OTHER_CHAPTERS = $$(go list ./... | grep -v /apiserver$$)

.PHONY: test
test: ## Run the tests: each module's, the core's on a real API server, each chapter's README
	$(ON_CLUSTER) test-here

# While an aggregated API server is killed, no namespace of the cluster can be deleted, and each
# test on it deletes one: beside the chapter apiserver only tests without a cluster run.
.PHONY: test-here test-core test-readmes test-readme-apiserver test-modules
test-here: install
	$(call BESIDE,test-core test-readmes)
	$(call BESIDE,test-readme-apiserver test-modules)

# The tests of e2e wait most of the time: more of them run than there are CPUs, and the
# unit tests beside them.
test-core:
	go test -count=1 -tags integration -parallel 6 ./...

test-readmes:
	cd chapters && go test -count=1 -tags integration -p 4 -run '^TestReadme$$' $(OTHER_CHAPTERS)

test-readme-apiserver:
	cd chapters && go test -count=1 -tags integration -run '^TestReadme$$' ./apiserver

test-modules: $(filter-out unit-./,$(UNIT_TESTS))

.PHONY: test-unit $(UNIT_TESTS)
test-unit: $(UNIT_TESTS) ### Run the tests that need no cluster
$(UNIT_TESTS): unit-%:
	cd $* && go test ./...

.PHONY: test-all test-chapters test-pizzas test-counts test-glass test-cluster
test-all: ### Run the rest, for maintainers: the chapters, the cluster, failovers, what is counted
	$(call BESIDE,test-chapters test-pizzas test-counts test-glass test-cluster)

test-chapters:
	$(ON_CLUSTER) test-chapters-here

test-pizzas:
	$(ON_CLUSTER) test-pizzas-here

test-counts:
	$(ON_BARE_CLUSTER) test-counts-here

test-glass:
	$(ON_BARE_CLUSTER) test-glass-here

test-cluster:
	cd cluster && go test -count=1 -tags integration ./...

.PHONY: test-chapters-here test-chapters-beside test-failover test-pizzas-here
test-chapters-here: install
	$(call BESIDE,test-chapters-beside test-failover)
	cd chapters && go test -count=1 -tags integration,long -skip '^TestReadme$$' ./apiserver

test-chapters-beside:
	cd chapters && go test -count=1 -tags integration -parallel 6 -skip '^TestReadme$$' $$(go list ./... | grep -vE '/(apiserver|admission|versions)$$')

test-failover:
	cd compare && go test -count=1 -tags integration -run Official .
	go test -count=1 -tags long -parallel 4 -run '^TestFailover$$' ./internal/tests/e2e

# These two have one CRD, so that they wait for each other.
test-pizzas-here:
	cd chapters && go test -count=1 -tags integration -parallel 6 -skip '^TestReadme$$' ./admission
	cd chapters && go test -count=1 -tags integration,long -parallel 6 ./versions

.PHONY: test-counts-here
test-counts-here: install
	go test -count=1 -tags bare ./internal/tests/e2e -foos 1000 -rounds 1 -idle 5s
	cd chapters && go build -o ../bin/ ./informer
	for parts in '' reflector,fifo,store,queue shared,queue; do \
		go test -count=1 -tags bare -run ColdStart ./internal/tests/e2e -foos 200 -idle 0s -controller "bin/informer --client-go=$$parts" || exit 1; \
	done

# These tests act on every namespace, so that nothing else runs on their cluster.
.PHONY: test-glass-here
test-glass-here: install
	go test -count=1 -timeout 20m -tags bare ./kit/testkit ./look

.PHONY: test-page
test-page: ### Look at the page in a real browser (needs Chromium)
	cd site/browser && go test -count=1 -tags page -parallel 6 -v -timeout 20m ./...

# In a simulation one goroutine at a time runs, so that two cannot race.
.PHONY: test-race
test-race: ### Run the unit tests under the race detector (needs a C compiler)
	go test -race ./controller/... ./informer/... ./clientset/... ./kit/... $$(go list ./internal/... | grep -v /simulation$$)
	cd chapters && go test -race ./...

.PHONY: mutants
mutants: ### Make small mistakes in the code and see that the tests notice
	go test -count=1 -tags mutants -timeout 30m ./internal/tests/mutants
	go test -count=1 -tags mutants -timeout 30m -parallel 4 -run TestMistakes ./exercise
	cd chapters && go test -count=1 -tags mutants -run TestMistakes ./testing

# More: make coldstart FOOS=5000 ROUNDS=3 IDLE=0s, and CONTROLLER=bin/mine for another program
FOOS ?= 2000
ROUNDS ?= 1
IDLE ?= 65s
.PHONY: coldstart
coldstart: ### Count what a cold start of many Foos writes, and a resync (about 2 minutes)
	$(ON_BARE_CLUSTER) coldstart-here

.PHONY: coldstart-here
coldstart-here: install
	go test -count=1 -tags bare -v -timeout 60m -run ColdStart ./internal/tests/e2e -foos $(FOOS) -rounds $(ROUNDS) -idle $(IDLE) -controller "$(CONTROLLER)"

# More: make failover FAILOVERS=5
FAILOVERS ?= 1
.PHONY: failover
failover: ### Measure how long nothing is reconciled when the leader ends (2 minutes)
	$(ON_CLUSTER) failover-here

.PHONY: failover-here
failover-here: install
	go test -count=1 -tags long -v -timeout 60m -parallel 4 -run '^TestFailover$$' ./internal/tests/e2e -failovers $(FAILOVERS)

# More: make cache-cost SECRETS=1000
SECRETS ?= 100
.PHONY: cache-cost
cache-cost: ### Measure what each way to keep Secrets costs (a minute; chapters/cache)
	$(ON_BARE_CLUSTER) cache-cost-here

.PHONY: cache-cost-here
cache-cost-here:
	cd chapters && go test -count=1 -tags bare -v -timeout 60m -run TestCost ./cache -secrets $(SECRETS) -chart cost.svg

.PHONY: apiserver-cost
apiserver-cost: ### Time an API server of one's own beside a CRD (a minute; chapters/apiserver)
	$(ON_BARE_CLUSTER) apiserver-cost-here

.PHONY: apiserver-cost-here
apiserver-cost-here:
	cd chapters && go test -count=5 -tags integration,bare -v -run '^TestCost$$' ./apiserver

# More: make compare FOOS=2000 ROUNDS=9
.PHONY: compare
compare: FOOS = 1000
compare: ROUNDS = 5
compare: ### Measure a cold start beside sample-controller and controller-runtime (10 minutes)
	cd compare && go run ./harness -foos $(FOOS) -rounds $(ROUNDS)

# More: make judge CONTROLLER='bin/mine --kubeconfig {kubeconfig}' JUDGE=-quick, and bin/judge -help
CONTROLLER ?=
JUDGE ?=
# In seconds, without Kubernetes: make judge QUICK=1 DIR=../mine, where a package main has
# func run(ctx context.Context, config *rest.Config) error
QUICK ?=
# A program about any kind, by what a user does: make judge STORY=judge.yaml (judge/story/foos.yaml is one)
STORY ?=
.PHONY: judge
judge: ## Put any Foo controller to the test: CONTROLLER='go run ./mine' (4 to 15 minutes), QUICK=1 DIR=../mine (seconds); any other: STORY=judge.yaml
	@test -n "$(CONTROLLER)$(QUICK)$(STORY)" || { echo "which controller? make judge CONTROLLER='go run ./mine --kubeconfig {kubeconfig}'"; exit 1; }
	@test -z "$(QUICK)" -o -z "$(STORY)" || { echo "a story is played on a control plane: leave QUICK or STORY out"; exit 1; }
	@go build -o bin/ $(if $(QUICK),./judge/quick,./judge)
	@$(if $(QUICK),bin/quick $(JUDGE) "$$DIR",bin/judge $(JUDGE) $(if $(STORY),-story "$(STORY)") $(if $(CONTROLLER),-- $(CONTROLLER)))

# More: make look CONTROLLER=bin/mine LOOK='--report FILE --allow get-of-watched', and bin/look -help
LOOK ?=
.PHONY: look
look: own-cluster ## See what any controller hears, sends and does wrong: make look CONTROLLER='../theirs/manager'
	@test -n "$(CONTROLLER)" || { echo "which controller? make look CONTROLLER='../theirs/manager --kubeconfig {kubeconfig}'"; exit 1; }
	@go build -o bin/look ./look
	$(SECOND_TERMINAL)
	@exec bin/look $(LOOK) -- $(CONTROLLER)

# More: go test -tags long -v -timeout 2h -parallel 4 ./judge/internal/court -everything, which has the stories, too
.PHONY: test-judge
test-judge: bin/byhand ### See that the judge catches each known bug, and none here (7 minutes)
	go test -count=1 -tags long -v -timeout 60m -parallel 6 -run '^Test(Reference|Mine)$$' ./judge/...
	@$(MAKE) --no-print-directory judge CONTROLLER='bin/byhand --kubeconfig {kubeconfig}' JUDGE=-quick

# The cluster needs Linux or macOS, and so do the chapters.
.PHONY: lint
lint: ### Check formatting, vet and staticcheck in every module, and other systems
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "gofmt would change:" $$unformatted; exit 1; }
	for module in $(MODULES); do \
		(cd $$module && go mod tidy -diff && go vet -tags $(TAGS) ./... && go run $(STATICCHECK) -tags $(TAGS) ./...) || exit 1; \
	done
	GOOS=darwin go vet ./... && GOOS=windows go vet . ./clientset/... ./informer/... ./controller/...
	for module in chapters cluster; do (cd $$module && GOOS=darwin go vet ./...) || exit 1; done
	GOOS=js GOARCH=wasm go vet ./internal/playground/...
