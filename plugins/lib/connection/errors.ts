import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connection', {
  no_url: [
    'invalid_argument',
    '{stray} was passed without url: pass the address that it belongs to, or leave both out.',
  ],
});
