package crd

import (
	"context"
	"slices"

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
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Schema is the schema of a custom resource, and does what the API server does with it. It
// implements testkit.Schema.
type Schema struct {
	structural *structuralschema.Structural
	openAPI    validation.SchemaValidator
	rules      *cel.Validator // nil: there are no rules
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
	}
	if len(wrong) > 0 {
		return nil, wrong.ToAggregate()
	}
	openAPI, _, err := validation.NewSchemaValidator(internal)
	return &Schema{structural: structural, openAPI: openAPI, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, err
}

// Prune implements testkit.Schema.
func (s *Schema) Prune(object map[string]any) (unknown []string, err error) {
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	wrong, embedded := objectmeta.CoerceWithOptions(nil, object, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	unknown = append(unknown, embedded...)
	switch {
	case wrong != nil:
		return unknown, wrong
	case !found:
		return unknown, nil
	default:
		return unknown, objectmeta.SetObjectMeta(object, metadata)
	}
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
