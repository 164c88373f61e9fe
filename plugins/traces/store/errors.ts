import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  relay_full: [
    'rate_limited',
    '{max} pushes are on their way to the remote trace store: wait a moment',
  ],
  store_closed: ['unavailable', 'the trace store is closed; retry in a moment'],
  blocks_behind: [
    'rate_limited',
    'trace store: spans come faster than blocks are written; retry in a moment',
  ],
});
