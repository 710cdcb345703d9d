// Package webhook is the webhook of chapters/admission as a user of kubebuilder writes it:
// the same defaults and refusals, on controller-runtime.
//
// It is what kubebuilder's user fills in. The program around it, the registration and the
// certificates are scaffolds: see ../framework/main.go for such a program. webhook_test.go holds
// it against the rules of the chapter.
package webhook

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// SetupWithManager adds the webhook to a manager.
func SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.Pizza{}).
		WithDefaulter(defaulter{}).
		WithValidator(validator{cached: mgr.GetClient(), live: mgr.GetAPIReader()}).
		Complete()
}

type defaulter struct{}

// Default gives a pizza its toppings if it names none.
func (defaulter) Default(_ context.Context, pizza *v1alpha1.Pizza) error {
	if len(pizza.Spec.Toppings) == 0 {
		pizza.Spec.Toppings = []string{"tomato", "mozzarella", "salami"}
	}
	return nil
}

type validator struct{ cached, live client.Reader }

func (v validator) ValidateCreate(ctx context.Context, pizza *v1alpha1.Pizza) (admission.Warnings, error) {
	return nil, v.validate(ctx, pizza.Spec.Toppings, nil)
}

func (v validator) ValidateUpdate(ctx context.Context, before, pizza *v1alpha1.Pizza) (admission.Warnings, error) {
	return nil, v.validate(ctx, pizza.Spec.Toppings, before.Spec.Toppings)
}

func (v validator) ValidateDelete(context.Context, *v1alpha1.Pizza) (admission.Warnings, error) {
	return nil, nil
}

// validate refuses a topping that does not exist, unless the pizza has it already.
func (v validator) validate(ctx context.Context, toppings, before []string) error {
	for _, name := range toppings {
		if slices.Contains(before, name) {
			continue
		}
		key, topping := client.ObjectKey{Name: name}, &v1alpha1.Topping{}
		err := v.cached.Get(ctx, key, topping)
		if apierrors.IsNotFound(err) {
			// It may be new.
			err = v.live.Get(ctx, key, topping)
		}
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("there is no topping %q", name)
		}
		if err != nil {
			return fmt.Errorf("look for the topping %q: %w", name, err)
		}
	}
	return nil
}
