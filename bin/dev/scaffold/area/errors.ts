import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('plugin-id', {
  full: ['conflict', 'There are {max} entries, the limit of the setting {setting}; raise it.'],
});
