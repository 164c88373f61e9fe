import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  odd_answer: [
    'upstream_error',
    'the remote log store does not answer as Loki does: {what}; is logs.remote_url right?',
  ],
  no_endpoint: ['not_found', 'there is no endpoint {name}'],
  parameter_length: ['invalid_argument', '{key} is longer than {max} characters'],
});
