import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  field: ['invalid_argument', '{name}: {message}'],
  duration: [
    'invalid_argument',
    '{field} must be a duration such as 30s, 1h30m or 7d, not {text}.',
  ],
});
