import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  trace_unreadable: [
    'unavailable',
    'The trace may be in a part of the store that cannot be read: {warnings}',
  ],
  out_of_range: ['invalid_argument', '{name} must be from 1 to {max}.'],
});
