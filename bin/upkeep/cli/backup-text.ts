import { readFileSync } from 'node:fs';

import { messageOf } from '../../../core/sdk/index.ts';
import { type Manifest, partsOf } from '../backup/manifest.ts';
import { type Call, usageFailure, printable, table, sizeOf } from 'svc/cli';

/**
 * Lists what is in a backup and what is not, one part per line: a restore would be too late to find
 * out.
 */
export function partsText(manifest: Manifest): string {
  const rows = partsOf(manifest).map(({ part, files, bytes }) => [
    `  ${printable(part)}`,
    sizeOf(bytes),
    files === 1 ? '1 file' : `${files} files`,
  ]);
  const missing = [
    ...(manifest.left_out ?? ['metrics', 'logs', 'traces', 'recordings', 'packs']),
    ...(manifest.files.some(({ name }) => name.startsWith('secret.key')) ? [] : ['the secret key']),
  ];
  return `${table(rows)}${missing.length === 0 ? '' : `\n  not included: ${printable(missing.join(', '))}`}`;
}

/** The passphrase in the file that `--passphrase-file` names; arguments can be read by every user of the machine. */
export function passphraseOf(call: Call): string | undefined {
  const file = call.value('passphrase-file');
  if (file === undefined) {
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw usageFailure(`the passphrase cannot be read: ${messageOf(error)}`);
  }
}
