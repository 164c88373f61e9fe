import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  too_many_tails: [
    'rate_limited',
    'max concurrent tail requests limit exceeded, count > limit ({count} > {max})',
  ],
  tail_ended: ['not_found', 'This tail ended because the log store was restarted: open a new one.'],
  too_many_own_tails: [
    'rate_limited',
    'You already have {count} live tails open, which is the limit: close one.',
  ],
});
