import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  no_store: [
    'unavailable',
    'the embedded metrics store is not in use: another driver is set, or it could not be opened',
  ],
  head_full: [
    'rate_limited',
    'metrics store: the head is full and is being written to disk; retry in a moment',
  ],
});
