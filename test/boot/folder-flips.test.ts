import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rounds } from '../drill/rounds.ts';
import { run as flipFolder } from '../drill/folder-flips.ts';

/** Keys, the list of disabled plugins, a pack, the audit trail, a backup, the database, and what is derived from it. */
const few =
  '^(?:keys/secret\\.key|plugins\\.json|packs/.*locks/SKILL\\.md|plugins/audit/audit-head\\.json|backups/\\*/svc\\.db|svc\\.db|plugins/knowledge/index/index-#\\.db)$';

// The whole of it is "npm run drill folder-flips -- --flips 500"; the seed chooses the kinds of files here.
test(
  'one flipped bit in any file of the data folder: the answers are as before, or the file is named',
  { timeout: 1_200_000 },
  async () => {
    const { ok, files } = await flipFolder(
      rounds({ flips: 7, only: few }, { flips: 24, only: '' }),
    );
    assert.equal(ok, true, JSON.stringify(files));
  },
);
