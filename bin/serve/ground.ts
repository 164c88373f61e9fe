import { messageOf, SvcError } from '../../core/sdk/index.ts';

/** Remedies for problems below svc, by the system's error about a file. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space there and start svc again',
  EDQUOT: 'the quota of this user is used up: free some space there and start svc again',
  EROFS:
    'its disk is mounted read-only: make it writable (mount -o remount,rw), or give svc another SVC_DATA_DIR',
  EIO: 'its disk reports input/output errors: look into the log of the kernel (dmesg), and move the data folder to a disk that is whole',
  EACCES:
    'this user may not: run svc as the owner of the data folder, or give it to this user (chown -R)',
  EPERM:
    'this user may not: run svc as the owner of the data folder, or give it to this user (chown -R)',
};

/** A start that failed for the ground it stands on, in one sentence that says what to do; any other error as it was. */
export function explainedGround(error: unknown): unknown {
  const said = messageOf(error);
  const { path } = error as NodeJS.ErrnoException;
  const [, code = ''] = /\b(E[A-Z]{2,7}): /.exec(said) ?? [];
  const remedy = remedies[code];
  if (remedy === undefined) {
    return error;
  }
  return new SvcError(
    'unavailable',
    `${path === undefined ? said.split(`: ${code}`)[0]!.slice(0, 300) : `${path} cannot be used`}, because ${remedy}`,
    {
      cause: error,
    },
  );
}
