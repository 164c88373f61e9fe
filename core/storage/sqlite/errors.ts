import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('storage', {
  sqlite_old: [
    'unavailable',
    'SQLite {version} is too old for safe concurrent commits: reinstall better-sqlite3 to get {oldest} or newer.',
  ],
  no_streaming: [
    'internal',
    'Storage does not support streaming: use keyset pagination to read page by page.',
  ],
  in_transaction: [
    'internal',
    'This is already a transaction: call write() again for a part that may fail on its own.',
  ],
  views_taken: [
    'unavailable',
    '{views} read transactions are already open; try again in a moment.',
  ],
  view_ended: [
    'unavailable',
    'This read transaction has ended; a read transaction lasts at most {seconds} s.',
  ],
  sqlite_full: [
    'unavailable',
    'The disk is full: nothing was written. Free some space in the data folder; writes then resume automatically.',
  ],
  sqlite_io: [
    'unavailable',
    'The disk reported an input/output error: nothing was written. Check the disk; writes resume automatically once it works.',
  ],
  sqlite_damaged: [
    'unavailable',
    'The database file is damaged: nothing was written. Stop svc and restore a backup with "svc backup restore".',
  ],
  sqlite_locked: [
    'unavailable',
    'Another program, such as a database browser, has locked svc.db: close that program and try again.',
  ],
  sqlite_forbidden: [
    'unavailable',
    'The database file cannot be written: check the owner and permissions of the data folder.',
  ],
  sqlite_memory: [
    'unavailable',
    'There was not enough memory for this write: nothing was written.',
  ],
});
