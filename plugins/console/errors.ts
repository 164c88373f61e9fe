import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('console', {
  no_language: ['not_found', 'no plugin brings the language {tag} to the console'],
  no_file: [
    'not_found',
    'the console has no file {file}; load the page again, svc was replaced since',
  ],
});
