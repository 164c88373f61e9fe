import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-procmetrics', {
  pattern: ['invalid_argument', '{field} is not a valid regular expression: {cause}'],
});
