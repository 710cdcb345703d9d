package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Result is the verdict on one scenario, as written to JSON.
type Result struct {
	Scenario string `json:"scenario"`
	What     string `json:"what"`
	// Marks has "✓", "✗" or "–" for each property.
	Marks map[string]string `json:"marks"`
	// NotJudged is the reason for missing marks.
	NotJudged  string      `json:"notJudged,omitempty"`
	Violations []violation `json:"violations,omitempty"`
	Remarks    []string    `json:"remarks,omitempty"`
	Seconds    float64     `json:"seconds"`
	Slow       bool        // the machine was slow
}

type violation struct {
	Properties string   `json:"properties"`
	Seen       string   `json:"seen"`
	Requests   []string `json:"requests,omitempty"`
	Why        string   `json:"why"`
	Resembles  string   `json:"resembles,omitempty"`
	Right      string   `json:"right"`
}

// Verdict is the content of the file of -json.
type Verdict struct {
	Command []string `json:"command"`
	// Judge is the version of the judge, and Flags are its flags, without -json.
	Judge   string    `json:"judge,omitempty"`
	Flags   []string  `json:"flags,omitempty"`
	Quick   bool      `json:"quick"`
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	Results []Result  `json:"results"`
	Remarks []string  `json:"remarks,omitempty"`
}

// Result returns the result of a scenario, or nil if not found.
func (v *Verdict) Result(scenario string) *Result {
	for i := range v.Results {
		if v.Results[i].Scenario == scenario {
			return &v.Results[i]
		}
	}
	return nil
}

// Judge adds the findings and sets the mark of each property. P7 counts even if it is not in judged.
func (r *Result) Judge(judged Properties, findings []Finding) {
	r.Marks = map[string]string{}
	bad := Properties(0)
	for _, f := range findings {
		bad |= f.Property & (judged | P7)
		r.Violations = append(r.Violations, violation{(f.Property & (judged | P7)).String(), f.Text, f.Requests, f.Lesson.why, f.Lesson.resembles, f.Lesson.right})
	}
	slices.SortStableFunc(r.Violations, func(a, b violation) int { return cmp.Compare(severity(a.Properties), severity(b.Properties)) })
	for _, p := range all {
		switch {
		case bad&p.bit != 0:
			r.Marks[p.name] = "✗"
		case judged&p.bit == 0 || r.NotJudged != "":
			r.Marks[p.name] = "–"
		default:
			r.Marks[p.name] = "✓"
		}
	}
}

// severity is lower for more harm: other owners' objects first, then the user's, the program itself last.
func severity(properties string) int {
	return slices.IndexFunc([]string{"P5", "P3", "P1", "P4", "P6", "P2", "P8", ""}, func(p string) bool { return strings.Contains(properties, p) })
}

// Short reports whether the program falls short.
func (r *Result) Short() bool { return len(r.Violations) > 0 }

// Line returns a row of the table without the scenario's name.
func (r *Result) Line() string {
	var marks []string
	for _, p := range all {
		marks = append(marks, r.Marks[p.name])
	}
	text := fmt.Sprintf(" %s  %5.0f s", strings.Join(marks, "  "), r.Seconds)
	if r.NotJudged != "" {
		text += "  " + FirstLine(r.NotJudged)
	}
	return text
}

// Header returns the meaning of the columns and marks, and the first row.
func Header() string {
	var names, meanings []string
	for _, p := range all {
		names, meanings = append(names, p.name), append(meanings, p.name+" "+p.short)
	}
	return strings.Join(meanings, "; ") + "\n✓ holds, ✗ is violated, – is not checked\n" + strings.Repeat(" ", 30) + strings.Join(names, " ")
}

// Add keeps a result and prints its row. of is the number of scenarios.
func (v *Verdict) Add(w io.Writer, r Result, of int) {
	v.Results = append(v.Results, r)
	fmt.Fprintf(w, "%5s  %-22s%s\n", fmt.Sprintf("%d/%d", len(v.Results), of), r.Scenario, r.Line())
}

// Sum prints how many scenarios fall short.
func (v *Verdict) Sum(w io.Writer, short int) {
	if len(v.Results) > 0 {
		fmt.Fprintf(w, "\n%d of %d scenarios fall short, in %s\n", short, len(v.Results), time.Since(v.Began).Round(100*time.Millisecond))
	}
}

// Print explains where the program falls short, the worst first. It returns the number of scenarios that do.
func (v *Verdict) Print(w io.Writer) (short int) {
	sorted := slices.DeleteFunc(slices.Clone(v.Results), func(r Result) bool { return !r.Short() })
	slices.SortStableFunc(sorted, func(a, b Result) int {
		return cmp.Compare(severity(a.Violations[0].Properties), severity(b.Violations[0].Properties))
	})
	for _, r := range v.Results {
		if r.NotJudged != "" {
			fmt.Fprintf(w, "\n%s was not judged: %s\n", r.Scenario, r.NotJudged)
		}
	}
	for _, r := range sorted {
		fmt.Fprintf(w, "\n%s: %s\n", r.Scenario, r.What)
		for _, violation := range r.Violations {
			violation.print(w)
		}
		if len(r.Violations) > 1 && strings.Contains(r.Violations[0].Properties, "P5") {
			fmt.Fprintln(w, "  Fix P5 first: the others may follow from it.")
		}
		for _, remark := range r.Remarks {
			fmt.Fprintf(w, "  (%s)\n", remark)
		}
	}
	for _, remark := range v.Remarks {
		fmt.Fprintf(w, "\nNote: %s.\n", strings.TrimSuffix(remark, "."))
	}
	return len(sorted)
}

func (v *violation) print(w io.Writer) {
	fmt.Fprintf(w, "  ✗ %s  %s\n", v.Properties, v.Seen)
	if len(v.Requests) > 0 {
		fmt.Fprintf(w, "    The program's last requests before the violation:\n      %s\n", strings.Join(v.Requests, "\n      "))
	}
	fmt.Fprintf(w, "    Why it matters: %s\n", v.Why)
	if v.Resembles != "" {
		fmt.Fprintf(w, "    A real bug like it: %s\n", v.Resembles)
	}
	fmt.Fprintf(w, "    Done right: %s\n", v.Right)
}

// ThisJudge returns the version of this program, which names its commit.
func ThisJudge() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

// Save writes the verdict as JSON.
func (v *Verdict) Save(file string) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}

// FirstLine returns the first line of a text. If it ends with a colon, the next line follows.
func FirstLine(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(rest, "\n")
		line += " " + strings.TrimSpace(next)
	}
	return strings.TrimSpace(line)
}

// Brief returns the first line of a text, and the last line of a log in it. Log lines begin with a tab.
func Brief(text string) string {
	first := strings.TrimSuffix(FirstLine(text), ":")
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if log, is := strings.CutPrefix(line, "\t"); is {
			first, _, _ = strings.Cut(text, "\n")
			return first + " " + log
		}
	}
	return first
}

func MustYAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
