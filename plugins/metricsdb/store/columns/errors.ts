import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  record_cut_short: [
    'internal',
    'The metrics store has a truncated record; its block or WAL segment is damaged.',
  ],
});
