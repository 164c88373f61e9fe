/**
 * Reads the example queries of Tempo's own tests, which stay where they were fetched: those that must be taken, and those that must not;
 * then runs the tables of its evaluator over the same spans.
 *
 *   npm run traceql-conformance -- <checkout of Tempo at v2.10.8> [--verbose]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { messageOf } from 'svc/sdk';
import { parse as parseYaml } from 'yaml';

import { parse } from '../../../plugins/traces/traceql/index.ts';
import { goEvaluations, goRefusals } from './go-evaluations.ts';
import { goMetrics } from './go-metrics.ts';
import { goSearches } from './go-searches.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', default: false } },
});
const [checkout] = positionals;
if (checkout === undefined) {
  console.error('Which sources? npm run traceql-conformance -- <checkout of Tempo>');
  process.exit(2);
}

type Examples = Readonly<Record<string, readonly string[] | null>>;
const examples = parseYaml(
  readFileSync(join(checkout, 'pkg/traceql/test_examples.yaml'), 'utf8'),
) as Examples;
/** `unsupported` is what Tempo itself does not take yet: no measure for others. */
const kinds: readonly (readonly [kind: string, taken: boolean])[] = [
  ['valid', true],
  ['parse_fails', false],
  ['validate_fails', false],
];

let passed = 0;
let asked = 0;
for (const [kind, taken] of kinds) {
  const queries = examples[kind] ?? [];
  const wrong = queries.flatMap((query) => {
    const problem = refusal(query);
    return (problem === undefined) === taken
      ? []
      : [`${query}${problem === undefined ? '' : `\n    ${problem}`}`];
  });
  asked += queries.length;
  passed += queries.length - wrong.length;
  console.log(`${kind}: ${queries.length - wrong.length} of ${queries.length}`);
  wrong.forEach((line) => console.log(`  ${line}`));
  if (values.verbose && !taken) {
    queries.forEach((query) => console.log(`  ${query}\n    ${refusal(query) ?? 'taken'}`));
  }
}
for (const [what, judged] of [
  ['texts that its parser refuses', goRefusals(checkout)],
  ['evaluations', goEvaluations(checkout)],
  ['values of metrics', await goMetrics(checkout)],
  ['searches of a store', await goSearches(checkout)],
] as const) {
  const wanted = judged.filter(({ reason }) => reason === undefined);
  const wrong = wanted.filter((one) => one.wrong !== undefined);
  asked += wanted.length;
  passed += wanted.length - wrong.length;
  console.log(`${what}: ${wanted.length - wrong.length} of ${wanted.length}`);
  wrong.forEach((one) => console.log(`  ${one.table}: ${one.query}\n    ${one.wrong}`));
  for (const reason of new Set(judged.flatMap((one) => one.reason ?? []))) {
    console.log(
      `  not asked for, ${judged.filter((one) => one.reason === reason).length}: ${reason}`,
    );
  }
}
console.log(`${passed} of ${asked}`);
process.exitCode = passed === asked ? 0 : 1;

function refusal(query: string): string | undefined {
  try {
    parse(query);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
