// `npm run check`: types, lint and format. A clean tool prints one line, a failing one its output.
// With `-- --all`, or in CI, results of earlier checks are ignored.
import { fileURLToPath } from 'node:url';

import { runChecks } from './run-checks.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const all = process.argv.includes('--all') || (process.env.CI ?? '') !== '';

const began = performance.now();
const results = await runChecks(root, { all, cache: `${root}node_modules/.cache/svc/check` });
for (const { name, code, output, ms, fix } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'failed'}  ${name.padEnd(10)}  ${seconds(ms)}`);
  if (code !== 0) {
    console.log(`${output.trimEnd()}\n${fix === undefined ? '' : `→ ${fix}\n`}`);
  }
}
const failed = results.filter(({ code }) => code !== 0).map(({ name }) => name);
console.log(
  `${failed.length === 0 ? 'check is clean' : `check failed: ${failed.join(', ')}`} (${seconds(performance.now() - began)})`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
