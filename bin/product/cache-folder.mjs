import { lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of this user for what svc makes of itself, best first. */
export function cacheFolders() {
  const { XDG_CACHE_HOME, CACHE_DIRECTORY } = process.env;
  const named = [CACHE_DIRECTORY, XDG_CACHE_HOME && join(XDG_CACHE_HOME, 'svc')].filter(
    (folder) => folder !== undefined && folder !== '',
  );
  const home = homeFolder();
  return [
    ...named,
    ...(home === undefined ? [] : [join(home, '.cache', 'svc')]),
    join(tmpdir(), `svc-${process.getuid?.() ?? 'user'}`),
  ];
}

/**
 * Returns this user's home; undefined if the system knows no such user, as in a root without
 * /etc/passwd.
 */
export function homeFolder() {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** The folder, made if need be. Code is loaded from there: it throws where others could put it there. */
export function ownFolder(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  if ((process.getuid && uid !== process.getuid()) || (mode & 0o022) !== 0) {
    throw new Error(`${folder} can be written by others`);
  }
  return folder;
}
