import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  too_many_tails: [
    'rate_limited',
    'max concurrent tail requests limit exceeded, count > limit ({count} > {max})',
  ],
  tail_ended: [
    'not_found',
    'this tail has ended because the log store was restarted: open it again',
  ],
  too_many_own_tails: [
    'rate_limited',
    '{count} live tails of yours are open, and no more are allowed: close one',
  ],
});
