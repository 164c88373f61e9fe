import { readFileSync } from 'node:fs';
import { getAsset, getRawAsset } from 'node:sea';
import { compileFunction } from 'node:vm';

import { isAgent, slimDown } from '../agent.mjs';
import { parameters, programAsset } from './contents.ts';

/** What the single binary starts with: one of its two programs, or in the role `child` the file that its host names, as node would. */
function main(): void {
  const args = process.argv.slice(2);
  if (process.env['SVC_ROLE'] === 'child') {
    start(readFileSync(args[0]!, 'utf8'), args[0]!);
    return;
  }
  if (isAgent(args)) {
    slimDown();
    start(getAsset(programAsset('edge'), 'utf8'), 'edge.cjs');
  } else {
    start(getAsset(programAsset('svc'), 'utf8'), 'svc.cjs', Buffer.from(getRawAsset(programAsset('svc.cache')) as ArrayBuffer));
  }
}

function start(text: string, filename: string, cachedData?: Buffer): void {
  const program = compileFunction(text, [...parameters], { filename, ...(cachedData && { cachedData }) });
  program(exports, require, module, __filename, __dirname);
}

main();
