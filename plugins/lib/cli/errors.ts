import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('cli', {
  file_in_use: [
    'conflict',
    'another svc command is using {file}: wait until it ends, or delete the file if none is running',
  ],
  profiles_damaged: [
    'invalid_argument',
    '{file} is not a valid profiles file: delete it, and sign in again with "svc login"',
  ],
});
