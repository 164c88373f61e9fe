import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  scratch_full: ['budget_exceeded', 'a scratch store holds {max} samples at most'],
  scratch_order: ['invalid_argument', 'samples of a series must come in the order of their times'],
  too_many_scratches: [
    'rate_limited',
    '{max} scratch stores are in use already; try again when one is closed',
  ],
  scratch_closed: [
    'not_found',
    'the scratch store is closed: it was idle for five minutes, or its thread was restarted; open another',
  ],
});
