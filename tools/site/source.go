package main

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"go/types"
	"html/template"
	"path"
	"regexp"
	"strings"
)

// pair is a comment next to its code.
type pair struct {
	// ID is the name that the code declares, as the trace writes it.
	ID   string
	Doc  template.HTML
	Code template.HTML
	// Imports says that the code is a file's imports, shown on demand.
	Imports bool
	// Broad says that the comment needs the width of both: it is a package comment or a loose one.
	Broad bool
}

// pairsOf divides a source file into pairs.
func pairsOf(file string, source []byte) ([]pair, error) {
	if path.Ext(file) == ".go" {
		return goPairs(file, source)
	}
	return hashPairs(source), nil
}

// goPairs divides Go code at its declarations. Doc comments go next to the code; comments inside stay.
func goPairs(name string, source []byte) (pairs []pair, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")
	line := func(p token.Pos) int { return set.PositionFor(p, false).Line - 1 }
	done := 0
	// A comment without a declaration becomes a separate text, or is a build tag.
	loose := func(until int) {
		for _, c := range file.Comments {
			if at := line(c.Pos()); at < done || at >= until {
				continue
			}
			if c.Text() != "" {
				pairs = append(pairs, pair{Doc: docHTML(c), Broad: true})
			} else {
				pairs = append(pairs, pair{Code: highlight(strings.TrimSpace(directives(c)))})
			}
		}
	}
	add := func(p pair, doc *ast.CommentGroup, n ast.Node, end token.Pos) {
		top := n.Pos()
		if doc != nil {
			top = doc.Pos()
		}
		loose(line(top))
		begin := line(n.Pos())
		done = line(end) + 1
		p.Doc, p.Code = docHTML(doc), highlight(directives(doc)+strings.Join(lines[begin:done], "\n"))
		pairs = append(pairs, p)
	}
	add(pair{Broad: file.Doc != nil}, file.Doc, file, file.Name.End())
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(pair{ID: functionID(d)}, d.Doc, d, d.End())
		case *ast.GenDecl:
			add(pair{ID: specID(d.Specs[0]), Imports: d.Tok == token.IMPORT}, d.Doc, d, d.End())
		}
	}
	loose(len(lines))
	return pairs, nil
}

// functionID returns NAME, or TYPE.NAME for a method.
func functionID(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver, _, _ := strings.Cut(types.ExprString(f.Recv.List[0].Type), "[")
	return strings.TrimPrefix(receiver, "*") + "." + f.Name.Name
}

func specID(spec ast.Spec) string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.Name
	case *ast.ValueSpec:
		if name := spec.Names[0].Name; name != "_" {
			return name
		}
	}
	return ""
}

var directive = regexp.MustCompile(`^//[a-z]+:[a-z]`)

// directives returns the lines of a comment that are for a tool, such as go:embed. They stay with the
// code.
func directives(doc *ast.CommentGroup) (lines string) {
	if doc == nil {
		return ""
	}
	for _, c := range doc.List {
		if directive.MatchString(c.Text) {
			lines += c.Text + "\n"
		}
	}
	return lines
}

func docHTML(doc *ast.CommentGroup) template.HTML {
	if doc == nil {
		return ""
	}
	var p comment.Parser
	printer := comment.Printer{HeadingLevel: 2, HeadingID: func(*comment.Heading) string { return "" }, DocLinkBaseURL: "https://pkg.go.dev"}
	return template.HTML(printer.HTML(p.Parse(doc.Text())))
}

// block is a comment of lines that begin with #, and the lines below it.
var block = regexp.MustCompile(`((?:[ \t]*#.*\n)*)((?:(?:[ \t]*[^#\s].*|[ \t]*)\n)*)`)

// hashPairs divides a file with # comments, such as YAML.
func hashPairs(source []byte) (pairs []pair) {
	for _, found := range block.FindAllStringSubmatch(strings.TrimRight(string(source), "\n")+"\n", -1) {
		doc := ""
		for line := range strings.Lines(found[1]) {
			doc += strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")) + "\n"
		}
		if doc != "" {
			text := template.HTMLEscapeString(strings.TrimSuffix(doc, "\n"))
			doc = "<p>" + strings.ReplaceAll(text, "\n\n", "</p><p>") + "</p>"
		}
		if found[0] != "" {
			pairs = append(pairs, pair{Doc: template.HTML(doc), Code: template.HTML(template.HTMLEscapeString(strings.TrimSuffix(found[2], "\n")))})
		}
	}
	return pairs
}
