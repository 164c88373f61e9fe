import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Ids } from '../../../core/sdk/index.ts';
import { writeDurably } from '../../../core/storage/index.ts';
import { errors } from './errors.ts';

export const identityFile = (dataDir: string): string => join(dataDir, 'node.json');

/** Returns the id of the node that a data folder belongs to, which it gets when it is asked for first. */
export function identityOf(dataDir: string, ids: Pick<Ids, 'uuid'>): string {
  const file = identityFile(dataDir);
  if (!existsSync(file)) {
    const id = ids.uuid();
    writeDurably(file, `${JSON.stringify({ id })}\n`, 0o600);
    return id;
  }
  const id = idIn(readFileSync(file, 'utf8'));
  if (id === undefined) {
    throw errors.identity({ file });
  }
  return id;
}

/** Reads an id, which becomes part of a statement: it is one of ours or none. */
function idIn(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    return typeof id === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
      ? id
      : undefined;
  } catch {
    return undefined;
  }
}
