/**
 * Runs scripts in the format of Prometheus' own engine tests, against the engine itself or, with `--url`, against a server:
 *
 *   npm run promql-conformance -- [--url http://127.0.0.1:8080/prometheus] [--token …] [--write <url>] [--epoch <unix seconds>]
 *                                 [--type-and-unit] [--verbose] <file.test …>
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

import { type Engine, localEngine } from './runner/engine.ts';
import { httpEngine } from './runner/http-engine.ts';
import { runScript } from './runner/run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    write: { type: 'string' },
    epoch: { type: 'string' },
    'type-and-unit': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

if (positionals.length === 0) {
  console.error('Which files? npm run promql-conformance -- [--url <server>] <file.test …>');
  process.exit(2);
}

const week = 7 * 86_400;
/** Data sets of one run; a file has at most about this many. */
const sets = 100;

/** Labels of type and unit are a feature that one file of scripts is about; the others are written without it. */
const aboutTypes = (file: string): boolean => basename(file) === 'type_and_unit.test';

function engineFor(typed: boolean): Engine {
  const { url, token } = values;
  if (url === undefined) {
    return localEngine({ typeAndUnitLabels: typed });
  }
  const api = `${url.replace(/\/$/, '')}/api/v1`;
  const epoch = values.epoch === undefined ? Date.now() / 1000 - sets * week : Number(values.epoch);
  return httpEngine({
    query: api,
    write: values.write ?? `${api}/write`,
    epoch: Math.floor(epoch / week) * week * 1000,
    ...(token !== undefined && { token }),
  });
}

const shared = values.url === undefined ? undefined : engineFor(false);
let failures = 0;
for (const file of positionals) {
  const engine = shared ?? engineFor(values['type-and-unit'] || aboutTypes(file));
  const outcomes = await runScript(readFileSync(file, 'utf8'), engine);
  const failed = outcomes.filter((outcome) => outcome.failed !== undefined);
  const skipped = outcomes.filter((outcome) => outcome.skipped !== undefined);
  failures += failed.length;
  console.log(
    `${basename(file)}: ${outcomes.length - failed.length - skipped.length} passed, ${failed.length} failed, ${skipped.length} skipped`,
  );
  for (const { line, expr, failed: why } of failed) {
    console.log(`  line ${line}: ${expr}\n    ${why}`);
  }
  if (values.verbose) {
    for (const { line, expr, skipped: why } of skipped) {
      console.log(`  line ${line}: ${expr}: skipped, ${why}`);
    }
  }
}
process.exitCode = failures === 0 ? 0 : 1;
