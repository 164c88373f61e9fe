import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  set_up_over: [
    'conflict',
    'set-up is over: there is an administrator already, who can make more accounts',
  ],
  set_up_token_invalid: [
    'unauthorized',
    'the set-up token is not valid or has expired; the current one stands in {file} of the data folder',
  ],
  wrong_credentials: [
    'unauthorized',
    'the e-mail or the password is not right, or the account is disabled',
  ],
  registration_closed: [
    'forbidden',
    'registration is closed: ask an administrator for an account, or let one set auth.registration to open',
  ],
  throttled: ['rate_limited', '{reason}; try again in {seconds} s'],
});
