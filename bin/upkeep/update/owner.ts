import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

import { errors } from './errors.ts';

const deadlineMs = 3_600_000;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs svc on a data folder as the user that the folder belongs to: what root would leave there, svc could not read. Waited for without a
 * loop of events, since who takes a version back may have none to wait with.
 */
export function runAsOwner(program: string, args: readonly string[], dataDir: string): Ran {
  const { uid, gid } = statSync(dataDir);
  const other = process.getuid?.() === 0 && uid !== 0;
  const { status, stdout, stderr, error } = spawnSync(program, [...args, '--data', dataDir], {
    ...(other && { uid, gid, cwd: '/' }),
    env: { ...process.env, ...(other && { HOME: dataDir, XDG_CACHE_HOME: undefined }) },
    encoding: 'utf8',
    timeout: deadlineMs,
    maxBuffer: 16 * 1024 * 1024,
  });
  if (error) {
    throw errors.program_failed_to_run({ program, cause: error.message }, { cause: error });
  }
  return { code: status, stdout, stderr };
}

/** Returns the answer with --json; throws the complaint as an error. */
export function answerAsOwner<T>(program: string, args: readonly string[], dataDir: string): T {
  const { code, stdout, stderr } = runAsOwner(program, [...args, '--json'], dataDir);
  if (code !== 0) {
    throw errors.command_failed({
      list: [program, ...args].join(' '),
      complaint: complaint(stdout, stderr),
    });
  }
  return JSON.parse(stdout) as T;
}

function complaint(stdout: string, stderr: string): string {
  try {
    return (JSON.parse(stdout) as { message: string }).message;
  } catch {
    return (stderr.trim() || stdout.trim() || 'no output').slice(-1_000);
  }
}
