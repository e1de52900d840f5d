package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Damage says of a JSON file of a run what is wrong with it, in words that
// need no knowledge of how it is read. Any other error is given back as it is.
func Damage(err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if e.Error() == "unexpected end of JSON input" {
			return errors.New("it is empty, or ends too soon")
		}
		return fmt.Errorf("byte %d and what follows is not what was written there", e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := "the whole of it"
		if e.Field != "" {
			where = "`" + e.Field + "`"
		}
		return fmt.Errorf("%s is of the wrong kind (%s)", where, e.Value)
	}
	return err
}
