// Package verdict defines the eight properties and checks them. It has the history of a namespace, its
// review, and the report with its explanations. It runs nothing and imports no other package of the judge.
package verdict
