#!/bin/sh
# new.sh exercise DIR writes the skeleton of the exercise into a new folder: a Go module that takes
# types, client, informers and queue from this repository, in whose folder it is called.
# new.sh new DIR copies the folder tools/new/controller, and with COPY=1 into its folder byhand each package of
# this repository that it needs. It overwrites nothing.
set -eu

what=$1 dir=${2:-}

fail() {
	echo "make $what: $1" >&2
	exit 1
}

example=../mine
[ "$what" = exercise ] || example=../desk
[ -n "$dir" ] || fail "which folder? make $what DIR=$example"
case $dir in
-*) dir=./$dir ;; # no option
esac

# The folder itself may not exist yet: then the nearest one above it says where it is.
above=$dir
while [ ! -e "$above" ]; do
	above=$(dirname "$above")
done
[ -d "$above" ] || fail "$above is a file, and no folder"
repository=$(pwd -P)
case $(cd "$above" && pwd -P)/ in
"$repository"/*) fail "$dir is inside this repository: choose a folder outside, as in make $what DIR=$example" ;;
esac

mkdir -p "$dir" 2>/dev/null && [ -w "$dir" ] || fail "you may not write to $dir"
[ -z "$(ls -A "$dir")" ] || fail "$dir is not empty: choose another folder"

# The programs that the commands below build.
printf '%s\n' /bin/ /mine >"$dir/.gitignore"

if [ "$what" = new ]; then
	cp -R tools/new/controller/*.go tools/new/controller/go.mod tools/new/controller/go.sum tools/new/controller/config tools/new/controller/Makefile tools/new/controller/names.sh tools/new/controller/README.md "$dir"
	go mod edit -replace="example.com/byhand=$repository" "$dir/go.mod"
	if [ -n "${COPY:-}" ]; then
		copy=$dir/byhand
		go -C "$dir" list -deps -test -f '{{with .Module}}{{if eq .Path "example.com/byhand"}}{{$.ImportPath}}{{end}}{{end}}' . | sort -u | sed 's|^example.com/byhand/||' | while read -r package; do
			mkdir -p "$copy/$package"
			find "$package" -maxdepth 1 -name '*.go' ! -name '*_test.go' -exec cp {} "$copy/$package" \;
		done
		cp go.mod go.sum LICENSE "$copy"
		go mod edit -replace=example.com/byhand=./byhand "$dir/go.mod"
	fi
	echo "$dir is yours. Its README.md has eight steps; the first: cd \"$dir\" && make test run"
	exit
fi

# The same versions of the same modules as here, so that nothing is downloaded.
sed 's|^module .*|module example.com/mine|' go.mod >"$dir/go.mod"
cp go.sum tools/new/exercise/_skeleton/main.go tools/new/exercise/README.md "$dir"
go mod edit -require=example.com/byhand@v0.0.0 -replace="example.com/byhand=$repository" "$dir/go.mod"

program=$dir/mine
case $program in
*' '*) program="'$program'" ;; # The recipe of make judge is one more shell.
esac
echo "$dir is yours. Its README.md leads on; begin with what needs seconds, and no Kubernetes:"
echo "  make judge QUICK=1 DIR=\"$dir\" JUDGE='-scenario create'"
echo "and then, on a control plane of its own, the first time after 8 minutes:"
echo "  go -C \"$dir\" build && make judge CONTROLLER=\"$program\" JUDGE='-scenario create'"
