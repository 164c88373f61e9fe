import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';

const folder = dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json'));
const brought = join(folder, 'prebuilds', `${process.platform}-${process.arch}.node`);

/** The SQLite addon of this installation: compiled here, or brought along by the edition for Node 22 and later. */
export const addonFile = existsSync(brought)
  ? brought
  : join(folder, 'build', 'Release', 'better_sqlite3.node');
