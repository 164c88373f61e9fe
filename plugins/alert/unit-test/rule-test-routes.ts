import type { MetricsQueries, ScratchSeries } from 'svc/contracts/metricsdb';
import { askerOf } from 'svc/query';
import { type Handle, isSvcError, messageOf, route, type RouteDeclaration } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { RuleFile, RuleGroup } from '../rule-file/prometheus-file.ts';
import { errors } from './errors.ts';
import { runTest } from './rule-tests.ts';
import type { TestFile } from './test-file.ts';

const text = Type.String({ minLength: 1, maxLength: 2_000_000 });

const RuleTestBody = Type.Object({
  content: Type.String({
    ...text,
    description:
      'Rule tests in Prometheus format; the files listed in their rule_files are taken from files',
    examples: ['rule_files: [rules.yml]\ntests:\n- input_series: [{series: up, values: 1x5}]\n'],
  }),
  files: Type.Array(
    Type.Object({ name: Type.String({ minLength: 1, maxLength: 1_000 }), content: text }),
    {
      maxItems: 100,
      examples: [[{ name: 'rules.yml', content: 'groups: []\n' }]],
    },
  ),
  strict: Type.Optional(
    Type.Boolean({
      description: 'false: accept rule file fields that Prometheus does not support. Default: true',
    }),
  ),
});

const Lines = Type.Array(Type.String());

const RuleTestShown = Type.Object({
  ok: Type.Boolean(),
  tests: Type.Array(
    Type.Object({
      name: Type.String(),
      ok: Type.Boolean(),
      evaluations: Type.Integer({ description: 'Number of rule evaluations' }),
      failures: Type.Array(
        Type.Object({
          kind: Type.Unsafe<'alert' | 'query' | 'rule'>({
            type: 'string',
            enum: ['alert', 'query', 'rule'],
          }),
          at: Type.String({ description: 'Time since the start of the test' }),
          subject: Type.String({ description: 'Name of the alert or rule, or the query' }),
          expected: Lines,
          got: Lines,
          message: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
});

type Body = Static<typeof RuleTestBody>;

/** Reads the files of a request. */
interface FileReader {
  rules(file: { readonly content: string; readonly strict: boolean }): Promise<RuleFile>;
  tests(content: string): Promise<TestFile>;
}

export const ruleTestRoutes = (
  metrics: Handle<MetricsQueries>,
  reader: FileReader,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/alert-rules/test',
    access: 'alert:preview',
    devices: 'none',
    reads: 'none',
    summary: 'Run Prometheus rule unit tests',
    description:
      'Stores nothing and sends no notifications. Series may contain native histograms, even though the metrics store itself does not keep them.',
    body: RuleTestBody,
    response: RuleTestShown,
    status: 200,
    maxBodyBytes: 8 * 1024 * 1024,
    timeoutMs: 150_000,
    audited: false,
    errors: ['unavailable', 'rate_limited'],
    handle: ({ body, principal, signal }) =>
      runAll(body, { metrics, reader }, { asker: askerOf(principal), signal }),
  }),
];

interface Asking {
  readonly asker: string | undefined;
  readonly signal: AbortSignal;
}

async function runAll(
  { content, files, strict = true }: Body,
  { metrics, reader }: { readonly metrics: Handle<MetricsQueries>; readonly reader: FileReader },
  { asker, signal }: Asking,
): Promise<Static<typeof RuleTestShown>> {
  const file = await reader.tests(content);
  const groups: RuleGroup[] = [];
  for (const each of files) {
    groups.push(...(await groupsOf(each, strict, reader)));
  }
  const tests = [];
  for (const [index, test] of file.tests.entries()) {
    const { name, ...outcome } = await inScratch(metrics, asker, (store) =>
      runTest(file, test, groups, store, signal),
    );
    tests.push({
      name: name === '' ? `test ${index + 1}` : name,
      ...outcome,
      failures: outcome.failures.map((failure) => ({
        ...failure,
        expected: [...failure.expected],
        got: [...failure.got],
      })),
    });
  }
  assertHasTests(file);
  return { ok: tests.every(({ ok }) => ok), tests };
}

async function groupsOf(
  { name, content }: Body['files'][number],
  strict: boolean,
  reader: FileReader,
): Promise<readonly RuleGroup[]> {
  try {
    return (await reader.rules({ content, strict })).groups;
  } catch (error) {
    throw isSvcError(error)
      ? errors.rule_file({ name, cause: messageOf(error) }, { cause: error })
      : error;
  }
}

/** A file that tests nothing would always pass. */
function assertHasTests({ tests }: TestFile): void {
  if (tests.length === 0) {
    throw errors.no_tests();
  }
}

async function inScratch<R>(
  metrics: Handle<MetricsQueries>,
  asker: string | undefined,
  work: (store: ScratchSeries) => Promise<R>,
): Promise<R> {
  const store = metrics.available ? await metrics.get().scratch?.({ asker }) : undefined;
  if (store === undefined) {
    throw errors.no_query_engine();
  }
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
