import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('boot', {
  memory_damaged: [
    'invalid_argument',
    '{file} is damaged; delete it to clear the list of disabled and quarantined plugins.',
  ],
  tls_in_part: [
    'invalid_argument',
    'http.tls_addr, http.tls_cert and http.tls_key must be set together: set all three or none.',
  ],
  no_sqlite_for_threads: [
    'internal',
    'This build of svc does not include better-sqlite3, which plugin threads need.',
  ],
});
