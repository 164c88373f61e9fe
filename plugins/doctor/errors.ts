import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('doctor', {
  too_many_probes: ['rate_limited', 'too many probes are open; they end within a minute'],
  no_probe: ['not_found', 'there is no such probe; one ends a minute after it was opened'],
});
