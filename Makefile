# All targets need Go, make and git. Also: test-race a C compiler, test-page Chromium, DOWNLOAD=1 curl.

# To use your cluster: make run KUBECONFIG=~/.kube/config
# Otherwise make starts a local cluster, and does not read your ~/.kube/config.
OWN_KUBECONFIG := $(CURDIR)/bin/byhand.kubeconfig
export KUBECONFIG := $(or $(strip $(KUBECONFIG)),$(OWN_KUBECONFIG))
OWN := $(filter $(OWN_KUBECONFIG),$(KUBECONFIG))

# kubectl from the local cluster's build, or from the PATH.
KUBECTL := PATH="$(CURDIR)/bin:$$PATH" kubectl
INSTALL = $(KUBECTL) apply -f $(1) && $(KUBECTL) wait --for=condition=Established --timeout=30s -f $(1) >/dev/null
# Printed while a program runs in the foreground.
define SECOND_TERMINAL
@echo 'In a second terminal: export KUBECONFIG=$(KUBECONFIG)$(if $(OWN), PATH=$(CURDIR)/bin:$$PATH)'
$(if $(OWN),@echo 'After Ctrl-C the cluster still runs: make cluster-down removes it.')
endef

# Before a program that runs in the foreground. Our own cluster is kept up meanwhile.
KEEP_UP := $(if $(OWN),go -C tools/cluster build -o ../../bin/cluster/cluster . && exec bin/cluster/cluster exec --name byhand --,exec)

