import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  record_version: [
    'unavailable',
    'The log store found a WAL record of version {found}, but this svc reads version {version}; upgrade svc.',
  ],
});
