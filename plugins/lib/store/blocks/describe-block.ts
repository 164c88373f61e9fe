import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

import { crc32 } from '../bytes/crc32.ts';
import { openBlock } from './block-file.ts';
import { aboutSuffix } from './block-name.ts';
import { type BlockDescription, decodeDescription, encodeDescription } from './description.ts';

/** Describes a block that its writer did not, or whose description is damaged. A torn file counts as none. */
export function describeBeside(path: string, description: BlockDescription): void {
  const bytes = encodeDescription(description);
  const draft = `${path}${aboutSuffix}.tmp`;
  writeFileSync(draft, `${crc32(bytes)}\n${Buffer.from(bytes).toString()}`, { mode: 0o600 });
  renameSync(draft, `${path}${aboutSuffix}`);
}

/** Returns what a block says about itself; throws if that cannot be read. */
export function descriptionOf(path: string): BlockDescription | undefined {
  const beside = besideOf(`${path}${aboutSuffix}`);
  try {
    const block = openBlock(path);
    try {
      return block.description === undefined
        ? beside
        : decodeDescription(block.read(block.description));
    } finally {
      block.close();
    }
  } catch (error) {
    if (beside !== undefined) {
      return beside;
    }
    throw error;
  }
}

function besideOf(path: string): BlockDescription | undefined {
  if (!existsSync(path)) {
    return undefined;
  }
  const text = readFileSync(path);
  const end = text.indexOf('\n');
  const bytes = text.subarray(end + 1);
  return end > 0 && Number(text.toString('latin1', 0, end)) === crc32(bytes)
    ? decodeDescription(bytes)
    : undefined;
}
