import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-hostmetrics', {
  too_many_series: ['upstream_error', 'The response has more than {maxSeries} series.'],
  answer_line: ['upstream_error', 'Line {line} of the response is invalid: {what}'],
  answer_status: ['upstream_error', 'The target responded with status {status}.'],
  target_address: [
    'invalid_argument',
    'The address of a target must use http or https and must not contain a user name.',
  ],
  target_not_allowed: [
    'forbidden',
    '{hostname}:{port} is not this machine, and this machine\'s policy does not allow it; the machine\'s owner can add "{hostname}:{port}" to "tcp" in policy.yaml.',
  ],
});
