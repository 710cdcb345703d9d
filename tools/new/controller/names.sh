#!/bin/sh
# make names KIND=Ticket [PLURAL=tickets] [GROUP=desk.example.com] [VERSION=v1] [MODULE=example.com/desk]
# gives the files of this folder the names of your kind, in place of those that they came with. Any
# of them, in any order, each once.
set -eu

fail() {
	echo "make names: $1" >&2
	exit 1
}

files="*.go go.mod config/*.yaml README.md"
kind=${KIND:-} group=${GROUP:-} version=${VERSION:-} module=${MODULE:-} plural=${PLURAL:-}
[ -n "$kind$group$version$module$plural" ] || fail "which names? make names KIND=Ticket GROUP=desk.example.com VERSION=v1 MODULE=example.com/desk, any of them"
isKind='[A-Z][A-Za-z0-9]*'
lower=$(printf %s "$kind" | tr '[:upper:]' '[:lower:]')
if [ -z "$plural" ] && printf '%s\n' "$kind" | grep -Eqx "$isKind"; then
	case $lower in
	*[aeiou]y) plural=${lower}s ;;
	*y) plural=${lower%y}ies ;;
	*s | *x | *ch | *sh) plural=${lower}es ;;
	*) plural=${lower}s ;;
	esac
fi
edit=

# replace NAME VALUE PATTERN EXAMPLE OLD SED: VALUE is one for OLD, which the files still have.
replace() {
	[ -n "$2" ] || return 0
	printf '%s\n' "$2" | grep -Eqx "$3" || fail "$1=$2: it must be like $4"
	grep -qF "$5" $files || fail "$1: the files have no $5 any more, it was renamed already. Rename by hand, or begin again with make new"
	edit="$edit$6;"
}
case $group in
*.k8s.io | *.kubernetes.io) fail "GROUP=$group: that is reserved for Kubernetes. Take a domain of yours, such as desk.example.com" ;;
esac
case $kind in
Client | Reconciler | ConfigMap) fail "KIND=$kind: client.go, reconcile.go or Kubernetes has this name. Take another one" ;;
esac
case $plural in # It is a variable, too.
workers | break | case | chan | const | continue | default | defer | else | fallthrough | for | func | go | goto | if | import | interface | map | package | range | return | select | struct | switch | type | var)
	fail "PLURAL=$plural: main.go or Go has this name. Take another one" ;;
esac
# The first two leave marks: a new name may contain an old one.
replace PLURAL "$plural" '[a-z][a-z0-9]*' tickets widgets "s/widgets/@plural@/g"
replace KIND "$kind" "$isKind" Ticket Widget "s/Widget/$kind/g;s/widget/$lower/g"
edit="${edit}s/@plural@/$plural/g;"
replace GROUP "$group" '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)+' desk.example.com mine.example.com "s/mine[.]example[.]com/$group/g"
replace VERSION "$version" 'v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?' v1beta1 v1alpha1 "s/v1alpha1/$version/g"
replace MODULE "$module" '[A-Za-z0-9._~/-]+' example.com/desk 'module example.com/mine' "s|^module example.com/mine|module $module|"
for file in $files; do
	sed "$edit" "$file" >names.new && cat names.new >"$file"
done
rm -f names.new
gofmt -w ./*.go
echo "Renamed. See that nothing was missed: make test"