TAGS := integration,bare,long,mutants,page
# All modules of this repository. Each is built, tested and linted.
MODULES := $(dir $(wildcard ./go.mod */go.mod */*/go.mod */*/*/go.mod))

# The targets depend on each other's results, so none run in parallel.
.NOTPARALLEL:
.PHONY: help run kubeconfig bin/replay bin/byhand install uninstall samples deploy undeploy site playground \
	chapter chapter-down chapter-exists exercise new cluster cluster-down own-cluster test test-here test-readme \
	test-unit test-all test-chapters test-bare test-page test-race mutants coldstart coldstart-here compare judge look \
	test-judge lint

help: ## Show this help
	@awk -F ':.* ##+ ' '/^[a-z-]+:.* ## / {printf "  make %-14s %s\n", $$1, $$2} \
		/^[a-z-]+:.* ### / {more = more sprintf("  make %-14s %s\n", $$1, $$2)} \
		END {printf "\nand\n\n%s", more}' $(firstword $(MAKEFILE_LIST))

##@ Run
# The program and the control plane take minutes to build. Meanwhile a recorded run plays on a page.
# bin/page has the page's address: the program reuses it, so that the browser switches to the live page.
TO_BUILD := bin/byhand $(if $(OWN),bin/cluster/bin/built-from)
PLAYER := $(if $(filter-out $(wildcard $(TO_BUILD)),$(TO_BUILD)),bin/replay)
run: kubeconfig $(PLAYER) ## Run the controller; starts a cluster unless KUBECONFIG names yours
	@echo 127.0.0.1:0 >bin/page
	@$(if $(PLAYER),$(PLAYER) --address bin/page internal/observe/page/recording.json) $(MAKE) --no-print-directory bin/byhand own-cluster install samples
	$(SECOND_TERMINAL)
	@$(KEEP_UP) bin/byhand --page "$$(cat bin/page)"

# Fail before anything is built. Without a file, kubectl would ask localhost:8080.
kubeconfig:
	@$(if $(OWN),,IFS=:; for file in $$KUBECONFIG; do test ! -s "$$file" || exit 0; done; \
		echo "no cluster is configured: $$KUBECONFIG does not exist or is empty" >&2; exit 1)

bin/replay:
	@echo "Everything is built, once. First what plays a recorded run meanwhile, in less than a minute:"
	go build -o $@ ./internal/observe/page/replay
	@echo "See it in a browser. The page goes over to your own cluster when that is ready."

bin/byhand:
	@test -e $@ || echo "Building the program, the first time a minute or two:"
	go build -o $@ .

install: kubeconfig ### Install the CRDs into the cluster
	@$(KUBECTL) version --client >/dev/null 2>&1 || { echo "no kubectl: install it, or run 'make cluster', which builds one"; exit 1; }
	@$(call INSTALL,config/crd)

uninstall: ### Remove the CRDs, and with them every Project and Foo
	@$(KUBECTL) delete --ignore-not-found -f config/crd

samples: install ### Create the sample Project and Foo
	@$(KUBECTL) apply -f config/samples

deploy: ### Run the controller in the cluster, from your image: make deploy IMG=name:tag
	@test -n "$(IMG)" || { echo "which image? make deploy IMG=name:tag (docker build -t name:tag . makes one)"; exit 1; }
	@$(KUBECTL) kustomize config/default | sed 's|^\( *image: \).*|\1$(IMG)|' | $(KUBECTL) apply -f -
	@$(KUBECTL) -n byhand-system rollout status deployment/byhand --timeout=2m
	@! $(KUBECTL) get nodes -o yaml | grep -q 'kwok.x-k8s.io/node: fake' || \
		echo "kwok plays this cluster's nodes: these Pods say Running and run nothing. make run runs the controller here."

undeploy: ### Take the controller away; every Foo stays, with its Deployment
	@$(KUBECTL) delete --ignore-not-found -k config/manager
	@echo "The CRDs are still there, and so is every Foo and Project: make uninstall removes them."

##@ Site
# SOURCE=https://… is the address of the repository's files, URL=https://… the site's, for previews of links.
SITE ?= bin/site
site: ### Write the site: picture, playground, sources beside their comments; opens from disk
	cd tools/site && go run . -out "$(abspath $(SITE))" -source "$(SOURCE)" -url "$(URL)"

playground: site ## The controller in a browser tab, beside an API server in memory: break it
	@page="$(abspath $(SITE))/index.html"; \
	open "$$page" 2>/dev/null || xdg-open "$$page" 2>/dev/null || echo "open file://$$page in a browser"

##@ Chapters
# With arguments for the program: make chapter CHAPTER=at ARGS=--trace
ARGS ?= $(ARGS_$(CHAPTER))
ARGS_dynamic = get foos --watch
ARGS_finalizer = --store bin/volumes
ARGS_apply = --beside=3s
# http has no TLS, so kubectl proxy runs for it.
BESIDE_http = $(KUBECTL) proxy & trap "kill $$! 2>/dev/null" EXIT INT TERM; \
	until $(KUBECTL) --server=http://127.0.0.1:8001 get --raw /version >/dev/null 2>&1; do kill -0 $$! || exit 1; sleep 0.1; done;
# A chapter without CRDs uses Projects and Foos; apiserver needs none.
CHAPTER_CRDS = $(if $(filter-out apiserver,$(CHAPTER)),$(firstword $(wildcard chapters/$(CHAPTER)/config/crd) config/crd))
CHAPTER_SAMPLES = $(firstword $(wildcard chapters/$(CHAPTER)/config/samples) config/samples)

chapter: chapter-exists own-cluster ## Run a chapter: make chapter CHAPTER=http (chapters/README.md lists them)
	$(if $(CHAPTER_CRDS),@$(call INSTALL,$(CHAPTER_CRDS)) && $(KUBECTL) apply -f $(CHAPTER_SAMPLES))
	cd chapters && go build -o ../bin/ ./$(CHAPTER)
	$(SECOND_TERMINAL)
	@$(BESIDE_$(CHAPTER)) $(if $(BESIDE_$(CHAPTER)),,$(KEEP_UP) )bin/$(CHAPTER) $(ARGS)

chapter-down: chapter-exists ### Take away what a chapter has installed, and its CRDs
	@test ! -e chapters/$(CHAPTER)/down.sh || { export PATH="$(CURDIR)/bin:$$PATH" && sh chapters/$(CHAPTER)/down.sh; }
	$(if $(CHAPTER_CRDS),@$(KUBECTL) delete --ignore-not-found -f $(CHAPTER_CRDS))

chapter-exists:
	@test -n "$(CHAPTER)" -a -e "chapters/$(CHAPTER)/main.go" || { echo "which chapter? make chapter CHAPTER=NAME, where NAME is one of: $(notdir $(patsubst %/,%,$(dir $(wildcard chapters/*/main.go))))"; exit 1; }

##@ Exercise
exercise: ## Begin a Foo controller of your own: make exercise DIR=../mine
new: ## Begin a controller of your own kind: make new DIR=../desk KIND=Ticket GROUP=desk.example.com
# More: PLURAL=… VERSION=v1 MODULE=example.com/desk, and COPY=1 for a folder without references to this one
exercise new:
	@go build -o bin/new ./tools/new
	@DIR='$(DIR)' COPY='$(filter-out 0,$(COPY))' KIND='$(KIND)' PLURAL='$(PLURAL)' GROUP='$(GROUP)' VERSION='$(VERSION)' MODULE='$(MODULE)' bin/new $@

