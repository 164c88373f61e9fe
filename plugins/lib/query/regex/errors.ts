import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('query', {
  pattern: ['invalid_argument', 'the regular expression is refused: {why}'],
  pattern_syntax: ['invalid_argument', '{cause}'],
});
