import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startWholeHouse, type WholeHouse } from '../whole-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const login = { email: 'admin@example.org', password: 'a long enough passphrase' };

const base = {
  SVC_ADMIN_EMAIL: login.email,
  SVC_ADMIN_PASSWORD: login.password,
  SVC_ALERT_EVAL_INTERVAL: '5s',
};

/** Of a start with or without the agent of this machine, which doubles what a start costs. */
export const environmentOf = (agent: boolean): Readonly<Record<string, string>> => ({
  ...base,
  SVC_EDGE_LOCAL: String(agent),
});

export const backupOf = (dataDir: string): string => join(dataDir, 'backups/one');

/** A data folder in which every area has written something, of a product that was stopped. */
export async function furnish(dataDir: string): Promise<void> {
  const house = await startWholeHouse({ dataDir, environment: environmentOf(true) });
  try {
    const post = async (path: string, body: unknown, method = 'POST'): Promise<Answer> => {
      const answer = await house.fetch(`/api/v1/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json().catch(() => undefined) };
    };
    const made = async (path: string, body: unknown, method?: string): Promise<Answer> => {
      const answer = await post(path, body, method);
      if (answer.status >= 300) {
        throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      return answer;
    };
    await made('notification-channels', {
      name: 'hook',
      channel_type: 'webhook',
      endpoint: 'https://hooks.example.org/one',
      secret: 'a signing secret',
    });
    await made('knowledge/docs', { path: 'runbooks/one.md', content: '# One\n\nTurn it off.' });
    const rule = await made('alert-rules', {
      rule_key: 'always',
      name: 'Always',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: 'vector(1) > 0' }],
    });
    await install('postgres-doctor', made, post);
    await made('plugins/websearch/disable', {});
    await edgeOnline(house);
    await investigated(house);
    // What it would go on to do differs from start to start.
    await made(`alert-rules/${rule.body.id}/enabled`, { enabled: false });
    await until('the incident is over', async () =>
      /"total":0/.test(
        JSON.stringify(await json(house, '/api/v1/alerts/incidents?status=active&rule=always')),
      ),
    );
    backUp(dataDir);
  } finally {
    await house.end();
  }
}

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- read by the lines that asked for it
  readonly body: any;
}

async function install(
  pack: string,
  made: (path: string, body: unknown) => Promise<Answer>,
  post: (path: string, body: unknown) => Promise<Answer>,
): Promise<void> {
  const asked = { registry: 'shipped', pack_id: pack };
  const first = await post('marketplace/install', asked);
  if (first.status === 409) {
    const confirm = (
      first.body as { readonly details: readonly { path: string; message: string }[] }
    ).details.find(({ path }) => path === '/confirm')!.message;
    await made('marketplace/install', { ...asked, confirm });
  }
}

function backUp(dataDir: string): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'bin/svc'), 'backup', 'create', backupOf(dataDir), '--data', dataDir],
    { encoding: 'utf8' },
  );
  if (status !== 0) {
    throw new Error(`svc backup create: ${stderr}`);
  }
}

async function until(what: string, is: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 180_000; !(await is()); await pause(200)) {
    if (performance.now() > deadline) {
      throw new Error(`it never came to this: ${what}`);
    }
  }
}

const json = async (house: WholeHouse, path: string): Promise<unknown> =>
  await (await house.fetch(path)).json();

async function edgeOnline(
  house: WholeHouse,
  { isExplained }: { isExplained(): boolean } = { isExplained: () => false },
): Promise<void> {
  // The list of edges may still be that of the run before; its skills are here once it has connected.
  await until(
    'the agent of this machine is online',
    async () =>
      isExplained() ||
      /"key":"container_get"/.test(JSON.stringify(await json(house, '/api/v1/skills'))),
  );
}

async function investigated(house: WholeHouse): Promise<void> {
  await until('an incident is investigated', async () => {
    const { items } = (await json(house, '/api/v1/investigations')) as {
      readonly items: readonly { readonly status: string }[];
    };
    return items.some(({ status }) => !/^(?:queued|running|pending)$/.test(status));
  });
}

/** Values by route and place in its answer. */
export type Answers = ReadonlyMap<string, string>;

const asked = [
  'me',
  'users',
  'orgs',
  'roles',
  'tokens',
  'notification-channels',
  'alert-rules',
  'alerts/silences',
  'alerts/incidents/1',
  'investigations/1',
  'investigations/1/replay',
  'knowledge/docs',
  'knowledge/search?q=turn+it+off',
  'knowledge/index',
  'agents',
  'skills',
  'marketplace/installed',
  'marketplace/registries',
  'packs',
  'plugins',
  'devices',
  'system-settings',
  'admin/audit-logs/verify',
  'topology/nodes',
  'edges',
  'edges/1/plugins',
  'edges/1/policy',
] as const;

/**
 * Asks every area, and signs in. `agent`: waits for the agent of this machine, but no longer than
 * until the output has said why it does not come.
 */
export async function answersOf(
  house: WholeHouse,
  agent?: { isExplained(): boolean },
): Promise<Answers> {
  const answers = new Map<string, string>();
  const signIn = await house.fetch('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: '' },
    body: JSON.stringify(login),
  });
  answers.set('signs in', String(signIn.status));
  if (agent) {
    await edgeOnline(house, agent).catch((error: unknown) => answers.set('edge', String(error)));
  }
  // An index that is made anew says so for a moment.
  await until(
    'documents can be searched',
    async () => (await house.fetch('/api/v1/knowledge/search?q=turn+it+off')).status !== 503,
  ).catch((error: unknown) => answers.set('search', String(error)));
  for (const path of asked) {
    const answer = await house.fetch(`/api/v1/${path}`);
    answers.set(`${path} status`, String(answer.status));
    flatten(path, await answer.json().catch(() => undefined), answers);
  }
  flatten('readyz', await (await house.fetch('/readyz')).json(), answers);
  return answers;
}

function flatten(path: string, value: unknown, into: Map<string, string>): void {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      flatten(`${path}/${key}`, inner, into);
    }
  } else if (
    !/\/health\/|_(?:at|ms)$|\/generation$|^notification-channels\/items\/\d+\/(?:queued|last_error)$/.test(
      path,
    )
  ) {
    // Figures, times and deliveries of one run.
    into.set(path, String(value));
  }
}
