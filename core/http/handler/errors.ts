import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  request_abandoned: [
    'unavailable',
    'The request was aborted before this change; nothing was written.',
  ],
  read_only: ['unavailable', 'Changes cannot be made at the moment: {cause}'],
  idempotency_key: [
    'invalid_argument',
    'An Idempotency-Key must be 1 to 200 printable characters without spaces.',
  ],
  idempotency_running: [
    'conflict',
    'A request with this Idempotency-Key is still running; wait for its response.',
  ],
  idempotency_reused: [
    'conflict',
    'This Idempotency-Key was used for a different request; use a new key.',
  ],
  idempotency_lost: [
    'conflict',
    'The request with this Idempotency-Key was applied, but its response was lost; check the result instead of sending the request again.',
  ],
  handler_late: ['unavailable', 'The request took longer than {seconds} s; try again later.'],
});

export const auditErrors = defineErrors('audit', {
  not_written: [
    'unavailable',
    'The change could not be recorded in the audit log, so it was not made.',
  ],
});
