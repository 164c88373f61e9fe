import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  trace_unreadable: ['unavailable', 'the trace may lie in what cannot be read: {warnings}'],
  out_of_range: ['invalid_argument', '{name} must be from 1 to {max}'],
});
