import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file, whole or not at all for its readers, without waiting for the disk. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, file);
}
