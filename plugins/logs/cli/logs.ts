import { setTimeout as pause } from 'node:timers/promises';

import {
  type ApiClient,
  type Command,
  clientOptions,
  openClient,
  usageFailure,
  printable,
  spanOf,
} from 'svc/cli';

interface Streams {
  readonly data: {
    readonly resultType: string;
    readonly result: readonly {
      readonly stream: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [string, string])[];
    }[];
  };
}

interface Line {
  readonly ns: bigint;
  readonly from: string;
  readonly text: string;
}

const usualLines = 100;
const maxLines = 5_000;
const followMs = 1_000;
/** Labels that say where a line is from, best first. */
const origins = ['service_name', 'unit', 'job', 'container', 'filename', 'app'];

export const command: Command = {
  operands: ['[logql]'],
  options: {
    follow: { about: 'keep printing new lines until Ctrl-C', short: 'f' },
    last: { value: 'time', about: 'how far back to look, such as 15m or 7d; default: 1h' },
    lines: { value: 'count', about: `maximum number of lines; default: ${usualLines}`, short: 'n' },
    ...clientOptions,
  },
  about:
    'Takes a selector such as {unit="nginx"} |= "error", or text that the lines must contain; without an argument, prints all lines.',
  example: `svc logs '{unit="nginx"} |= "error"' -f`,

  async run(call, shell) {
    const count = Number(call.value('lines') ?? usualLines);
    if (!Number.isInteger(count) || count < 1 || count > maxLines) {
      throw usageFailure(`--lines must be a whole number from 1 to ${maxLines}`);
    }
    const query = queryOf(call.optionalOperand(0));
    const lastMs = spanOf('last', call.value('last') ?? '1h');
    const client = await openClient(call, shell);
    const now = BigInt(Date.now()) * 1_000_000n;
    const found = await linesOf(client, {
      query,
      start: now - BigInt(lastMs) * 1_000_000n,
      limit: count,
      direction: 'backward',
    });
    if (call.has('follow')) {
      found.forEach((line) =>
        process.stdout.write(`${call.json ? JSON.stringify(shown(line)) : textOf(line)}\n`),
      );
      await follow(client, query, found.at(-1)?.ns ?? now, (line) =>
        process.stdout.write(`${call.json ? JSON.stringify(shown(line)) : textOf(line)}\n`),
      );
    }
    return {
      data: found.map(shown),
      text: () =>
        found.length === 0
          ? 'No matching lines in this time; --last looks further back'
          : found.map(textOf).join('\n'),
    };
  },
};

/** A word is sought in every line. */
function queryOf(text: string | undefined): string {
  if (text === undefined || text.trim() === '') {
    return '{service_name=~".+"}';
  }
  return text.trim().startsWith('{') ? text : `{service_name=~".+"} |= ${JSON.stringify(text)}`;
}

interface Window {
  readonly query: string;
  readonly start: bigint;
  readonly limit: number;
  readonly direction: 'forward' | 'backward';
}

async function linesOf(
  client: ApiClient,
  { query, start, limit, direction }: Window,
): Promise<readonly Line[]> {
  const asked = new URLSearchParams({
    query,
    start: String(start),
    limit: String(limit),
    direction,
  });
  const { data } = await client.get<Streams>(
    `/loki/api/v1/query_range?${asked.toString()}`,
    60_000,
  );
  if (data.resultType !== 'streams') {
    throw usageFailure(
      'this query returns numbers, not lines: svc logs takes selectors and line filters',
    );
  }
  return data.result
    .flatMap(({ stream, values }) =>
      values.map(([ns, text]) => ({ ns: BigInt(ns), from: originOf(stream), text })),
    )
    .toSorted((a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0));
}

/** Prints new lines until the process is stopped. */
async function follow(
  client: ApiClient,
  query: string,
  from: bigint,
  tell: (line: Line) => void,
): Promise<void> {
  for (let after = from; ; await pause(followMs)) {
    const found = await linesOf(client, {
      query,
      start: after + 1n,
      limit: maxLines,
      direction: 'forward',
    });
    found.forEach(tell);
    after = found.at(-1)?.ns ?? after;
  }
}

const originOf = (labels: Readonly<Record<string, string>>): string => {
  const name =
    origins.map((label) => labels[label]).find((value) => value !== undefined && value !== '') ??
    '';
  const device = labels['device_id'];
  return device === undefined ? name : `${name}@${device}`;
};

const shown = ({ ns, from, text }: Line): object => ({ at: instantOf(ns), from, line: text });

const instantOf = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString();

const textOf = ({ ns, from, text }: Line): string =>
  `${instantOf(ns)}  ${printable(from)}  ${printable(text)}`;
