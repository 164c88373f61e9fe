import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('doctor', {
  too_many_probes: ['rate_limited', 'too many probes are open; they end within a minute'],
  no_probe: ['not_found', 'the probe does not exist; probes end one minute after they are opened'],
});
