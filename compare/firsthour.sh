#!/usr/bin/env bash
# Measures the first hour of a newcomer: the seconds from git clone to the first picture
# that moves, the first Foo that is reconciled, and the first make test that has passed.
#
#	compare/firsthour.sh [COMMIT…]
#
# Each commit has a clone and a HOME of its own, in which nothing is built and no module is
# there. On 2 cores that is about 20 minutes a commit. Let nothing else run. Needs Linux
# and curl.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

# since prints the seconds since the clone began, as the next column.
since() { printf ' %16s' $((SECONDS - begin)); }

# moves succeeds when an address in the output gives steps.
moves() {
	local url
	for url in $(grep -o 'http://127.0.0.1:[0-9]*/' "$home/run.txt"); do
		# The steps have no end: curl is cut off, and what it got is looked at.
		if grep -q '"seq"' < <(curl -s -m 2 "${url}steps"); then return; fi
	done
	return 1
}

# reconciled succeeds when the sample Foo is Ready.
reconciled() {
	test "$("$clone/cluster/bin/kubectl" --kubeconfig "$clone/cluster/byhand.kubeconfig" get foo example-foo \
		-o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)" = True
}

# wait_for waits until its argument succeeds, as long as make run runs.
wait_for() {
	until "$1"; do
		kill -0 "$run" 2>/dev/null || { echo; tail -n 50 "$home/run.txt"; exit 1; }
		sleep 1
	done
}

# stop ends what runs in the clone.
stop() {
	test -z "$run" || kill -- "-$run" 2>/dev/null || true
	test ! -e "$clone/cluster/byhand.kubeconfig" || "${fresh[@]}" make -C "$clone" cluster-down >/dev/null 2>&1
}

run= clone=
trap stop EXIT
echo "$(nproc) cores; seconds since git clone"
printf '%-10s %16s %16s %16s\n' commit 'moving picture' 'reconciled Foo' 'make test'
for commit in "${@:-HEAD}"; do
	commit=$(git -C "$repository" rev-parse --short "$commit")
	printf '%-10s' "$commit"
	home=$(mktemp -d)
	begin=$SECONDS
	clone=$home/byhand
	fresh=(env -i PATH="$PATH" HOME="$home" GOTOOLCHAIN=local)
	git clone -q "$repository" "$clone"
	git -C "$clone" checkout -q "$commit"
	# In a process group of its own, to end all of it.
	setsid "${fresh[@]}" make -C "$clone" run >"$home/run.txt" 2>&1 &
	run=$!
	wait_for moves
	since
	wait_for reconciled
	since
	kill -- "-$run"
	wait "$run" || true
	run=
	"${fresh[@]}" make -C "$clone" test >"$home/test.txt" 2>&1 || { echo; tail -n 50 "$home/test.txt"; exit 1; }
	since
	echo
	stop
	chmod -R u+w "$home" && rm -rf "$home"
done
