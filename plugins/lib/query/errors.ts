import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  duration: [
    'invalid_argument',
    'not a valid duration string: {text}; write it like 1h30m, 15s or 500ms',
  ],
  duration_range: ['invalid_argument', 'duration out of range: {text}'],
  go_duration: [
    'invalid_argument',
    'not a valid duration: {text}; write it like 1.5h, 300ms or 10µs',
  ],
  last: [
    'invalid_argument',
    '"last" must be between 1ms and 31d, and "until" must be a time such as 2026-01-31T14:00:00Z.',
  ],
});
