// Package conversion changes the objects of the restaurant from one version into another.
//
// Its neighbours: the webhook of the chapter versions calls it. The types are those of packages
// v1alpha1 and v1beta1.
//
// # Properties
//
//   - Pure: the result depends on the object alone, and nothing else changes.
//   - Total: every object of the Go types is converted, also one that no schema admits. One
//     object that fails would break each list that has it, and the deletion of its
//     namespace.
//   - Lossless, both ways: an object that its schema admits is equal to what it was when it
//     is converted and converted back. What v1beta1 cannot express goes into an annotation.
//   - Valid stays valid: what the schema of one version admits becomes what the other one
//     admits. The object could not be edited otherwise.
//
// # The annotation
//
// v1alpha1 tells apart [salami, tomato, salami] and [salami, salami, tomato], v1beta1 does
// not. So the v1beta1 object carries the list in an annotation. On the way back the
// annotation counts only if it still says the same as the spec. If a client has changed the
// spec in v1beta1 meanwhile, the spec is right and the annotation is dropped.
//
// v1beta1 says nothing that v1alpha1 cannot, so the other direction needs no annotation. What
// no schema of v1beta1 admits, a quantity of 0, more than MaxQuantity portions or a name that
// comes twice, is not kept: an annotation is behind no schema, and a client could bring it in
// by one.
//
// # Caveats
//
//   - The annotation belongs to this package. What a client writes into it counts if it says
//     the same as the spec, and is dropped otherwise.
//   - An object may have 256 KiB of annotations. Where ours does not fit, the order is lost:
//     total goes before lossless.
//   - A field that only the schema knows, and these Go types do not, would be lost. A test
//     beside this package compares the two.
package conversion
