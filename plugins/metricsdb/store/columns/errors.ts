import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  record_cut_short: [
    'internal',
    'metrics store: a record ends too early; its block or WAL segment is damaged',
  ],
});
