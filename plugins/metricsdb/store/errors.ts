import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  no_store: [
    'unavailable',
    'The embedded metrics store is not in use: another driver is set, or it failed to open.',
  ],
  head_full: [
    'rate_limited',
    'The head of the metrics store is full and is being written to disk; retry in a moment.',
  ],
});
