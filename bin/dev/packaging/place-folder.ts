import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { errors } from './errors.ts';

/** Makes `out` hold exactly these files, by one rename, in the place of an earlier build only. */
export function placeFolder(out: string, files: ReadonlyMap<string, Uint8Array>): void {
  assertReplaceable(out);
  const draft = `${out}.partial`;
  rmSync(draft, { recursive: true, force: true });
  for (const [name, bytes] of files) {
    const file = join(draft, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  rmSync(out, { recursive: true, force: true });
  renameSync(draft, out);
}

/** `--out .` must not cost anybody a folder full of work. */
function assertReplaceable(out: string): void {
  if (existsSync(out) && readdirSync(out).length > 0 && !isBuild(join(out, 'plugin.json'))) {
    throw errors.not_a_build({ out });
  }
}

function isBuild(manifest: string): boolean {
  try {
    return 'integrity' in (JSON.parse(readFileSync(manifest, 'utf8')) as object);
  } catch {
    // No manifest, or an unreadable one: then it is not for us to delete.
    return false;
  }
}
