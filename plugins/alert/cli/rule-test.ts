import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { parse } from 'yaml';

import { messageOf } from 'svc/sdk';
import { type Command, usageFailure, printable, type Paint } from 'svc/cli';
import { filesLike } from './wildcards.ts';

interface Failure {
  readonly kind: 'alert' | 'query' | 'rule';
  readonly at: string;
  readonly subject: string;
  readonly expected: readonly string[];
  readonly got: readonly string[];
  readonly message?: string;
}

interface Report {
  readonly ok: boolean;
  readonly tests: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly evaluations: number;
    readonly failures: readonly Failure[];
  }[];
}

interface RuleText {
  readonly name: string;
  readonly content: string;
}

/** Rules are served by the first, and computed by the second. */
const plugins = ['alert', 'metricsdb'];
const withinMs = 160_000;

export const command: Command = {
  operands: ['<file>'],
  options: {
    'ignore-unknown-fields': {
      about: 'accept fields in rule files that Prometheus does not support',
    },
  },
  about:
    'Runs unit tests in the Prometheus format: evaluates rule files against the series in the test and checks the resulting alerts and values. Series may contain native histograms, {{…}}, even though the metrics store itself does not keep them. Works without a running svc and stores nothing. Exits with 1 if a test fails.',
  example: 'svc rule test alerts_test.yaml',

  async run(call, shell) {
    const path = resolve(call.operand(0));
    const content = textOf(path);
    const files = ruleFiles(content, path);
    const report = await shell.progress('Running rule tests', () =>
      shell.askEmpty(plugins, (client) =>
        client.post<Report>(
          '/api/v1/alert-rules/test',
          { content, files, strict: !call.has('ignore-unknown-fields') },
          withinMs,
        ),
      ),
    );
    return {
      data: { file: path, ...report },
      text: (paint) => page(report, paint),
      code: report.ok ? 0 : 1,
    };
  },
};

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usageFailure(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** Relative to the test file, as it names them. */
function ruleFiles(content: string, path: string): readonly RuleText[] {
  const folder = dirname(path);
  return namedIn(content, path).flatMap((name) => {
    const found = filesLike(name, folder);
    if (found.length === 0) {
      throw usageFailure(`${path} names the rule file ${name}, which does not exist`);
    }
    return found.map((file) => ({ name: relative(folder, file) || file, content: textOf(file) }));
  });
}

function namedIn(content: string, path: string): readonly string[] {
  try {
    const named =
      (parse(content, { maxAliasCount: 50 }) as { rule_files?: unknown } | null)?.rule_files ?? [];
    return Array.isArray(named) ? named.map(String) : [];
  } catch (error) {
    throw usageFailure(`${path} is not valid YAML: ${messageOf(error).split('\n')[0]!}`);
  }
}

function page({ tests }: Report, paint: Paint): string {
  return tests
    .flatMap(({ name, ok, evaluations, failures }) => [
      `${ok ? paint.good('ok') : paint.bad('failed')} ${printable(name)} ${paint.faint(`(${evaluations} evaluations)`)}`,
      ...failures.flatMap((failure) => lines(failure, paint)),
    ])
    .join('\n');
}

function lines({ kind, at, subject, expected, got, message }: Failure, paint: Paint): string[] {
  const same = new Set(expected.filter((line) => got.includes(line)));
  return [
    `  ${kind} ${paint.strong(printable(subject))} at ${at}${message === undefined ? '' : `: ${printable(message)}`}`,
    ...[...same].map((line) => `      ${printable(line)}`),
    ...expected
      .filter((line) => !same.has(line))
      .map((line) => paint.bad(`    - ${printable(line)}`)),
    ...got.filter((line) => !same.has(line)).map((line) => paint.good(`    + ${printable(line)}`)),
    ...(message === undefined && expected.length === 0
      ? [paint.faint('    expected nothing')]
      : []),
    ...(message === undefined && got.length === 0 ? [paint.faint('    got nothing')] : []),
  ];
}
