import 'reflect-metadata';

import { run } from './cli/run.ts';
import { stackMaps } from './product/stack-maps.ts';

async function main(): Promise<void> {
  if (!process.sourceMapsEnabled) {
    stackMaps.install();
  }
  process.exitCode = await run(process.argv.slice(2), process.env);
}

void main();
