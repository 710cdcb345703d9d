// Package fake is a clientset.Interface over objects in memory, as client-gen generates it.
//
// # Basics
//
//	client := fake.NewClientset(&v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo"}})
//	foo, err := client.SamplecontrollerV1alpha1().Foos("default").Get(ctx, "foo", metav1.GetOptions{})
//
// Every call becomes an action, which is recorded (Actions). First, the test's own reactors
// can handle it: use PrependReactor to inject an error. Otherwise a tracker, which holds the
// objects, carries it out.
//
// # Limitations
//
// A test with a fake shows how your code handles a response. It does not show what the API server
// would answer:
//
//   - There is no schema: nothing is validated, defaulted or pruned. Names are not validated either, except that
//     an empty name is an error.
//   - Update changes the status, too, and UpdateStatus the spec.
//   - The resourceVersion of an object does not change, so no Update gets a Conflict. Objects have the UID and the
//     generation that the test gives them. The preconditions of a Delete are compared with these values.
//   - Delete removes the object at once: no finalizers, no deletionTimestamp, no garbage
//     collector.
//   - Field selectors, limit, continue and dryRun are ignored. A watch ignores label selectors. DeleteCollection
//     returns an error.
//   - Apply replaces whole lists. As in the API server, it conflicts if another manager owns a field with a
//     different value. The initial objects belong to the manager "before-first-apply".
//   - A list is not streamed, and a deletion between a list and its watch is missed.
package fake
