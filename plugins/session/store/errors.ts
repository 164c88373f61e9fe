import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  not_yours: [
    'forbidden',
    'Only administrators can see objects that belong to other users; to see your own, leave out user_id.',
  ],
  token_manages: [
    'forbidden',
    'An API token cannot manage tokens or sessions; sign in to do that.',
  ],
  session_over: ['unauthorized', 'This session has ended; sign in again.'],
  set_up_token_used: ['unauthorized', 'The setup token has already been used.'],
});
