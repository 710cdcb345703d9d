package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// judged are the programs of the page.
var judged = []string{"sample-controller", "sample-controller-tuned", "controller-runtime", "byhand"}

// writePage makes the page of the verdicts in a folder.
func writePage(folder string) error {
	page, err := pageOf(folder)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "judge.md"), []byte(page), 0o644)
}

// pageOf is the page of the verdicts in a folder.
func pageOf(folder string) (string, error) {
	verdicts := make([]verdict, len(judged))
	for i, name := range judged {
		content, err := os.ReadFile(filepath.Join(folder, "judge", name+".json"))
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(content, &verdicts[i]); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	var page strings.Builder
	printPage(&page, judged, verdicts)
	return page.String(), nil
}

func printPage(w io.Writer, names []string, verdicts []verdict) {
	fmt.Fprintf(w, "# What the judge says\n\nMade by `go run ./judged` in the folder compare, one program after the other; `-seed` repeats it. The programs are those of [the comparison](README.md). [judge/doc.go](../../judge/doc.go) says what is asked of them and how to read it; their whole verdicts are in [judge/](judge). A cell names the properties that the program violates in this scenario; ✓: none; –: not judged.\n\n")
	for _, p := range all {
		fmt.Fprintf(w, "- **%s** %s\n", p.name, p.says)
	}
	fmt.Fprintf(w, "\n| scenario | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, sc := range scenarios {
		cells, any := make([]string, len(verdicts)), false
		for i := range verdicts {
			cells[i] = "–"
			if r := verdicts[i].result(sc.name); r != nil {
				cells[i], any = r.cell(), true
			}
		}
		if any {
			fmt.Fprintf(w, "| **%s**: %s | %s |\n", sc.name, sc.what, strings.Join(cells, " | "))
		}
	}
	for i, v := range verdicts {
		fmt.Fprintf(w, "\n## %s\n\nSeed %d, %.0f s, %s: `%s`\n\n```\n", names[i], v.Seed, v.Seconds, v.Began.Format("2006-01-02"), strings.Join(v.Command, " "))
		if v.print(w) == 0 {
			fmt.Fprintln(w, "\nIt falls short of nothing.")
		}
		fmt.Fprint(w, "```\n")
	}
}

func (v *verdict) result(scenario string) *result {
	for i := range v.Results {
		if v.Results[i].Scenario == scenario {
			return &v.Results[i]
		}
	}
	return nil
}

// cell is the result in one cell.
func (r *result) cell() string {
	var bad []string
	for _, p := range all {
		if r.Marks[p.name] == "✗" {
			bad = append(bad, p.name)
		}
	}
	switch {
	case len(bad) > 0:
		return "✗ " + strings.Join(bad, " ")
	case r.NotJudged != "":
		return "–"
	default:
		return "✓"
	}
}
