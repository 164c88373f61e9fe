import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  drop_elsewhere: [
    'conflict',
    'With the driver {driver}, another server stores the samples; delete the series there.',
  ],
  drop_unconfirmed: [
    'conflict',
    'Dropping series cannot be undone: repeat the request with confirmation.',
  ],
  drop_continues: [
    'unavailable',
    'The series no longer count towards the limits; blocks on disk are still being rewritten.',
  ],
});
