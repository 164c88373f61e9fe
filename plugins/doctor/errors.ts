import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('doctor', {
  too_many_probes: [
    'rate_limited',
    'Too many probes are open; wait up to a minute for them to end.',
  ],
  no_probe: [
    'not_found',
    'This probe does not exist; a probe ends one minute after it was opened.',
  ],
});
