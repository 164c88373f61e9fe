import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-procmetrics', {
  pattern: ['invalid_argument', '{field} is no regular expression: {cause}'],
});
