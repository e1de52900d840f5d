package document

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshaler decodes a form that no struct with tags can express. It reports
// what is wrong through the Decoder and goes on.
type Unmarshaler interface {
	UnmarshalNode(d *Decoder, n *Node, path string)
}

// validator is asked after a value was decoded without a problem.
type validator interface{ Validate() error }

// Decoder walks a tree into Go values and collects everything that is wrong.
type Decoder struct {
	// Later says whether a key of a block is known but not built yet; it may be nil.
	Later func(block reflect.Type, key string) bool

	problems Problems
}

// Problems is what was found, in the order of the lines.
func (d *Decoder) Problems() Problems { return d.problems.sorted() }

// Report adds a problem at a node.
func (d *Decoder) Report(n *Node, path, message, hint string) {
	d.problems = append(d.problems, n.Pos.Problem(path, message, hint))
}

// ReportKey adds a problem at a key.
func (d *Decoder) ReportKey(e Entry, path, message, hint string) {
	d.problems = append(d.problems, e.Pos.Problem(path, message, hint))
}

// Decode fills into, a pointer, from n.
func (d *Decoder) Decode(n *Node, into any, path string) {
	before := len(d.problems)
	v := reflect.ValueOf(into).Elem()
	d.value(n, v, path)
	if len(d.problems) > before {
		return
	}
	d.validate(n, v, path)
}

// validate asks the value itself; a message that begins with a path below the
// value is put at that path.
func (d *Decoder) validate(n *Node, v reflect.Value, path string) {
	val, ok := v.Addr().Interface().(validator)
	if !ok {
		return
	}
	for _, err := range flatten(val.Validate()) {
		message := err.Error()
		// `latency.delay: …` names the place; the last word of our path is its first.
		if where, rest, cut := strings.Cut(message, ": "); cut && !strings.Contains(where, " ") {
			if _, below, dotted := strings.Cut(where, "."); dotted {
				if at := n.Find(below); at != nil {
					d.Report(at, Join(path, below), rest, "")
					continue
				}
			}
		}
		d.Report(n, path, message, "")
	}
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, flatten(e)...)
		}
		return out
	}
	return []error{err}
}

func (d *Decoder) value(n *Node, v reflect.Value, path string) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		d.Decode(n, v.Interface(), path)
		return
	}
	if u, ok := v.Addr().Interface().(Unmarshaler); ok {
		u.UnmarshalNode(d, n, path)
		return
	}
	if n.Kind == Null {
		d.Report(n, path, fmt.Sprintf("`%s` has no value", lastPart(path)), "write one, or leave the key out")
		return
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok && n.Kind == Scalar {
		if err := text.UnmarshalText([]byte(n.Text)); err != nil {
			d.Report(n, path, err.Error(), "")
		}
		return
	}
	if word, ok := v.Addr().Interface().(interface{ UnmarshalYAML(func(any) error) error }); ok {
		d.closure(n, word.UnmarshalYAML, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.block(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Array:
		d.array(n, v, path)
	case reflect.Map:
		d.words(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// errTold ends a foreign decoder whose problems are already in the list.
var errTold = errors.New("told")

func (d *Decoder) closure(n *Node, unmarshal func(func(any) error) error, path string) {
	err := unmarshal(func(into any) error {
		inner := Decoder{Later: d.Later}
		inner.Decode(n, into, path)
		if len(inner.problems) == 0 {
			return nil
		}
		if n.Kind == Map || n.Kind == List {
			if reflect.TypeOf(into).Elem().Kind() == reflect.String {
				return inner.problems
			}
			d.problems = append(d.problems, inner.problems...)
			return errTold
		}
		return inner.problems
	})
	if err != nil && !errors.Is(err, errTold) {
		d.Report(n, path, err.Error(), "")
	}
}

func lastPart(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i+1:]
	}
	return path
}

// Want reports that a node has another form than is needed, and answers whether it has the right one.
func (d *Decoder) Want(n *Node, kind Kind, path, example string) bool {
	if n.Kind == kind {
		return true
	}
	hint := ""
	if example != "" {
		hint = "write for example " + example
	}
	what := "the file"
	if path != "" {
		what = "`" + lastPart(path) + "`"
	}
	d.Report(n, path, fmt.Sprintf("%s is %s here, it must be %s", what, n.Kind, kind), hint)
	return false
}

func (d *Decoder) block(n *Node, v reflect.Value, path string) {
	if !d.Want(n, Map, path, "") {
		return
	}
	fields := map[string]reflect.Value{}
	known := collect(v, fields, nil)
	for _, e := range n.Entries {
		field, ok := fields[e.Key]
		if !ok {
			d.Unknown(e, Join(path, e.Key), known, v.Type())
			continue
		}
		d.Decode(e.Value, field.Addr().Interface(), Join(path, e.Key))
	}
}

// Unknown reports a key that a block does not have.
func (d *Decoder) Unknown(e Entry, path string, known []string, block reflect.Type) {
	if d.Later != nil && d.Later(block, e.Key) {
		d.ReportKey(e, path, fmt.Sprintf("`%s` is in the format but not in this version", e.Key), "leave it out")
		return
	}
	message := fmt.Sprintf("unknown key `%s`%s", e.Key, DidYouMean(e.Key, known))
	hint := ""
	if Nearest(e.Key, known) == "" {
		hint = "known here: " + strings.Join(known, ", ")
		if len(known) == 0 {
			hint = "it takes no keys: write {}"
		}
	}
	d.ReportKey(e, path, message, hint)
	if near := Nearest(e.Key, known); near != "" {
		d.problems[len(d.problems)-1].Near = strings.TrimSuffix(path, e.Key) + near
	}
}

// collect lists the fields of a struct by key, inlined ones included.
func collect(v reflect.Value, fields map[string]reflect.Value, known []string) []string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			known = collect(v.Field(i), fields, known)
		case name == "-" || name == "" || !f.IsExported():
		default:
			fields[name] = v.Field(i)
			known = append(known, name)
		}
	}
	return known
}

