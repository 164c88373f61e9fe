import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { type Environment, type RunningCore, boot } from '../../../core/boot/index.ts';
import { createBackup } from './backup.ts';
import { assertHasData, openDataFolder } from '../data-folder.ts';
import { connect } from '../../serve/connect.ts';
import { type ApiClient } from 'svc/cli';
import { bootOptionsOver } from '../../serve/small-svc.ts';

/**
 * Asks one plugin about a data folder that no svc serves: a svc with that plugin alone answers for a copy of the data,
 * so the folder stays as it is, and the answer comes from the code that gives it otherwise. The copy is for its owner only
 * and gone afterwards; TMPDIR says where it may stand.
 */
export async function askCopy<R>(
  plugin: string,
  environment: Environment,
  ask: (client: ApiClient) => Promise<R>,
): Promise<R> {
  const folderData = await openDataFolder(environment);
  const { dataDir } = folderData;
  assertHasData(folderData);
  const folder = mkdtempSync(join(tmpdir(), 'svc-copy-'));
  let core: RunningCore | undefined;
  try {
    const copy = join(folder, 'data');
    await createBackup(copy, folderData);
    copyFiles(dataDir, copy, 'keys');
    copyFiles(dataDir, copy, join('plugins', plugin));
    core = await boot(await bootOptionsOver(copy, [plugin], environment));
    return await ask(connect({ url: core.url, token: core.operatorToken }));
  } finally {
    await core?.stop('the question is answered');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files of one folder, not those of folders within: what is archived there is large, and nobody asks for it. */
function copyFiles(from: string, to: string, name: string): void {
  const folder = join(from, name);
  if (!existsSync(folder)) {
    return;
  }
  mkdirSync(dirname(join(to, name)), { recursive: true, mode: 0o700 });
  mkdirSync(join(to, name), { mode: 0o700 });
  for (const entry of readdirSync(folder, { withFileTypes: true }).filter((one) => one.isFile())) {
    copyFileSync(join(folder, entry.name), join(to, name, entry.name));
  }
}
