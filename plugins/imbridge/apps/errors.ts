import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_app: ['not_found', 'there is no app {id}'],
  max_apps: ['conflict', 'the limit of {max} apps is reached; delete one that is not needed'],
  sign_in_again: [
    'forbidden',
    'secrets are revealed to who has signed in within the last five minutes; sign in again',
  ],
  sealed: ['conflict', 'the secrets of the app {name} cannot be opened; enter them again'],
  app_name_taken: ['conflict', 'there is an app {name} already'],
  invalid_app: ['invalid_argument', '{field} {message}'],
  link_by_people: [
    'forbidden',
    'accounts are linked by people who are signed in, not with API tokens',
  ],
  no_link: ['not_found', 'there is no link {id}'],
});
