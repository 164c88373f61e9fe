import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type Call, type Command, printable, usageFailure } from 'svc/cli';
import { messageOf } from 'svc/sdk';
import { parse } from 'yaml';

import { benched } from './bench/bench.ts';
import { type Case, casesOf } from './bench/case.ts';
import { shippedCases, shippedWorlds } from './bench/shipped.ts';
import { type Price, shownTable } from './bench/table.ts';
import type { World } from './bench/world.ts';

export const command: Command = {
  operands: ['[path]'],
  options: {
    cases: {
      value: 'names',
      about: 'only these cases: IDs or subjects, separated by commas; default: all',
    },
    model: {
      value: 'names',
      about:
        'columns of the table, separated by commas: engine (svc without a model), scripted (reads the key; checks the bench), <provider>/<model>; default engine',
    },
    judge: {
      value: 'provider/model',
      about: 'model that judges the facts that the expressions of the rubric do not match',
    },
    price: {
      value: 'in/out[/cached]',
      about: 'dollars per million tokens, such as 3/15/0.3',
    },
    record: { value: 'file', about: 'write the replies of the model to this file' },
    replay: {
      value: 'file',
      about:
        'read replies from this file instead of calling a model, which needs no key, and report which requests have changed',
    },
  },
  about:
    'Asks agents questions whose answers are known, in a temporary svc with generated metrics, logs, traces, topology and tools, and scores the answers by rubric. A path is a file or folder of cases of your own, in YAML or JSON: {"worlds": […], "cases": […]}. Models are configured with SVC_LLM_… in the environment. Works without a running svc.',
  example: 'svc bench agent --model engine,anthropic/claude-sonnet-4-6 --price 3/15/0.3',

  async run(call, shell) {
    const { cases, worlds } = chosen(call);
    const begun = performance.now();
    const isWatched = !call.json && process.stderr.isTTY;
    const columns = await benched(shell, {
      cases,
      worlds,
      models: modelsOf(call),
      environment: call.environment,
      each: (done) => void (isWatched && process.stderr.write(`\r${done} of ${cases.length}`)),
      ...optional(call),
    });
    if (isWatched) {
      process.stderr.write('\r');
    }
    const seconds = (performance.now() - begun) / 1_000;
    return {
      data: { columns, seconds },
      text: () => [...shownTable(columns), '', `${seconds.toFixed(1)} s`].map(printable).join('\n'),
    };
  },
};

interface Document {
  readonly cases: readonly Case[];
  readonly worlds: readonly World[];
}

function chosen(call: Call): Document {
  const path = call.optionalOperand(0);
  const { cases, worlds } =
    path === undefined ? { cases: shippedCases, worlds: shippedWorlds } : documentsIn(path);
  const names = (call.value('cases') ?? '').split(',').filter((name) => name !== '');
  const stray = names.find((name) => !cases.some((one) => isCalled(one, name)));
  if (stray !== undefined) {
    throw usageFailure(`no case or subject is called "${stray}"`);
  }
  const lost = cases.find(({ world }) => !worlds.some(({ name }) => name === world));
  if (lost !== undefined) {
    throw usageFailure(`case ${lost.id}: there is no world "${lost.world}"`);
  }
  return {
    worlds,
    cases: cases.filter((one) => names.length === 0 || names.some((name) => isCalled(one, name))),
  };
}

const isCalled = ({ id, subject }: Case, name: string): boolean => id === name || subject === name;

/** Reads the cases and worlds of a file, or of all files of a folder; worlds of svc may be used, too. */
function documentsIn(path: string): Document {
  const files = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.(?:ya?ml|json)$/.test(name))
        .toSorted()
        .map((name) => join(path, name))
    : [path];
  const read = files.map((file) => {
    try {
      const { cases = [], worlds = [] } = (parse(readFileSync(file, 'utf8')) ?? {}) as Partial<
        Record<keyof Document, unknown>
      >;
      return { cases: casesOf(cases, file), worlds: worlds as readonly World[] };
    } catch (error) {
      throw usageFailure(`${file}: ${messageOf(error)}`);
    }
  });
  return {
    cases: read.flatMap(({ cases }) => cases),
    worlds: [...read.flatMap(({ worlds }) => worlds), ...shippedWorlds],
  };
}

function modelsOf(call: Call): readonly string[] {
  const models = (call.value('model') ?? (call.has('replay') ? 'replayed' : 'engine'))
    .split(',')
    .filter((name) => name !== '');
  const wrong = models.find(
    (name) => !['engine', 'scripted', 'replayed'].includes(name) && !/^[a-z0-9-]+\/\S+$/.test(name),
  );
  if (wrong !== undefined) {
    throw usageFailure(`--model takes engine, scripted or <provider>/<model>, not "${wrong}"`);
  }
  if (
    call.value('record') !== undefined &&
    models.filter((name) => name !== 'engine').length !== 1
  ) {
    throw usageFailure('--record takes the replies of one model');
  }
  return models;
}

function optional(call: Call): {
  readonly judge?: string;
  readonly price?: Price;
  readonly record?: string;
  readonly replay?: string;
} {
  const [judge, price, record, replay] = ['judge', 'price', 'record', 'replay'].map((name) =>
    call.value(name),
  );
  return {
    ...(judge !== undefined && { judge }),
    ...(price !== undefined && { price: priceOf(price) }),
    ...(record !== undefined && { record }),
    ...(replay !== undefined && { replay }),
  };
}

function priceOf(text: string): Price {
  const [input = Number.NaN, output = Number.NaN, cached = input] = text.split('/').map(Number);
  if (![input, output, cached].every((value) => value >= 0)) {
    throw usageFailure('--price is dollars per million tokens, such as 3/15/0.3');
  }
  return { input, output, cached };
}
