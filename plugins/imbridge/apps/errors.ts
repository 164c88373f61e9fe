import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_app: ['not_found', 'There is no app {id}.'],
  max_apps: [
    'conflict',
    'The limit of {max} apps has been reached; delete some that you no longer need.',
  ],
  sign_in_again: [
    'forbidden',
    'Revealing secrets requires a sign-in within the last five minutes; sign in again.',
  ],
  sealed: ['conflict', 'The secrets of the app {name} cannot be decrypted; enter them again.'],
  app_name_taken: ['conflict', 'An app named {name} already exists.'],
  invalid_app: ['invalid_argument', '{field} {message}'],
  link_by_people: [
    'forbidden',
    'Linking an account requires a signed-in user; an API token cannot do it.',
  ],
  no_link: ['not_found', 'There is no link {id}.'],
});
