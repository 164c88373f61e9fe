import 'reflect-metadata';

import { run } from './cli/run.ts';

async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), process.env);
}

void main();
