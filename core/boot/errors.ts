import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('boot', {
  memory_damaged: [
    'invalid_argument',
    '{file} is damaged; delete it to forget which plugins were disabled or quarantined.',
  ],
  tls_in_part: [
    'invalid_argument',
    'http.tls_addr, http.tls_cert and http.tls_key go together: set all three, or none.',
  ],
  no_sqlite_for_threads: [
    'internal',
    'This build of svc contains no better-sqlite3 for plugin threads.',
  ],
});