func (d *Decoder) list(n *Node, v reflect.Value, path string) {
	if !d.Want(n, List, path, "") {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.Decode(item, v.Index(i).Addr().Interface(), Index(path, i))
	}
}

func (d *Decoder) array(n *Node, v reflect.Value, path string) {
	if !d.Want(n, List, path, "") {
		return
	}
	if len(n.Items) != v.Len() {
		d.Report(n, path, fmt.Sprintf("`%s` has %d values, it must have %d", lastPart(path), len(n.Items), v.Len()), "")
		return
	}
	for i, item := range n.Items {
		d.Decode(item, v.Index(i).Addr().Interface(), Index(path, i))
	}
}

func (d *Decoder) words(n *Node, v reflect.Value, path string) {
	if !d.Want(n, Map, path, "") {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Entries)))
	for _, e := range n.Entries {
		item := reflect.New(v.Type().Elem())
		d.Decode(e.Value, item.Interface(), Join(path, e.Key))
		v.SetMapIndex(reflect.ValueOf(e.Key).Convert(v.Type().Key()), item.Elem())
	}
}

func (d *Decoder) scalar(n *Node, v reflect.Value, path string) {
	if !d.Want(n, Scalar, path, "") {
		return
	}
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Text != "true" && n.Text != "false" || n.Quoted {
			err = fmt.Errorf("%q is neither true nor false", n.Text)
			break
		}
		v.SetBool(n.Text == "true")
	case reflect.Int, reflect.Int64:
		err = setInt(n, v)
	case reflect.Uint64:
		var u uint64
		if u, err = strconv.ParseUint(n.Text, 10, 64); err != nil {
			err = fmt.Errorf("%q is not a whole number from 0 to 2^64-1", n.Text)
		}
		v.SetUint(u)
	case reflect.Float64:
		f, bad := strconv.ParseFloat(n.Text, 64)
		if bad != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(n.Text, "xXpP_") {
			err = fmt.Errorf("%q is not a number", n.Text)
		}
		v.SetFloat(f)
	default:
		err = fmt.Errorf("`%s` cannot be read", lastPart(path))
	}
	if err != nil {
		d.Report(n, path, err.Error(), "")
	}
}

// largestCount keeps sums and products of counts far from overflow.
const largestCount = 1_000_000_000

func setInt(n *Node, v reflect.Value) error {
	i, err := strconv.ParseInt(n.Text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is not a whole number", n.Text)
	case err != nil || i > largestCount || i < -largestCount:
		return fmt.Errorf("%q is out of range: a count is at most a thousand million", n.Text)
	}
	v.SetInt(i)
	return nil
}
