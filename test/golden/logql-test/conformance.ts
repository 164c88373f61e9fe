/**
 * Runs Loki's own tests of its language, which stay where they were fetched, against the engine here: its declarative scripts, its tables
 * of single stages, and its cases of `format_query`. Single scripts may be named, too.
 *
 *   npm run logql-conformance -- <checkout of Loki, or .logqltest files …>
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { messageOf } from 'svc/sdk';

import { localEngine } from './runner/engine.ts';
import { difference } from './runner/judge.ts';
import { type Eval, type LoadedLine, readScript } from './runner/script.ts';
import { formats, type Judged, stageTables } from './runner/go-tables.ts';

const paths = process.argv.slice(2);
if (paths.length === 0) {
  console.error(
    'Which sources? npm run logql-conformance -- <checkout of Loki, or .logqltest files …>',
  );
  process.exit(2);
}

const scripts = 'pkg/logql/internal/logqltest/testdata';
let failures = 0;
for (const path of paths) {
  const checkout = statSync(path).isDirectory();
  const files = checkout
    ? readdirSync(join(path, scripts)).flatMap((name) =>
        name.endsWith('.logqltest') ? [join(path, scripts, name)] : [],
      )
    : [path];
  const evals: Judged[] = [];
  for (const file of files) {
    evals.push(...(await judgedScript(file)));
  }
  report('evals', evals);
  if (checkout) {
    report('stage tables', stageTables(path));
    report('formats', formats(path));
  }
}
process.exitCode = failures === 0 ? 0 : 1;

function report(what: string, outcomes: readonly Judged[]): void {
  const failed = outcomes.filter(({ wrong }) => wrong !== undefined);
  for (const { name, wrong } of failed) {
    console.log(`${name}\n    ${wrong!}`);
  }
  console.log(`${what}: ${outcomes.length - failed.length} of ${outcomes.length}`);
  failures += failed.length;
}

async function judgedScript(file: string): Promise<Judged[]> {
  const outcomes: Judged[] = [];
  let lines: readonly LoadedLine[] = [];
  for (const command of readScript(readFileSync(file, 'utf8'))) {
    if (command.kind === 'eval') {
      const wrong = await wrongWith(command, lines);
      outcomes.push({
        name: `${basename(file)}:${command.line}: ${command.query}`,
        ...(wrong !== undefined && { wrong }),
      });
    } else {
      lines = command.kind === 'clear' ? [] : [...lines, ...command.lines];
    }
  }
  return outcomes;
}

async function wrongWith(
  question: Eval,
  lines: readonly LoadedLine[],
): Promise<string | undefined> {
  const { expected } = question;
  try {
    return difference(question, await localEngine.ask(lines, question));
  } catch (error) {
    const message = messageOf(error);
    return expected.kind !== 'fail'
      ? `unexpected error: ${message}`
      : expected.matches(message)
        ? undefined
        : `expected the error ${expected.shown}, got: ${message}`;
  }
}
