import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { EntryList, limits, type PackFiles, refused, shown } from './entry-list.ts';

/** The files of a folder on this machine under the same limits as those of an archive; links are refused. */
export function readFolder(root: string): PackFiles {
  const list = new EntryList(limits.packedBytes);
  const stat = lstatSync(root, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) {
    throw refused(`${shown(root)} is no folder on the machine of svc`);
  }
  walk(root, '', list);
  return list.end();
}

function walk(root: string, inside: string, list: EntryList): void {
  for (const entry of readdirSync(join(root, inside), { withFileTypes: true })) {
    const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
    // Of the author's workshop, and no part of the pack.
    if (entry.name === 'node_modules' || entry.name === '.git' || (inside === '' && /^(?:dist|test)$/.test(entry.name))) {
      continue;
    }
    if (entry.isDirectory()) {
      list.reserve(name, 0);
      walk(root, name, list);
    } else if (entry.isFile()) {
      list.reserve(name, lstatSync(join(root, name)).size);
      list.addFile(name, readFileSync(join(root, name)));
    } else {
      throw refused(`${shown(name)} is a link or a device; a pack is made of plain files only`);
    }
  }
}
