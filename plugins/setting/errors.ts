import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('setting', {
  too_many_reveals: ['rate_limited', '{max} secrets a minute may be revealed; wait a moment'],
  never_revealed: [
    'conflict',
    '{name} is never revealed: it comes from outside, at the start. Read it where it was set',
  ],
  value_not_in_force: ['conflict', '{name} is not in force: {problem}'],
  set_by_environment: [
    'conflict',
    '{key} is set by {env} in the environment, which has the last word: change it there, or remove it there and start svc again',
  ],
  value_elsewhere: [
    'conflict',
    '{name} {value} leaves it to {by}, which said {other} and stays in force: set another value, or say another there',
  ],
  nothing_stored: [
    'conflict',
    'nothing is stored for this setting any more; load it again and repeat your change',
  ],
  people_only: [
    'forbidden',
    'secrets are revealed to people only, not to API tokens: sign in with your password for that',
  ],
  sign_in_too_old: [
    'forbidden',
    'revealing a secret takes a sign-in that is at most 5 minutes old: sign in again with your password, then ask once more',
  ],
});
