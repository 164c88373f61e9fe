import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('template', {
  size: [
    'invalid_argument',
    'template:1:1: the template has {count} characters, but the limit is {max}',
  ],
  syntax: ['invalid_argument', 'template:{line}:{at}: {message}'],
});
