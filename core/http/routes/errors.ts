import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('http', {
  route_declaration: ['invalid_argument', '{route} {problem}'],
  shape: ['invalid_argument', 'The {part} is invalid: {problems}'],
});
