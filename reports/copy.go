package reports

import "reflect"

// VisibleCopy is a deep copy of plain data in which every string went through
// Visible. One place for all fields: none can be forgotten.
func VisibleCopy[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	copyVisible(out, reflect.ValueOf(v))
	return out.Interface().(T)
}

func copyVisible(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(Visible(from.String(), MaxText))
	case reflect.Struct:
		for i := range from.NumField() {
			copyVisible(to.Field(i), from.Field(i))
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyVisible(to.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if from.IsNil() {
			return
		}
		to.Set(reflect.New(from.Type().Elem()))
		copyVisible(to.Elem(), from.Elem())
	default:
		to.Set(from)
	}
}
