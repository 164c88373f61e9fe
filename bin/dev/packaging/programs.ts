import { join } from 'node:path';

import { hurry } from '../../product/agent.mjs';
import { withBundler } from '../../bundler/esbuild.ts';
import { scriptOf } from '../../product/code-cache.mjs';
import { smallProgram } from '../../product/small-program.mjs';
import { programAsset } from '../../product/contents.ts';
import { programText } from './program-text.ts';

/** The two programs of the binary: an agent has its own, because what only the other commands need would make it large. */
export async function programs(root: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const [svc, edge] = await Promise.all([programText('bin/svc.ts', root), agentText(root)]);
  // By the Node that becomes the binary, with the flags of its start: any other cache is useless.
  // An agent does without, since it would stay in memory.
  hurry();
  const made = scriptOf(svc, 'svc.cjs').createCachedData();
  return new Map<string, Uint8Array>([
    [programAsset('svc'), Buffer.from(svc)],
    [programAsset('svc.cache'), made],
    [programAsset('edge'), Buffer.from(edge)],
  ]);
}

export const agentText = (root: string): Promise<string> =>
  programText('bin/edge.ts', root, smallProgram);

/** Returns the program that chooses between them. */
export async function entryText(root: string): Promise<string> {
  const entry = join(root, 'bin/binary.ts');
  const { outputFiles } = await withBundler(entry, ({ build }) =>
    build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      minifyWhitespace: true,
    }),
  );
  return outputFiles[0]!.text;
}
