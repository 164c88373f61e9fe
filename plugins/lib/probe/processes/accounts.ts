import type { MachineFiles } from '../machine/machine-files.ts';

/** Names of users by number, as /etc/passwd has them at this moment; users of a directory service stay numbers. */
export function accountsOf(files: MachineFiles): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const line of (files.text('/etc/passwd', 1024 * 1024) ?? '').split('\n')) {
    const [name, , uid] = line.split(':');
    if (
      name !== undefined &&
      name !== '' &&
      uid !== undefined &&
      /^\d+$/.test(uid) &&
      !names.has(Number(uid))
    ) {
      names.set(Number(uid), name);
    }
  }
  return names;
}

/** Returns the user with whose permissions a process acts. */
export function userOf(
  files: MachineFiles,
  accounts: ReadonlyMap<number, string>,
  pid: number,
): string | null {
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(files.text(`/proc/${pid}/status`, 8_192) ?? '')?.[1];
  return uid === undefined ? null : (accounts.get(Number(uid)) ?? uid);
}
