import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  odd_answer: [
    'upstream_error',
    'the remote metrics store did not answer as the Prometheus API does: {what}',
  ],
});
