package story

import (
	"reflect"

	"firedrill/experiments/verdict"
)

// Fill puts a text in every string of a verdict, with one element in each list that is empty.
// The words of verdicts and of units are overwritten too.
func Fill(v *verdict.Verdict, s string) { fill(reflect.ValueOf(v).Elem(), s) }

func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), s)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), s)
	}
}
