import { readFileSync } from 'node:fs';

import { type Call, type Command, clientOptions, openClient, usageFailure } from 'svc/cli';
import { parseForeignYaml } from 'svc/foreign-yaml';

import { type ReadingAnswer, readingsText } from './reading-text.ts';

const roundMs = 120_000;

export const command: Command = {
  operands: ['<target>'],
  options: {
    name: { value: 'name', about: 'name of the check; default: the host' },
    kind: {
      value: 'kind',
      about:
        'http, tcp, tls, dns, domain, ping, smtp, postgres, mysql, redis, mqtt, grpc, websocket, command or browser; default: by the scheme of a URL, tcp for host:port, otherwise ping',
    },
    every: {
      value: 'seconds',
      about: 'interval between two rounds; default: 60, 300 for a browser, or 21600 for a domain',
    },
    server: {
      value: 'address',
      about: 'name server of a dns check; URL of the RDAP server of a domain',
    },
    timeout: {
      value: 'seconds',
      about: 'time limit of one probe; default: 10, or 30 for a browser',
    },
    from: {
      value: 'place',
      about:
        'svc, agent:NAME, tag:KEY=VALUE or role:ROLE; several separated by commas; default: svc',
    },
    expect: {
      value: 'condition',
      about:
        "conditions that must all hold, separated by semicolons, such as '[STATUS] == 200; [RESPONSE_TIME] < 300'",
    },
    'header-file': {
      value: 'file',
      about: 'file with HTTP headers, one "Name: value" per line; they are encrypted',
    },
    user: { value: 'name', about: 'user that logs in to a mail server, database, cache or broker' },
    'password-file': {
      value: 'file',
      about: 'file with the password in its first line; it is encrypted',
    },
    'steps-file': {
      value: 'file',
      about: 'file with the steps of a browser check, as a list in YAML or JSON',
    },
    'secrets-file': {
      value: 'file',
      about:
        'file with values that the steps fill in, one "name: value" per line; they are encrypted',
    },
    group: { value: 'name', about: 'service or site that the check belongs to' },
    'depends-on': {
      value: 'name',
      about: 'checks, or node:NAME of the topology, that it stands on; several separated by commas',
    },
    badge: { about: 'show its state and uptime as a badge that is visible without signing in' },
    proxy: { value: 'url', about: 'proxy that an HTTP request goes through' },
    'any-certificate': { about: 'accept any certificate' },
    'down-at': {
      value: 'number',
      about: 'number of places that must fail; default: 1 of 1, otherwise 2',
    },
    try: { about: 'probe once and create nothing' },
    ...clientOptions,
  },
  about:
    'Probes the target once from each place, shows what they found, and watches it from then on. svc reaches private addresses only if outbound.allow_private permits them.',
  example: 'svc check add https://shop.example.org/health --from svc,agent:web-1',

  async run(call, shell) {
    const target = call.operand(0);
    const client = await openClient(call, shell);
    const draft = {
      target,
      ...(call.value('kind') !== undefined && { kind: call.value('kind') }),
      ...numbers(call),
      ...listed('places', call.value('from'), ','),
      ...listed('conditions', call.value('expect'), ';'),
      ...listed('depends_on', call.value('depends-on'), ','),
      ...listedIn('headers', call.value('header-file')),
      ...listedIn('secrets', call.value('secrets-file')),
      ...steps(call.value('steps-file')),
      ...login(call),
      ...(call.value('proxy') !== undefined && { proxy: call.value('proxy') }),
      ...(call.value('server') !== undefined && { server: call.value('server') }),
      ...(call.value('group') !== undefined && { group: call.value('group') }),
      ...(call.has('badge') && { badge: true }),
      ...(call.has('any-certificate') && { insecure: true }),
    };
    const tried = await client.post<{
      readonly success: boolean;
      readonly readings: readonly ReadingAnswer[];
    }>('/api/v1/checks/try', draft, roundMs);
    const found = readingsText(tried.readings);
    if (call.has('try')) {
      return { data: tried, text: () => found, ...(!tried.success && { code: 1 }) };
    }
    const name = call.value('name');
    const check = await client.post<{ readonly name: string }>('/api/v1/checks', {
      ...draft,
      ...(name !== undefined && { name }),
    });
    return {
      data: { tried, check },
      text: () =>
        `${found}\n${tried.success ? `Watching as ${check.name}` : `Watching as ${check.name}; it is failing now`}`,
    };
  },
};

function numbers(call: Call): Readonly<Record<string, number>> {
  const given = {
    interval_s: call.value('every'),
    timeout_s: call.value('timeout'),
    down_at: call.value('down-at'),
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([field, text]) => {
      if (text === undefined) {
        return [];
      }
      if (!/^\d{1,6}$/.test(text)) {
        throw usageFailure(`${text} is not a number`);
      }
      return [[field, Number(text)]];
    }),
  );
}

const listed = (field: string, text: string | undefined, mark: string): object =>
  text === undefined
    ? {}
    : {
        [field]: text
          .split(mark)
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      };

function login(call: Call): object {
  const [username, file] = [call.value('user'), call.value('password-file')];
  return {
    ...(username !== undefined && { username }),
    ...(file !== undefined && { password: readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] }),
  };
}

function steps(file: string | undefined): object {
  if (file === undefined) {
    return {};
  }
  const found = parseForeignYaml(readFileSync(file, 'utf8'));
  if (!Array.isArray(found)) {
    throw usageFailure(`${file} is not a list of steps, such as "- do: click"`);
  }
  return { steps: found };
}

/** Reads lines of the form `name: value`. */
function listedIn(field: 'headers' | 'secrets', file: string | undefined): object {
  if (file === undefined) {
    return {};
  }
  const lines = readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  return {
    [field]: Object.fromEntries(
      lines.map((line) => {
        const [, name, value] = /^([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? [];
        if (name === undefined) {
          throw usageFailure(`${file} has a line that is not "name: value"`);
        }
        return [name, value];
      }),
    ),
  };
}
