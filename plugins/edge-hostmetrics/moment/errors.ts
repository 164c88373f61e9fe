import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-hostmetrics', {
  pattern_too_long: ['invalid_argument', '{field} is longer than {longest} characters.'],
  pattern: ['invalid_argument', '{field} is not a valid regular expression: {cause}'],
});
