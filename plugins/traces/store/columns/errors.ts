import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  value_depth: ['internal', 'a value is nested deeper than any that is written'],
  value_type: ['internal', 'a value has type {type}, which this version does not know'],
});
