import 'reflect-metadata';

import { run } from './cli/run.ts';
import { settle } from './product/agent.mjs';
import { stackMaps } from './product/stack-maps.ts';

async function main(): Promise<void> {
  if (!process.sourceMapsEnabled) {
    stackMaps.install();
  }
  const args = process.argv.slice(2);
  // Serving does so itself, when its plugins are loaded.
  if (args[0] !== 'serve') {
    settle();
  }
  process.exitCode = await run(args, process.env);
}

void main();
