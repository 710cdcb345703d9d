package main_test

import (
	"testing"

	"example.com/byhand/clientset"
	"example.com/byhand/kit/deepcopy"
)

// The copies of all registered kinds. Package deepcopy says what each test proves.

func TestDeepCopyEqualsOriginal(t *testing.T)   { deepcopy.EqualsOriginal(t, clientset.Scheme) }
func TestDeepCopySharesNoMemory(t *testing.T)   { deepcopy.SharesNoMemory(t, clientset.Scheme) }
func TestDeepCopyKeepsNilAndEmpty(t *testing.T) { deepcopy.KeepsNilAndEmpty(t, clientset.Scheme) }
func TestDeepCopyOfNil(t *testing.T)            { deepcopy.OfNil(t, clientset.Scheme) }
func TestRoundTrip(t *testing.T)                { deepcopy.RoundTrip(t, clientset.Scheme) }
