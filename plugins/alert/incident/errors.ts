import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  no_incident: ['not_found', 'there is no incident {id}'],
  token_acts: ['forbidden', 'an API token acts on incidents only with the action alert:ack'],
  silence_length: ['invalid_argument', 'a silence takes exactly one of hours, until and duration'],
  silence_end: ['invalid_argument', 'a silence ends in the future, at most 720 hours from now'],
  notify_away: ['unavailable', 'the plugin notify is not running; enable it to send notifications'],
  no_channel: ['not_found', 'there is no channel {channels}'],
});
