import { messageOf } from '../../core/sdk/index.ts';
import { errors } from './errors.ts';

/** Remedies for problems below svc, by the system's error about a file. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space and start svc again',
  EDQUOT: 'the disk quota of this user is exhausted: free some space and start svc again',
  EROFS:
    'the disk is mounted read-only: make it writable (mount -o remount,rw), or choose another folder with SVC_DATA_DIR',
  EIO: 'the disk reports input/output errors: check the kernel log (dmesg), and move the data folder to a healthy disk',
  EACCES:
    'this user has no permission: run svc as the owner of the data folder, or change its owner (chown -R)',
  EPERM:
    'this user has no permission: run svc as the owner of the data folder, or change its owner (chown -R)',
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
  return errors.start_failed(
    {
      detail:
        path === undefined ? said.split(`: ${code}`)[0]!.slice(0, 300) : `${path} cannot be used`,
      remedy,
    },
    { cause: error },
  );
}
