package crd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"

	"example.com/byhand/kit/testkit"
)

// Schema is the schema of a custom resource, and does what the API server does with it. It
// implements testkit.Schema.
type Schema struct {
	structural *structuralschema.Structural
	openAPI    validation.SchemaValidator
	rules      *cel.Validator // nil: there are no rules
	scale      *testkit.Scale
}

// NewSchema returns an error if an API server would reject the schema of a CustomResourceDefinition.
func NewSchema(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	path := field.NewPath("openAPIV3Schema")
	wrong := structuralschema.ValidateStructural(path, structural)
	if len(wrong) == 0 {
		if wrong, err = defaulting.ValidateDefaults(context.Background(), path, structural, true, true); err != nil {
			return nil, err
		}
		wrong = append(wrong, validateRules(path, structural, true, 1)...)
	}
	if len(wrong) > 0 {
		return nil, wrong.ToAggregate()
	}
	openAPI, _, err := validation.NewSchemaValidator(internal)
	return &Schema{structural: structural, openAPI: openAPI, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, err
}

// maxCost is how expensive one CEL rule may be, as the API server estimates it.
const maxCost = 10_000_000

// validateRules returns an error for each CEL rule that does not compile or may be too expensive. times is how often
// an object may have the value of s, 0 if that has no limit.
func validateRules(path *field.Path, s *structuralschema.Structural, root bool, times float64) (wrong field.ErrorList) {
	if s == nil {
		return nil
	}
	compiled, err := cel.Compile(s, model.SchemaDeclType(s, root || s.XEmbeddedResource), celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.NewExpressionsEnvLoader())
	if err != nil {
		wrong = append(wrong, field.InternalError(path, err))
	}
	for i, result := range compiled {
		path := path.Child("x-kubernetes-validations").Index(i)
		for name, err := range map[string]*apiservercel.Error{"rule": result.Error, "messageExpression": result.MessageExpressionError} {
			if err != nil {
				wrong = append(wrong, field.Invalid(path.Child(name), s.XValidations[i].Rule, err.Detail))
			}
		}
		if cost := float64(result.MaxCost) * cmp.Or(times, float64(result.MaxCardinality)); max(cost, float64(result.MessageExpressionMaxCost)) > maxCost {
			wrong = append(wrong, field.Forbidden(path, "its estimated cost exceeds the budget: add maxItems, maxProperties and maxLength to the lists, maps and strings that it reads"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		wrong = append(wrong, validateRules(path.Child("properties").Key(name), &property, false, times)...)
	}
	items, values := 0.0, 0.0
	if bounds := s.ValueValidation; bounds != nil {
		items, values = times*float64(ptr.Deref(bounds.MaxItems, 0)), times*float64(ptr.Deref(bounds.MaxProperties, 0))
	}
	wrong = append(wrong, validateRules(path.Child("items"), s.Items, false, items)...)
	if s.AdditionalProperties != nil {
		wrong = append(wrong, validateRules(path.Child("additionalProperties"), s.AdditionalProperties.Structural, false, values)...)
	}
	return wrong
}

// Prune implements testkit.Schema.
func (s *Schema) Prune(object map[string]any) error {
	metadata, found, err := objectmeta.GetObjectMeta(object, false)
	if err != nil {
		return err
	}
	pruning.Prune(object, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	if err := objectmeta.Coerce(nil, object, s.structural, false, false); err != nil {
		return err
	}
	if !found {
		return nil
	}
	return objectmeta.SetObjectMeta(object, metadata)
}

// Default implements testkit.Schema.
func (s *Schema) Default(object map[string]any) { defaulting.Default(object, s.structural) }

// Validate implements testkit.Schema.
func (s *Schema) Validate(object, before map[string]any) (wrong field.ErrorList) {
	var ratchet []validation.ValidationOption
	var ratchetRules []cel.Option
	var old any // untyped if there is no old object
	if before != nil {
		correlated := common.NewCorrelatedObject(object, before, &model.Structural{Structural: s.structural})
		ratchet, ratchetRules = append(ratchet, validation.WithRatcheting(correlated)), append(ratchetRules, cel.WithRatcheting(correlated))
		wrong, old = validation.ValidateCustomResourceUpdate(nil, object, before, s.openAPI, ratchet...), before
	} else {
		wrong = validation.ValidateCustomResource(nil, object, s.openAPI)
	}
	wrong = append(wrong, s.validateScale(object)...)
	wrong = append(wrong, objectmeta.Validate(context.Background(), nil, object, s.structural, false)...)
	if before == nil || len(listtype.ValidateListSetsAndMaps(nil, s.structural, before)) == 0 {
		wrong = append(wrong, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	}
	switch {
	case s.rules == nil:
	case slices.ContainsFunc(wrong, blocksRules):
		wrong = append(wrong, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	default:
		broken, _ := s.rules.Validate(context.Background(), nil, s.structural, object, old, celconfig.RuntimeCELCostBudget, ratchetRules...)
		wrong = append(wrong, broken...)
	}
	return wrong
}

// blocksRules reports whether no rule is evaluated because of an error: a rule relies on the types.
func blocksRules(err *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
		field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}, err.Type)
}

// validateScale validates the fields that the scale subresource shows.
func (s *Schema) validateScale(object map[string]any) (wrong field.ErrorList) {
	if s.scale == nil {
		return nil
	}
	for _, path := range []string{s.scale.Replicas, s.scale.StatusReplicas} {
		replicas, _, err := unstructured.NestedInt64(object, fieldsOf(path)...)
		switch {
		case err != nil:
			wrong = append(wrong, field.Invalid(field.NewPath(path), replicas, err.Error()))
		case replicas < 0:
			wrong = append(wrong, field.Invalid(field.NewPath(path), replicas, "should be a non-negative integer"))
		case replicas > math.MaxInt32:
			wrong = append(wrong, field.Invalid(field.NewPath(path), replicas, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	if path := s.scale.Selector; path != "" {
		if selector, _, err := unstructured.NestedString(object, fieldsOf(path)...); err != nil {
			wrong = append(wrong, field.Invalid(field.NewPath(path), selector, err.Error()))
		}
	}
	return wrong
}

// fieldsOf splits a path such as .spec.replicas.
func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
