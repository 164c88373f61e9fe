import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  request_abandoned: [
    'unavailable',
    'The request was given up before this change; nothing more is written for it.',
  ],
  read_only: ['unavailable', 'Nothing can be changed at the moment: {cause}'],
  idempotency_key: [
    'invalid_argument',
    'An Idempotency-Key has 1 to 200 printable characters without spaces.',
  ],
  idempotency_running: [
    'conflict',
    'A request with this Idempotency-Key is still running; wait for its answer.',
  ],
  idempotency_reused: [
    'conflict',
    'This Idempotency-Key was used for a different request; take a new key.',
  ],
  idempotency_lost: [
    'conflict',
    'The request with this Idempotency-Key was applied, but its answer was lost; look at the result instead of repeating it.',
  ],
  handler_late: ['unavailable', 'No answer came within {seconds} s; try again later.'],
});

export const auditErrors = defineErrors('audit', {
  not_written: [
    'unavailable',
    'The change could not be written to the audit trail, so it was not made.',
  ],
});
