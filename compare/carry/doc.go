// Package carry measures what a reader and a maintainer of each form of the Foo
// controller carry: code to read, modules to trust and update, a program to build and ship.
//
// # Basics
//
// The forms are byhand, sample-controller (the generated one) and controller-runtime
// (package framework). All are counted by the same rules, with the go command and the
// sources that it compiles: nothing is listed by hand, so a figure changes with the
// code.
//
//   - A line of code is a line of a Go file that is compiled into the program and that
//     is neither blank nor a comment. Tests are not counted. Own lines belong to the
//     project's own modules, and fall into three parts: those that a generator wrote
//     (the file says so, in the words that Go's tools go by), those below an internal
//     folder, which serve the program beside its controller (metrics, leader election,
//     health, a page), and the rest: what there is to read from main to the typed client.
//   - A direct module is one from which a package of the project imports; an indirect
//     one is linked into the program because of others. A module that go.mod names and
//     the program does not contain is not counted.
//   - Framework lines are those of controller-runtime that are compiled into the
//     program: what does there the work that the other forms do in their own lines.
//   - Packages and linked lines leave out the standard library, and the latter the
//     project's own code, too.
//
// # Caveats
//
//   - More features are more lines: byhand has a second resource, a trace and a page,
//     sample-controller no metrics and no leader election, and the framework has nearly
//     all of that in its library. The table shows all parts, not one sum.
//   - The framework's types are those of byhand, with the copies that were written by
//     hand; a user of kubebuilder lets controller-gen write them.
package carry
