import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Files that a page shows whole: fenced blocks that say `file=<path>`, by that path. */
export function filesOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(docs, page), 'utf8');
  return new Map(
    [...text.matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map(([, path, content]) => [
      path!,
      content!,
    ]),
  );
}

/** Puts the files of a page below a folder, as a reader would. */
export function writeFiles(files: ReadonlyMap<string, string>, root: string): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
