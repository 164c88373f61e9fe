import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('schedules', {
  cron_fields: [
    'invalid_argument',
    'A cron expression has five fields: minute, hour, day of the month, month, day of the week; "{text}" has {count}.',
  ],
  cron_field: [
    'invalid_argument',
    '"{part}" is not a valid {field} in a cron expression: use {from} to {to}, *, lists such as 1,15, ranges such as 1-5, or steps such as */15.',
  ],
  cron_never: ['invalid_argument', 'The cron expression "{text}" never matches any date.'],
  time_zone: [
    'invalid_argument',
    '"{zone}" is not a time zone; use a name such as Europe/Berlin, or UTC.',
  ],
});
