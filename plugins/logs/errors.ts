import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  too_many_parameters: [
    'invalid_argument',
    'The form has {count} parameters; at most {max} are read.',
  ],
  delay: ['invalid_argument', "delay_for can't be greater than {max}"],
  not_ready: ['unavailable', '{detail}'],
  no_tails: ['conflict', '{refusal}'],
});
