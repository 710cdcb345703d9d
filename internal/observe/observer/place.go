package observer

import (
	"path"
	"reflect"
	"regexp"
	"runtime"
	"strings"
)

// place is where code of this repository stands.
type place struct{ file, function string }

// stack is who called whom, as far as is needed to leave client-go and net/http.
type stack [32]uintptr

// here walks up the stack to the first function that is part of the lesson, neither the
// client nor internal/, and returns where it stands. It returns nil if no step shows that.
func (o *Observer) here() *place {
	if !o.all {
		return nil
	}
	var s stack
	runtime.Callers(3, s[:])
	found, ok := o.places.Load(s)
	if !ok {
		found, _ = o.places.LoadOrStore(s, placeOf(&s))
	}
	return found.(*place)
}

// root is where this repository was built.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(path.Dir(file), "internal/observe/observer")
}()

func placeOf(at *stack) *place {
	frames := runtime.CallersFrames(at[:])
	for {
		frame, more := frames.Next()
		file, ok := strings.CutPrefix(frame.File, root)
		if ok && !strings.HasPrefix(file, "internal/") && !strings.HasPrefix(file, "clientset/") {
			return &place{file, function(frame.Function)}
		}
		if !more {
			return &place{}
		}
	}
}

// placeOfReconcile returns the location of an object's method Reconcile. The name is a constant, so
// that the linker can remove unused methods.
func placeOfReconcile(object Reconciler) *place {
	method, _ := reflect.TypeOf(object).MethodByName("Reconcile")
	code := runtime.FuncForPC(method.Func.Pointer())
	file, _ := code.FileLine(code.Entry())
	return &place{strings.TrimPrefix(file, root), function(code.Name())}
}

var closure = regexp.MustCompile(`(\.func\d+|\.\d+|\.gowrap\d+|-fm|\[\.\.\.\])+$`)

// innermost is the end of such a name: a function, or a pointer's method.
var innermost = regexp.MustCompile(`(\(\*\w+\)\.)?\w+$`)

// function shortens a name to "Function" or "Type.Method". The name of a closure may begin with the
// functions into which the compiler has inlined its function: "run.New.func1".
func function(name string) string {
	name = name[strings.LastIndex(name, "/")+1:]
	_, name, _ = strings.Cut(name, ".")
	outer := closure.ReplaceAllString(name, "")
	if outer != name {
		outer = innermost.FindString(outer)
	}
	return strings.NewReplacer("(*", "", ")", "").Replace(outer)
}
