import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('session', {
  not_yours: [
    'forbidden',
    'only administrators see what belongs to other people; leave user_id out for your own',
  ],
  token_manages: ['forbidden', 'an API token cannot manage tokens or sessions; sign in for that'],
  session_over: ['unauthorized', 'this session is over; sign in again'],
  set_up_token_used: ['unauthorized', 'the set-up token was used already'],
});
