# Downloads the programs of a control plane, in the versions that ./go.mod names, into the
# folder $1, for the architecture $2. Each must have the SHA-256 that its project publishes.
set -eu
dir=$1 arch=$2
# One host has everything in a test.
kubernetes=${RELEASES:-https://dl.k8s.io} github=${RELEASES:-https://github.com} api=${RELEASES:-https://api.github.com}

version() { sed -n "s|^[[:space:]]$1 \(v[^ ]*\).*|\1|p" go.mod; }

# A host that sends nothing for half a minute has failed.
fetch() { curl -fsSL --connect-timeout 30 --speed-limit 1 --speed-time 30 "$@" || { echo "$*" >&2; exit 1; }; }

# get FILE URL SHA256
get() {
	echo "downloading $2"
	fetch -o "$dir/$1" "$2"
	echo "$3  $dir/$1" | sha256sum -c >/dev/null 2>&1 || { echo "$2 has not the SHA-256 that is published: ${3:-none is}" >&2; exit 1; }
	chmod +x "$dir/$1"
}

echo "Downloading the control plane, once: about half a gigabyte of official programs."
of=$kubernetes/$(version k8s.io/kubernetes)/bin/linux/$arch
for program in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
	sum=$(fetch "$of/$program.sha256")
	get $program "$of/$program" "$sum"
done

etcd=$(version go.etcd.io/etcd/server/v3)
of=$github/etcd-io/etcd/releases/download/$etcd
archive=etcd-$etcd-linux-$arch.tar.gz
sums=$(fetch "$of/SHA256SUMS")
get etcd.tar.gz "$of/$archive" "$(echo "$sums" | sed -n "s/  *$archive\$//p")"
tar -xzf "$dir/etcd.tar.gz" -C "$dir" --strip-components=1 "${archive%.tar.gz}/etcd"
rm "$dir/etcd.tar.gz"

# kwok publishes no sums. GitHub does, for each file of a release.
kwok=$(version sigs.k8s.io/kwok)
release=$(fetch "$api/repos/kubernetes-sigs/kwok/releases/tags/$kwok" | tr , '\n')
for program in kwok kwokctl; do
	file=$program-linux-$arch
	sum=$(echo "$release" | sed -n "/\"name\": *\"$file\"/,/\"digest\"/s/.*\"sha256:\([0-9a-f]*\)\".*/\1/p")
	get $program "$github/kubernetes-sigs/kwok/releases/download/$kwok/$file" "$sum"
done
