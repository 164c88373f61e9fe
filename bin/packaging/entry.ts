import { getAsset, getRawAsset } from 'node:sea';
import { compileFunction } from 'node:vm';

import { isAgent, slimDown } from '../agent.mjs';
import { parameters, programAsset } from './contents.ts';

/** What the single binary starts with: one of its two programs. */
function main(): void {
  const agent = process.env['SVC_ROLE'] === undefined && isAgent(process.argv.slice(2));
  if (agent) {
    slimDown();
  }
  const name = agent ? 'edge' : 'svc';
  const cachedData = agent ? undefined : Buffer.from(getRawAsset(programAsset('svc.cache')) as ArrayBuffer);
  const program = compileFunction(getAsset(programAsset(name), 'utf8'), [...parameters], { filename: `${name}.cjs`, ...(cachedData && { cachedData }) });
  program(exports, require, module, __filename, __dirname);
}

main();
