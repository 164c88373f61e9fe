import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-hostmetrics', {
  too_many_series: ['upstream_error', 'the answer has more than {maxSeries} series'],
  answer_cut_off: ['upstream_error', 'the answer was cut off: # EOF is missing'],
  answer_line: ['upstream_error', 'line {line} of the answer: {what}'],
  answer_status: ['upstream_error', 'it answered with status {status}'],
  target_address: ['invalid_argument', 'the address of a target is http or https, without a user'],
  target_not_allowed: [
    'forbidden',
    '{hostname}:{port} is not this machine, and its policy does not list it under tcp',
  ],
});
