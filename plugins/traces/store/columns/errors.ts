import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  value_depth: ['internal', 'A value is nested too deeply.'],
  value_type: ['internal', 'A value has type {type}, which this version does not support.'],
});
