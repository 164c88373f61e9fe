import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  odd_answer: [
    'upstream_error',
    'The remote metrics store did not answer like the Prometheus API: {what}',
  ],
});
