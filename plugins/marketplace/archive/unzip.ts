import { BadZip, ZipArchive, type ZipEntry } from 'svc/zip';

import { EntryList, type PackFiles, refused, shown } from './entry-list.ts';

/** Returns the files of a zip archive, each counted against the limits of a pack before it is unpacked. */
export function unzip(bytes: Buffer): PackFiles {
  const list = new EntryList(bytes.length);
  try {
    const zip = new ZipArchive(bytes);
    zip.entries.forEach(assertPlain);
    for (const entry of zip.entries) {
      list.reserve(entry.name, entry.size);
      if (entry.isFolder) {
        list.addFolder(entry.name);
      } else {
        list.addFile(entry.name, zip.read(entry));
      }
    }
  } catch (error) {
    if (error instanceof BadZip) {
      const { entry, message } = error;
      throw refused(entry === undefined ? message : `${shown(entry)} ${message}`);
    }
    throw error;
  }
  return list.end();
}

const [folder, file, link] = [0x4, 0x8, 0xa];

function assertPlain({ name, unixKind }: ZipEntry): void {
  if (unixKind === link) {
    throw refused(`${shown(name)} is a symbolic link; a pack is made of plain files only`);
  }
  if (![0, folder, file].includes(unixKind)) {
    throw refused(`${shown(name)} is neither a file nor a folder`);
  }
}
