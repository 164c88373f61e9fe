import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_app: ['not_found', 'There is no app {id}.'],
  max_apps: ['conflict', 'The limit of {max} apps is reached; delete some that are not needed.'],
  sign_in_again: [
    'forbidden',
    'Revealing secrets needs a sign-in within the last five minutes; sign in again.',
  ],
  sealed: ['conflict', 'The secrets of the app {name} cannot be decrypted; enter them again.'],
  app_name_taken: ['conflict', 'An app {name} already exists.'],
  invalid_app: ['invalid_argument', '{field} {message}'],
  link_by_people: ['forbidden', 'Linking an account needs a signed-in user, not an API token.'],
  no_link: ['not_found', 'There is no link {id}.'],
});
