import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  pattern: ['invalid_argument', 'The regular expression is not allowed: {why}'],
  pattern_syntax: ['invalid_argument', '{cause}'],
});
