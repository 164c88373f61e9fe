import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('gate', {
  arguments_deep: [
    'invalid_argument',
    'the arguments are nested more than {max} levels deep; make them flatter',
  ],
});
