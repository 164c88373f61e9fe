import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('connection', {
  no_url: [
    'invalid_argument',
    '{stray} is given without url: name the address that it belongs to, or leave both out',
  ],
});
