import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('console', {
  no_language: ['not_found', 'No plugin provides the language {tag} for the console.'],
  no_file: [
    'not_found',
    'The console no longer has the file {file}, because svc was upgraded: reload the page.',
  ],
});
