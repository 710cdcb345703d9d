// Package verdict says what a controller must do and whether it did: the eight properties, the history of a
// namespace and its review, and the report with its explanations. It runs nothing and imports no other package of the judge.
package verdict
