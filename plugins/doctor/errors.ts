import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('doctor', {
  too_many_probes: ['rate_limited', 'Too many probes are open; they end within a minute.'],
  no_probe: [
    'not_found',
    'This probe does not exist; a probe ends one minute after it was opened.',
  ],
});
