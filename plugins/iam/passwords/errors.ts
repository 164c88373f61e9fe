import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('iam', {
  email: ['invalid_argument', 'email {message}'],
  too_many_guesses: [
    'rate_limited',
    'current_password was wrong too often; try again in {seconds} s',
  ],
  hasher_busy: [
    'rate_limited',
    'too many passwords are being checked at once; try again in a moment',
  ],
  password: ['invalid_argument', 'password {complaint}'],
});
