import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('iam', {
  email: ['invalid_argument', 'email {message}'],
  too_many_guesses: [
    'rate_limited',
    'current_password was wrong too many times; try again in {seconds} s.',
  ],
  hasher_busy: ['rate_limited', 'Too many passwords are being checked; try again in a moment.'],
  password: ['invalid_argument', 'password {complaint}'],
});
