import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  secret_key_form: [
    'invalid_argument',
    'a secret key begins with {secretPrefix} and has {count} characters',
  ],
});
