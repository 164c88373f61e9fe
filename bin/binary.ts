import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { hurry, isAgent, slimDown } from './product/agent.mjs';
import { cacheFolders, ownFolder } from './product/cache-folder.mjs';
import { CodeCache } from './product/code-cache.mjs';
import { carried } from './product/carried.ts';
import { programAsset } from './product/contents.ts';

/**
 * Starts one of the two programs of the single binary, or in the role `child` the file that its
 * host names, as node would.
 */
function main(): void {
  const args = process.argv.slice(2);
  if (process.env['SVC_ROLE'] === 'child') {
    start(readFileSync(args[0]!, 'utf8'), args[0]!);
    return;
  }
  if (isAgent(args)) {
    slimDown();
    start(carried().text(programAsset('edge')), 'edge.cjs');
  } else {
    hurry();
    // Other commands are short, and some should leave nothing behind.
    const cache = new CodeCache(args[0] === 'serve' ? codeFolder() : undefined);
    start(carried().text(programAsset('svc')), 'svc.cjs', cache, () =>
      carried().bytes(programAsset('svc.cache')),
    );
  }
}

/** Code is loaded from there: it is a folder that no other user can write to, or none. */
function codeFolder(): string | undefined {
  for (const folder of cacheFolders()) {
    try {
      return ownFolder(join(ownFolder(folder), 'code'));
    } catch {
      // Not ours to write: the next one.
      continue;
    }
  }
  return undefined;
}

function start(
  text: string,
  filename: string,
  cache = new CodeCache(undefined),
  brought?: () => Buffer,
): void {
  const program = cache.functionOf(text, filename, brought)!;
  program.call(exports, exports, require, module, __filename, __dirname, cache);
}

main();
