import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Address of a running svc, for commands on the same machine. */
export interface RunningSvc {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
}

/** The svc that serves this data folder now, if one does. */
export function runningSvc(dataDir: string): RunningSvc | undefined {
  try {
    const { pid, url } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
      pid: number;
      url: string;
    };
    process.kill(pid, 0);
    return {
      pid,
      url,
      token: readFileSync(join(dataDir, 'keys', 'operator.token'), 'utf8').trim(),
    };
  } catch {
    // No file, no such process, or one that is still starting: in each case there is none to reach.
    return undefined;
  }
}
