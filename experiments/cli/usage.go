package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"firedrill/experiments/document"
)

// usageError is wrong usage of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// args refuses a verb with too few or too many arguments.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		switch {
		case len(got) < least:
			return usagef("%s wants %s: see `%s --help`", c.Name(), what, c.CommandPath())
		case most >= 0 && len(got) > most:
			return usagef("%s takes %s, not %s: see `%s --help`", c.Name(), what, counted(len(got), "argument"), c.CommandPath())
		}
		return nil
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// valueOf says what a flag's value must be, by its type.
var valueOf = map[string]string{
	"uint64": "a whole number from 0 to 18446744073709551615",
	"int":    "a whole number",
	"bool":   "true or false",
}

// flagError says what is wrong with a flag, and which one was meant.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if what := valueOf[e.GetFlag().Value.Type()]; what != "" {
			text = fmt.Sprintf("--%s %s: it must be %s", e.GetFlag().Name, e.GetValue(), what)
		}
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() == "" {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := document.Nearest(e.GetSpecifiedName(), known); near != "" {
			text += ", did you mean --" + near + "?"
		}
	}
	return usagef("%s: see `%s --help`", text, c.CommandPath())
}

// noVerb is a word that is none of a command's own.
func noVerb(c *cobra.Command, word string) error {
	var known []string
	for _, v := range c.Commands() {
		if v.IsAvailableCommand() || v.Name() == "help" {
			known = append(known, v.Name())
		}
	}
	return usagef("there is no verb %q%s: see `%s --help`", word, strings.TrimSuffix(document.DidYouMean(word, known), "?"), c.CommandPath())
}

// helpCommand explains a verb, and says so if there is none of that name.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "explain a verb",
		Args:  args(0, 1, "one verb"),
		RunE: func(c *cobra.Command, verbs []string) error {
			if len(verbs) == 0 {
				return c.Root().Help()
			}
			for _, v := range c.Root().Commands() {
				if v.Name() == verbs[0] {
					v.InitDefaultHelpFlag() // so that it is among the flags
					return v.Help()
				}
			}
			return noVerb(c.Root(), verbs[0])
		},
	}
}

// completionOf makes the library's completion verb refuse what is no shell.
func completionOf(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range c.Commands() {
			shells = append(shells, shell.Name())
			shell.Args = args(0, 0, "no argument")
		}
		c.Short = "print what completes verbs and flags in your shell: " + strings.Join(shells, ", ")
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, got []string) error {
			given := "which shell?"
			if len(got) > 0 {
				given = fmt.Sprintf("it does not know %q", got[0])
			}
			return usagef("completion: %s: the shells are %s", given, strings.Join(shells, ", "))
		}
	}
}
