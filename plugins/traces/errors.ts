import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('traces', {
  no_trace: ['not_found', 'There is no trace {id}.'],
  not_ready: ['unavailable', '{detail}'],
});
