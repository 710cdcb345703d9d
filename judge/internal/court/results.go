package court

import (
	"cmp"
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

// headings are what the page calls a program, where that is not its name.
var headings = map[string]string{"controller-runtime": "`framework/` (ours, on controller-runtime)"}

const preface = `# What the judge says

Made by ` + "`go run ./judged`" + ` in the folder compare, one program after the other, once. A second run can say something else: goroutines and times are others. [judge/doc.go](../../judge/doc.go) says what is asked of a program and how to read this; the whole verdicts are in [judge/](judge).

The programs are those of [the comparison](README.md), as they were at the commit of the judge that stands at each. ` + "`sample-controller`" + ` is Kubernetes' own example, of 2017: it shows how the libraries are used. ` + "`framework/`" + ` is this repository's own program, in the folder [compare/framework](../framework): what it does wrong is its authors' fault, and not controller-runtime's. The judge is by the authors of byhand, too, who made both together. What they know byhand not to do is in [controller/foo/doc.go](../../controller/foo/doc.go), Caveats. Rows with the word *caveat* play two of these; the others no scenario plays.

A cell names the properties that the program violates in this scenario; ✓: none; –: it was not judged, or the scenario was another one then. A verdict counts only if it was given of the scenario in the words of today.

`

func printPage(w io.Writer, names []string, verdicts []verdict) {
	fmt.Fprint(w, preface)
	for _, p := range all {
		fmt.Fprintf(w, "- **%s** %s\n", p.name, p.says)
	}
	titles, others := make([]string, len(names)), make([][]string, len(names))
	for i, name := range names {
		titles[i] = cmp.Or(headings[name], name)
		verdicts[i], others[i] = verdicts[i].ofToday()
	}
	fmt.Fprintf(w, "\n| scenario | %s |\n|---|%s\n", strings.Join(titles, " | "), strings.Repeat("---|", len(names)))
	for _, sc := range scenarios {
		cells := make([]string, len(verdicts))
		for i := range verdicts {
			cells[i] = "–"
			if r := verdicts[i].result(sc.name); r != nil {
				cells[i] = r.cell()
			}
		}
		kind := ""
		if sc.caveat {
			kind = " (*caveat*)"
		}
		fmt.Fprintf(w, "| **%s**%s: %s | %s |\n", sc.name, kind, sc.what, strings.Join(cells, " | "))
	}
	for i, v := range verdicts {
		fmt.Fprintf(w, "\n## %s\n\n%.0f s, %s, by the judge of commit %s with %s: `%s`\n", titles[i], v.Seconds, v.Began.Format("2006-01-02"),
			v.Judge, v.flags(), strings.Join(v.Command, " "))
		if len(others[i]) > 0 {
			fmt.Fprintf(w, "\nThis does not count, for the scenario was another one: %s.\n", strings.Join(others[i], ", "))
		}
		fmt.Fprint(w, "\n```\n")
		if v.print(w) == 0 {
			fmt.Fprintf(w, "\nIt falls short of nothing in the %d scenarios that count. The judge is by the authors of byhand,\nand no scenario plays the caveats of controller/foo/doc.go but those of -caveats.\n", len(v.Results))
		}
		fmt.Fprint(w, "```\n")
	}
}

// ofToday is the verdict with those results only whose scenario has the same words today, and
// the names of the others.
func (v verdict) ofToday() (today verdict, others []string) {
	today = v
	today.Results = nil
	for _, r := range v.Results {
		if at := position(r.Scenario); at >= 0 && scenarios[at].what == r.What {
			today.Results = append(today.Results, r)
		} else {
			others = append(others, r.Scenario)
		}
	}
	return today, others
}

// flags are those that the judge had.
func (v *verdict) flags() string {
	if len(v.Flags) == 0 {
		return "no flags"
	}
	return "`" + strings.Join(v.Flags, " ") + "`"
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
