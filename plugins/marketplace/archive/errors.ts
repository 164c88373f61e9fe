import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_folder: [
    'invalid_argument',
    '{folder} is not a folder on the machine that runs svc ({cause}); use its absolute path.',
  ],
});
