import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-hostmetrics', {
  too_many_series: ['upstream_error', 'The response has more than {maxSeries} series.'],
  answer_line: ['upstream_error', 'Line {line} of the response: {what}'],
  answer_status: ['upstream_error', 'The target answered with status {status}.'],
  target_address: [
    'invalid_argument',
    'The address of a target must be http or https, without a user name.',
  ],
  target_not_allowed: [
    'forbidden',
    '{hostname}:{port} is not this machine, and its policy does not allow it: its owner can add "{hostname}:{port}" to "tcp" of policy.yaml.',
  ],
});
