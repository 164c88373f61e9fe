import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { type Call, type Command, clientOptions, openClient, usageFailure } from 'svc/cli';

import { type PreviewAnswer, previewText } from './preview-text.ts';

interface Connected {
  readonly name: string;
  readonly hosts: number;
  readonly series: number;
  readonly state: string;
  readonly detail: string;
  readonly history: {
    readonly state: 'copying' | 'done' | 'incomplete';
    readonly from: string;
    readonly through: string;
    readonly percent: number;
    readonly samples: number;
    readonly detail: string;
  } | null;
}

const types = ['prometheus', 'victoriametrics'] as const;

export const command: Command = {
  operands: ['<type>', '<url>'],
  options: {
    name: { value: 'name', about: 'name of the store; default: the first part of its host name' },
    history: {
      value: 'duration',
      about:
        'how much of the history of the hosts to copy, such as 12h or 7d; 0: none; default: 1d',
    },
    preview: { about: "show the store's hosts without connecting it" },
    user: { value: 'user', about: 'user name for HTTP Basic authentication' },
    'password-file': { value: 'file', about: "file that contains the user's password" },
    'token-file': { value: 'file', about: 'file that contains a bearer token' },
    tenant: { value: 'id', about: 'tenant id, sent as X-Scope-OrgID' },
    'host-label': {
      value: 'label',
      about: 'label that identifies the host, tried before the usual labels',
    },
    'host-regex': {
      value: 'regex',
      about: 'regex that the whole label value must match; default: (.*)',
    },
    'host-template': {
      value: 'text',
      about: 'host name, built from the regex groups; default: $1',
    },
    ...clientOptions,
  },
  about:
    "Tests the server (type prometheus or victoriametrics), shows its hosts, and connects it. svc only reads from this server; agents keep writing to svc's own store.",
  example: 'svc store connect prometheus https://prometheus.example.org',

  async run(call, shell) {
    const type = call.operand(0);
    if (!types.some((known) => known === type)) {
      throw usageFailure(`there is no store type ${type}; use ${types.join(' or ')}`);
    }
    const url = call.operand(1);
    const client = await openClient(call, shell);
    const draft = { url, ...credentials(call), ...hostRules(call) };
    const preview = await client.post<PreviewAnswer>(
      '/api/v1/connected-stores/preview',
      draft,
      90_000,
    );
    if (call.has('preview') || !preview.test.ok) {
      return {
        data: preview,
        text: () => previewText(preview),
        ...(!preview.test.ok && { code: 1 }),
      };
    }
    const connected = await client.post<Connected>(
      '/api/v1/connected-stores',
      { name: call.value('name') ?? nameOf(url), ...draft, history: call.value('history') ?? '1d' },
      90_000,
    );
    const store = await shell.progress('Copying the history of the hosts', () =>
      untilCopied(connected, client),
    );
    return {
      data: { preview, store },
      text: () => `${previewText(preview)}\n${outcome(store)}`,
      ...(store.state === 'failing' && { code: 1 }),
    };
  },
};

const pollMs = 500;
/** Beyond this, svc goes on alone. */
const patienceMs = 120_000;

async function untilCopied(
  connected: Connected,
  client: Awaited<ReturnType<typeof openClient>>,
): Promise<Connected> {
  let store = connected;
  const until = performance.now() + patienceMs;
  while (store.history?.state === 'copying' && store.state === 'ok' && performance.now() < until) {
    await pause(pollMs);
    store = await client.get<Connected>(`/api/v1/connected-stores/${store.name}`);
  }
  return store;
}

const outcome = ({ name, state, detail, hosts, series, history }: Connected): string =>
  state === 'failing'
    ? `Connected as ${name}, but reading failed: ${detail}`
    : [
        `Connected as ${name}: ${hosts} hosts are devices now, ${series} series copied every 30 s`,
        ...(history === null ? [] : [historyText(history)]),
      ].join('\n');

function historyText({
  state,
  from,
  through,
  percent,
  samples,
  detail,
}: NonNullable<Connected['history']>): string {
  switch (state) {
    case 'copying':
      return `History: ${percent} % copied; current values follow once it is done ("svc store list" shows how far it is)`;
    case 'done':
      return `History since ${from}: ${samples} samples copied${detail === '' ? '' : ` (${detail})`}`;
    case 'incomplete':
      return `History: copied from ${from} to ${through} only: ${detail}`;
  }
}

function credentials(call: Call): Readonly<Record<string, string>> {
  const given = {
    user: call.value('user'),
    password: contentOf(call.value('password-file')),
    token: contentOf(call.value('token-file')),
    tenant: call.value('tenant'),
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

const contentOf = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readFileSync(file, 'utf8').trim();

function hostRules(call: Call): object {
  const [label, regex, template] = ['label', 'regex', 'template'].map((part) =>
    call.value(`host-${part}`),
  );
  if (label === undefined) {
    if (regex !== undefined || template !== undefined) {
      throw usageFailure('--host-regex and --host-template need --host-label');
    }
    return {};
  }
  return {
    host_rules: [
      {
        label,
        ...(regex !== undefined && { regex }),
        ...(template !== undefined && { template }),
      },
    ],
  };
}

/** `prometheus` of `https://prometheus.example.org`. */
function nameOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '';
  const name = /^[a-z][a-z0-9_-]{0,39}(?=\.|$)/.exec(host)?.[0];
  return name === undefined || name === 'localhost' ? 'prometheus' : name;
}
