// Package conversion converts the restaurant's objects between versions.
//
// The webhook of the chapter versions calls it. The types are in packages v1alpha1 and v1beta1.
//
// # Properties
//
//   - Pure: the result depends only on the object, and nothing else changes.
//   - Total: every object of the Go types is converted, even if no schema admits it. One failing
//     object would break each list that contains it, and the deletion of its namespace.
//   - Lossless, both ways: converting a valid object and converting it back changes nothing. An
//     annotation keeps the data that v1beta1 cannot express.
//   - Valid stays valid: a valid object of one version becomes a valid object of the other.
//     Otherwise it could not be edited.
//
// # The annotation
//
// v1alpha1 distinguishes [salami, tomato, salami] from [salami, salami, tomato], v1beta1 does
// not. So the v1beta1 object carries the list in an annotation. On the way back the annotation is
// used only if it still matches the spec. If a client has changed the spec in v1beta1 meanwhile,
// the spec wins and the annotation is dropped.
//
// v1alpha1 can express all valid v1beta1 objects, so the other direction needs no annotation. The
// conversion drops values that v1beta1 does not allow (a quantity of 0, more than MaxQuantity
// portions, a duplicate name): annotations are not validated, so a client could smuggle them in.
//
// # Limitations
//
//   - An object may have 256 KiB of annotations. If ours does not fit, the order is lost: the
//     property Total has priority over Lossless.
//   - A field that only the schema has, and these Go types lack, would be lost. A test in
//     chapters/restaurant compares the two.
package conversion
