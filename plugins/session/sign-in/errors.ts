import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  set_up_over: [
    'conflict',
    'Setup is complete: an administrator exists and can create more accounts.',
  ],
  set_up_token_invalid: [
    'unauthorized',
    'The setup token is invalid or has expired; the current one is in {file} in the data folder.',
  ],
  wrong_credentials: [
    'unauthorized',
    'The e-mail address or the password is wrong, or the account is disabled.',
  ],
  registration_closed: [
    'forbidden',
    'Registration is closed: ask an administrator for an account, or to set auth.registration to open.',
  ],
  throttled: ['rate_limited', '{reason}; try again in {seconds} s.'],
});
