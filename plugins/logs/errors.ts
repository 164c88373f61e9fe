import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  step: ['invalid_argument', '"step" must be a duration such as 1m.'],
  too_many_parameters: [
    'invalid_argument',
    'The form has {count} parameters, but the limit is {max}.',
  ],
  delay: ['invalid_argument', "delay_for can't be greater than {max}"],
  not_ready: ['unavailable', '{detail}'],
  no_tails: ['conflict', '{refusal}'],
});
