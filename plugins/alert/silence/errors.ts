import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  matcher: [
    'invalid_argument',
    'The matcher for {name} is not a valid regular expression: {cause}',
  ],
  mutes_everything: [
    'invalid_argument',
    'These matchers would mute every incident; at least one must match a non-empty value.',
  ],
  too_many_silences: [
    'conflict',
    'The limit of {max} active and pending silences has been reached; end some first.',
  ],
  silence_ended: ['conflict', 'Silence {id} has ended; create a new one.'],
  silence_taken: [
    'conflict',
    'A silence named "{name}" already exists: choose another name, or update the existing one.',
  ],
  no_silence: ['not_found', 'There is no silence {id}.'],
  no_devices: ['conflict', 'Your organization has no devices, so there is nothing to silence.'],
  ends_twice: ['invalid_argument', 'A silence takes either ends_at or duration.'],
  silence_span: [
    'invalid_argument',
    'A silence must end after its start, in the future, and within 366 days of its start.',
  ],
  calendar_span: [
    'invalid_argument',
    'A calendar ends after its start, and at most 45 days later.',
  ],
  recurrence_duration: [
    'invalid_argument',
    'The duration of a recurrence must be greater than zero and at most 7d.',
  ],
  recurrence_zone: [
    'invalid_argument',
    'recurrence.time_zone must be a name in the tz database such as Europe/Berlin, not {zone}.',
  ],
});
