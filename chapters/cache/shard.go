package main

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
)

// parseShard parses "1/3", the first of three equal parts of all UID hashes, or "1,2/3", two of
// them. The selector is sent to the server as a string (String), and works the same here
// (Matches).
func parseShard(text string) (sharding.Selector, error) {
	parts, whole, _ := strings.Cut(text, "/")
	n, wrong := strconv.ParseInt(whole, 10, 16)
	var ranges []sharding.ShardRangeRequirement
	for part := range strings.SplitSeq(parts, ",") {
		i, err := strconv.ParseInt(part, 10, 16)
		if wrong != nil || err != nil || i < 1 || i > n {
			return nil, fmt.Errorf("--shard: invalid value %q, use for example 1/3, or 1,2/3 for two of three parts", text)
		}
		ranges = append(ranges, sharding.ShardRangeRequirement{Key: "object.metadata.uid", Start: bound(i-1, n), End: bound(i, n)})
	}
	return sharding.NewSelector(ranges...), nil
}

// bound returns the hash where part i of n ends: i × 2⁶⁴ ÷ n.
func bound(i, n int64) string {
	hashes := new(big.Int).Lsh(big.NewInt(i), 64)
	return fmt.Sprintf("0x%016x", hashes.Div(hashes, big.NewInt(n)))
}

// has reports whether an object is in a shard. It is true for a tombstone without an object.
func has(shard sharding.Selector, obj any) bool {
	object, _ := obj.(runtime.Object)
	matches, err := shard.Matches(object)
	return matches || err != nil
}
