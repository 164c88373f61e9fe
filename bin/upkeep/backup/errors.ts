import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('backup', {
  folder_exists: ['conflict', '{dir} already exists: a backup needs a new folder'],
  passphrase_needed: [
    'invalid_argument',
    'the key in this backup is sealed: pass its passphrase with --passphrase-file, or restore with --without-key',
  ],
  copy_failed: ['unavailable', 'the backup failed: {cause}'],
  thread_ended: ['unavailable', 'the backup failed: its thread exited early'],
  not_a_backup: [
    'invalid_argument',
    '{dir} is not a backup: its {manifestName} cannot be read ({cause})',
  ],
  damaged: [
    'conflict',
    'the backup {dir} is damaged ({what}): nothing was changed; use another backup',
  ],
  changed_midway: [
    'conflict',
    'the backup {dir} changed while it was copied: nothing was changed; try again',
  ],
  passphrase_too_short: [
    'invalid_argument',
    'the passphrase is too short: use at least {shortest} characters, because anyone with a copy of the backup can try any number of passphrases',
  ],
  sealed_key_damaged: [
    'conflict',
    "the backup's secret.key.sealed is damaged: use another backup, or restore without its key",
  ],
  passphrase_wrong: [
    'invalid_argument',
    'the passphrase does not decrypt the key in the backup: check it, or restore with "--without-key"',
  ],
  changes_too_fast: [
    'unavailable',
    '{unit} changes faster than it can be copied ({tries} attempts): try again when there are fewer writes',
  ],
  foreign_journal: [
    'invalid_argument',
    '{file} was not written by a restore: inspect it, then delete it',
  ],
});
