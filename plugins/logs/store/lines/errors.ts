import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  record_version: [
    'unavailable',
    'log store: a WAL record has version {found}, this svc reads {version}; upgrade svc',
  ],
});
