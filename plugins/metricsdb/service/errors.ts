import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  scratch_full: ['budget_exceeded', 'A scratch store may have at most {max} samples.'],
  scratch_order: ['invalid_argument', 'The samples of a series must be in time order.'],
  too_many_scratches: [
    'rate_limited',
    '{max} scratch stores are already in use; try again once one has been closed.',
  ],
  scratch_closed: [
    'not_found',
    'The scratch store was closed: it was idle for five minutes, or its thread was restarted; open another one.',
  ],
});
