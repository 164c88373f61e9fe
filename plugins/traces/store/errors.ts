import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  relay_full: [
    'rate_limited',
    '{max} pushes to the remote trace store are already in progress: wait a moment.',
  ],
  store_closed: ['unavailable', 'The trace store is closed; retry in a moment.'],
  blocks_behind: [
    'rate_limited',
    'The trace store cannot keep up with the spans; retry in a moment.',
  ],
});