##@ Cluster
# CLUSTER=other starts or removes a second one.
CLUSTER ?= byhand
# DOWNLOAD=1 downloads the official programs with curl instead of compiling them, where one
# of these targets would build a control plane.
FROM := $(if $(filter-out 0,$(DOWNLOAD)),--download)

cluster: ### Start a real control plane (the first time builds it: about 8 minutes)
	@go -C tools/cluster run . up --name $(CLUSTER) $(FROM)

cluster-down: ### Stop the cluster and remove its data
	@go -C tools/cluster run . down --name $(CLUSTER)

own-cluster: kubeconfig
	@$(if $(OWN),$(MAKE) --no-print-directory cluster,echo 'using the cluster that KUBECONFIG names: $(KUBECONFIG)')

##@ Test
# Run a target on a cluster that is removed afterwards: a whole control plane, or only etcd and
# kube-apiserver, so that no other controller sends requests.
ON_CLUSTER := go -C tools/cluster run . exec $(FROM) -- $(MAKE) --no-print-directory
ON_BARE_CLUSTER := go -C tools/cluster run . exec $(FROM) --components etcd,kube-apiserver -- $(MAKE) --no-print-directory

# Run commands at the same time, because most tests wait most of the time. Each must succeed.
BESIDE := @beside() { trap 'kill $$running' INT TERM; \
	for command; do sh -c "$$command" & running="$$running $$!"; done; \
	for process in $$running; do wait $$process || failed=1; done; return $${failed:-0}; }; beside

# While an aggregated API server is down, Kubernetes deletes no namespace. So chapter apiserver has its own cluster.
test: ## Run the tests: each module's, the core's on a real API server, each chapter's README
	$(BESIDE) '$(ON_CLUSTER) test-here' '$(ON_CLUSTER) test-readme CHAPTERS=./apiserver'

test-here: install
	$(BESIDE) 'go test -count=1 -tags integration -timeout 30m -p 4 -parallel 6 ./...' \
		'$(MAKE) --no-print-directory test-readme CHAPTERS="$(shell cd chapters && go list ./... | grep -v /apiserver$$)"' \
		'$(MAKE) --no-print-directory test-unit MODULES="$(filter-out ./,$(MODULES))"'

test-readme:
	cd chapters && go test -count=1 -tags integration -timeout 30m -p 4 -run '^TestReadme$$' $(CHAPTERS)

test-unit: ### Run the tests that need no cluster
	@for module in $(MODULES); do (cd $$module && go test ./...) || exit 1; done

test-all: ### Run the rest, for maintainers: chapters, cluster, look, counted requests
	$(BESIDE) '$(ON_CLUSTER) test-chapters' '$(ON_BARE_CLUSTER) test-bare' 'cd tools/cluster && go test -count=1 -tags integration ./...'

# The chapters admission and versions have the same CRD, so they run one after the other.
test-chapters: install
	$(BESIDE) 'cd chapters && go test -count=1 -tags integration -parallel 6 -skip "^TestReadme$$" $$(go list ./... | grep -vE "/(apiserver|admission|versions)$$")' \
		'cd chapters && go test -count=1 -tags integration,long -p 1 -parallel 6 -skip "^TestReadme$$" ./admission ./versions' \
		'cd chapters/compare && go test -count=1 -tags integration -run Official .'
	cd chapters && go test -count=1 -tags integration -skip '^TestReadme$$' ./apiserver

# These tests see every namespace, so they run one package at a time.
test-bare: install
	go test -count=1 -tags bare ./internal/tests/e2e -foos 500 -idle 5s
	go test -count=1 -timeout 20m -p 1 -tags bare ./kit/crd ./kit/testkit ./tools/look
	cd chapters && go build -o ../bin/ ./informer
	for parts in '' reflector,fifo,store,queue shared,queue; do \
		go test -count=1 -tags bare -run ColdStart ./internal/tests/e2e -foos 200 -idle 0s -controller "bin/informer --client-go=$$parts" || exit 1; \
	done

test-page: ### Look at the page in a real browser (needs Chromium)
	cd tools/site/browser && go test -count=1 -tags page -parallel 6 -v -timeout 20m ./...

test-race: ### Run the tests of concurrent code under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./controller/... ./informer/... ./clientset/... ./internal/observe/... \
		./kit/connect ./kit/events ./kit/leader ./kit/metrics ./kit/serve ./kit/testkit
	cd chapters && CGO_ENABLED=1 go test -race ./apiserver ./at ./cache ./finalizer ./informer ./twokinds

mutants: ### Make small mistakes in the code and see that the tests notice
	go test -count=1 -tags mutants -timeout 30m ./internal/tests/mutants
	go test -count=1 -tags mutants -timeout 30m -parallel 4 ./tools/new

