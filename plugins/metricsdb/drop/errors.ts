import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  drop_elsewhere: [
    'conflict',
    'The driver {driver} keeps the samples; delete series at that server.',
  ],
  drop_unconfirmed: [
    'conflict',
    'Dropping series cannot be undone: repeat the request with the confirmation.',
  ],
  drop_continues: [
    'unavailable',
    'The series no longer count against the limits; blocks on disk are still being rewritten.',
  ],
});
