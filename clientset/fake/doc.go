// Package fake is a clientset.Interface over objects in memory, for tests of code
// that uses a clientset. fake-gen would write the same.
//
// # Basics
//
//	client := fake.NewClientset(&v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo"}})
//	foo, err := client.SamplecontrollerV1alpha1().Foos("default").Get(ctx, "foo", metav1.GetOptions{})
//
// Every call becomes an action: it is recorded (Actions), offered to the reactors
// that the test put in front (PrependReactor, which is how to inject an error),
// and at last done to the objects by a tracker. A watch delivers what changes
// after it was opened.
//
// # Caveats
//
// A fake answers the question "what does my code do when the API says this?". It
// does not know what the API would say:
//
//   - no schema: everything is stored, nothing is defaulted, pruned or refused;
//   - no rules for the status: Update changes it as well, and UpdateStatus the
//     spec;
//   - no resourceVersion that moves, hence no Conflict; no UID, no generation;
//   - no finalizers, no deletionTimestamp, no garbage collection: Delete removes;
//   - field selectors are not applied, limit and continue neither;
//   - lists are atomic in Apply, since there is no schema that says otherwise.
//
// Use a real API server for those, and httptest for what goes over the wire.
package fake
