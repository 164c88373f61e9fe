import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  odd_answer: [
    'upstream_error',
    'The remote metrics store did not respond like the Prometheus API: {what}',
  ],
});
