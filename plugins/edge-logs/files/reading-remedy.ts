import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';

const groupReads = 0o040;

/** Returns the command by which the owner of this machine lets the agent read a file or list a folder. */
export function readingRemedy(path: string): string {
  const user = userName();
  const stats = statSync(path, { throwIfNoEntry: false, bigint: false });
  const group =
    stats !== undefined && stats.gid !== 0 && (stats.mode & groupReads) !== 0
      ? groupName(stats.gid)
      : undefined;
  return group === undefined
    ? `run "setfacl -m u:${user}:${stats?.isDirectory() === false ? 'r' : 'rx'} ${path}" as root`
    : `run "usermod -aG ${group} ${user}" as root and restart the agent`;
}

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user has no entry in the password file, as in a container.
    return String(process.getuid?.() ?? '');
  }
}

function groupName(gid: number): string | undefined {
  try {
    return readFileSync('/etc/group', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([, , id]) => id === String(gid))?.[0];
  } catch {
    return undefined;
  }
}
