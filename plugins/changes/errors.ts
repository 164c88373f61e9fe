import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('changes', {
  device_id_missing: [
    'invalid_argument',
    'device_id is missing: specify which device of your organization was changed.',
  ],
  no_device: ['not_found', 'There is no device {id}.'],
  time_out_of_range: [
    'invalid_argument',
    'The time in "at" must be within the last 7 days and not in the future; correct the sender\'s clock.',
  ],
});
