import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  odd_answer: [
    'upstream_error',
    'The remote log store does not respond like Loki: {what}; check logs.remote_url.',
  ],
  no_endpoint: ['not_found', 'There is no endpoint {name}.'],
  parameter_length: ['invalid_argument', '{key} is longer than {max} characters.'],
});
