import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('setting', {
  too_many_reveals: [
    'rate_limited',
    'At most {max} secrets can be revealed per minute; wait a moment.',
  ],
  never_revealed: [
    'conflict',
    '{name} cannot be revealed: it is set outside svc, at startup. Look it up where it is set.',
  ],
  value_not_in_force: ['conflict', '{name} is not in effect: {problem}'],
  set_by_environment: [
    'conflict',
    '{key} is set by {env} in the environment, which takes precedence: change it there, or remove it there and restart svc.',
  ],
  value_elsewhere: [
    'conflict',
    '{name} {value} leaves the choice to {by}, which set {other} and takes precedence: choose another value, or change it there.',
  ],
  nothing_stored: [
    'conflict',
    'No value is stored for this setting any more; load it again and repeat your change.',
  ],
  people_only: [
    'forbidden',
    'Secrets are revealed to people only, not to API tokens: sign in with your password.',
  ],
  sign_in_too_old: [
    'forbidden',
    'Revealing a secret requires a sign-in within the last 5 minutes: sign in again with your password, then retry.',
  ],
});
