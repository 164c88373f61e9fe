import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Processes of the agent of the machine itself that a manager with this data folder keeps. */
export const agentsOf = (dataDir: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(dataDir, 'local-edge'))
      );
    } catch {
      // It has ended since it was listed.
      return false;
    }
  });
