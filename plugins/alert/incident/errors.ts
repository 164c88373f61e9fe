import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  may_not_acknowledge: ['forbidden', 'Changing incidents requires the permission alert:ack.'],
  no_incident: ['not_found', 'There is no incident {id}.'],
  silence_length: ['invalid_argument', 'A silence takes exactly one of hours, until and duration.'],
  silence_end: [
    'invalid_argument',
    'A silence must end in the future, at most 720 hours from now.',
  ],
  notify_away: [
    'unavailable',
    'The notify plugin is not running; enable it to send notifications.',
  ],
  no_channel: ['not_found', 'There is no channel {channels}.'],
});
