package compare

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// BenchmarkDeepCopy holds our copies against those that deepcopy-gen writes for the
// same types. The generated ones exist only in a program that is built now. Its
// benchmarks are the result, so their lines are printed and there is none of this
// one. Who is measured first finds another heap than who follows, so the program runs
// twice, and each is first once; with -count=N it is built once and that N times.
func BenchmarkDeepCopy(b *testing.B) {
	stored := map[string]any{"Foo": storedFoo(0), "FooList": storedList(), "Project": storedProject()}
	dir := generate(b, "testdata/copy_bench_test.go.txt", ownPackages(b, slices.Collect(maps.Keys(stored))...))
	b.Setenv("OBJECTS", dir)
	for kind, object := range stored {
		text, err := json.Marshal(object)
		if err != nil {
			b.Fatal(err)
		}
		store(b, filepath.Join(dir, "kind="+kind+".json"), string(text))
	}
	program := filepath.Join(dir, "copies.test")
	command(b, "go", "test", "-c", "-o", program, "./"+dir)

	rounds, err := strconv.Atoi(flag.Lookup("test.count").Value.String())
	if err != nil {
		b.Fatal(err)
	}
	for range rounds {
		for _, first := range []string{"byhand", "generated"} {
			b.Setenv("FIRST", first)
			output := command(b, "./"+program, "-test.run=^$", "-test.bench=.", "-test.benchtime="+flag.Lookup("test.benchtime").Value.String())
			for line := range strings.Lines(output) {
				if strings.HasPrefix(line, "Benchmark") {
					fmt.Fprint(os.Stdout, line)
				}
			}
		}
	}
	b.Skip("the program that was built has printed the results")
}

func storedProject() *v1alpha1.Project {
	project := &v1alpha1.Project{ObjectMeta: *storedFoo(0).ObjectMeta.DeepCopy(), Spec: v1alpha1.ProjectSpec{Replicas: 3}}
	project.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Project"}
	return project
}