# More: make coldstart FOOS=5000 IDLE=0s, and CONTROLLER=bin/mine for another program
coldstart: ### Count what a cold start of many Foos writes, and a resync (about 2 minutes)
	$(ON_BARE_CLUSTER) coldstart-here

coldstart-here: install
	go test -count=1 -tags bare -v -timeout 60m -run ColdStart ./internal/tests/e2e $(FOOS:%=-foos %) $(IDLE:%=-idle %) -controller "$(CONTROLLER)"

# More: make compare FOOS=2000 ROUNDS=9
compare: ### Measure a cold start beside sample-controller and controller-runtime (10 minutes)
	cd chapters/compare && go run ./harness $(FOOS:%=-foos %) $(ROUNDS:%=-rounds %)

# More: make judge CONTROLLER='bin/mine --kubeconfig {kubeconfig}' JUDGE=-quick, and bin/judge -help
# In seconds, without Kubernetes: make judge QUICK=1 DIR=../mine, where a package main has
# func run(ctx context.Context, config *rest.Config) error
# A controller of any kind, by a script of commands: make judge SCRIPT=judge.yaml (tools/judge/script/foos.yaml is one)
judge: ## Put any Foo controller to the test: CONTROLLER='go run ./mine' (4 to 15 minutes), QUICK=1 DIR=../mine (seconds); any other: SCRIPT=judge.yaml
	@test -n "$(CONTROLLER)$(QUICK)$(SCRIPT)" || { echo "which controller? make judge CONTROLLER='go run ./mine --kubeconfig {kubeconfig}'"; exit 1; }
	@test -z "$(QUICK)" -o -z "$(SCRIPT)" || { echo "a script runs on a control plane: leave QUICK or SCRIPT out"; exit 1; }
	@go build -o bin/ $(if $(QUICK),./tools/judge/quick,./tools/judge)
	@$(if $(QUICK),bin/quick $(JUDGE) "$$DIR",bin/judge $(JUDGE) $(if $(SCRIPT),-script "$(SCRIPT)") $(if $(CONTROLLER),-- $(CONTROLLER)))

# More: make look CONTROLLER=bin/mine LOOK='--report FILE --allow get-of-watched', and bin/look -help
look: own-cluster ## See what any controller hears, sends and does wrong: make look CONTROLLER='../theirs/manager'
	@test -n "$(CONTROLLER)" || { echo "which controller? make look CONTROLLER='../theirs/manager --kubeconfig {kubeconfig}'"; exit 1; }
	@go build -o bin/look ./tools/look
	$(SECOND_TERMINAL)
	@$(KEEP_UP) bin/look $(LOOK) -- $(CONTROLLER)

test-judge: bin/byhand ### See that the judge catches each known bug, and none here (7 minutes)
	go test -count=1 -tags long -v -timeout 60m -parallel 4 -run '^Test(Mistakes|Mine)$$' ./tools/judge/...
	@$(MAKE) --no-print-directory judge CONTROLLER='bin/byhand --kubeconfig {kubeconfig}' JUDGE=-quick

# The core also compiles for Windows. The cluster, and code that starts programs, needs Linux or macOS.
lint: ### Check formatting, vet and staticcheck in every module, and other systems
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "gofmt would change:" $$unformatted; exit 1; }
	for module in $(MODULES); do \
		(cd $$module && go mod tidy -diff && go vet -tags $(TAGS) ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags $(TAGS) ./...) || exit 1; \
	done
	GOOS=windows go vet . ./clientset/... ./informer/... ./controller/...
	GOOS=darwin go vet ./internal/run/subprocess && cd tools/cluster && GOOS=darwin go vet ./...

##@ Targets of earlier versions
add-kind: SUCCESSOR = go test ./internal/tests/schema, see CONTRIBUTING.md
test-chapters-here test-pizzas test-counts test-glass test-cluster: SUCCESSOR = make test-all
compare-quick: SUCCESSOR = make compare FOOS=20 ROUNDS=1
failover: SUCCESSOR = go test ./kit/leader
chain: SUCCESSOR = the table in docs/glossary.md
mine: SUCCESSOR = make new
cache-cost apiserver-cost: SUCCESSOR = the commands in chapters/$(@:-cost=)/README.md
add-kind test-chapters-here test-pizzas test-counts test-glass test-cluster compare-quick failover chain mine cache-cost apiserver-cost:
	@echo "make $@ is gone. Instead: $(SUCCESSOR)" >&2; exit 1
