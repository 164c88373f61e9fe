import { rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tells svc that the database of a stopped data folder was changed on purpose: a start refuses pages
 * that are not as the last stop left them.
 */
export const changedOnPurpose = (dataDir: string): void =>
  rmSync(join(dataDir, 'clean'), { force: true });
