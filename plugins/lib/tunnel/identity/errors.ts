import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  secret_key_form: [
    'invalid_argument',
    'A secret key must begin with {secretPrefix} and be {count} characters long.',
  ],
});
