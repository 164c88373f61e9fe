import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-procmetrics', {
  pattern: ['invalid_argument', '{field} is not a valid regular expression: {cause}'],
  history_window: [
    'invalid_argument',
    '"process_history" requires "from" and "to" in milliseconds, with "from" not after "to".',
  ],
});
