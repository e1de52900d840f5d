// Package predict does the arithmetic: closed forms over a plan and the
// effects of its faults, each with its interval and the sentence that derives
// it. Where no closed form holds, the error names the premise that fails.
//
// Main flow: New(plan) → Model; Fill writes plan.Predictions before anything
// runs and reports every `predicted` bound whose premise fails; trial compares.
//
// To add a closed form, write one function from Model and Row to Estimate in
// a file of its own, and one line in forms.
package predict
