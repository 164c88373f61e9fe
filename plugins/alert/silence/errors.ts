import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  matcher: ['invalid_argument', 'the matcher for {name} is not a regular expression: {cause}'],
  mutes_everything: [
    'invalid_argument',
    'these matchers would mute every incident; at least one must require a value',
  ],
  too_many_silences: [
    'conflict',
    'the limit of {max} active and pending silences is reached; end some of them first',
  ],
  silence_ended: ['conflict', 'silence {id} has ended; create another one'],
  silence_taken: [
    'conflict',
    'a silence is called "{name}" already: choose another name, or change that one',
  ],
  no_silence: ['not_found', 'there is no silence {id}'],
  no_devices: [
    'conflict',
    'your organization has no devices, so there is nothing that a silence of yours would mute',
  ],
  ends_twice: ['invalid_argument', 'a silence has either ends_at or duration'],
  silence_span: [
    'invalid_argument',
    'a silence ends after it starts, in the future, and within 366 days of its start',
  ],
  recurrence_duration: [
    'invalid_argument',
    'the duration of a recurrence is above zero and at most 7d',
  ],
  recurrence_zone: [
    'invalid_argument',
    'recurrence.time_zone is not a name of the tz database such as Europe/Berlin: {zone}',
  ],
});
