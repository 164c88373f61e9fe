import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('storage', {
  sqlite_old: [
    'unavailable',
    'SQLite {version} is too old for safe concurrent commits: reinstall better-sqlite3 so that it brings {oldest} or newer.',
  ],
  no_streaming: ['internal', 'Storage does not stream: read page by page with a keyset.'],
  in_transaction: [
    'internal',
    'This is a transaction already: call write() again for a part that may fail on its own.',
  ],
  views_taken: [
    'unavailable',
    '{views} read transactions are open already; try again in a moment.',
  ],
  view_ended: ['unavailable', 'This read transaction has ended; one lasts at most {seconds} s.'],
  sqlite_full: [
    'unavailable',
    'The disk is full: nothing was written. Free space in the data folder; writing then resumes by itself.',
  ],
  sqlite_io: [
    'unavailable',
    'The disk reported an input/output error: nothing was written. Check the disk; writes resume by themselves once it works.',
  ],
  sqlite_damaged: [
    'unavailable',
    'The database file is damaged: nothing was written. Stop svc and restore a backup with "svc backup restore".',
  ],
  sqlite_locked: [
    'unavailable',
    'Another program holds svc.db locked: close it (such as a database browser) and try again.',
  ],
  sqlite_forbidden: [
    'unavailable',
    'The database file cannot be written: check owner and permissions of the data folder.',
  ],
  sqlite_memory: [
    'unavailable',
    'There was not enough memory for this write: nothing was written.',
  ],
});
