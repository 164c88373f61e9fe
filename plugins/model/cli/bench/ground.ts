import { setTimeout as pause } from 'node:timers/promises';

import type { ApiClient, Environment, Reachable } from 'svc/cli';

import { loadWorld } from './load-world.ts';
import type { OfferedTool, ToolServer } from './tool-server.ts';
import type { World } from './world.ts';

/** Plugins of svc that a question, its tools and its evidence pass through. */
export const groundPlugins = [
  'iam',
  'session',
  'setting',
  'audit',
  'ingest',
  'metricsdb',
  'logs',
  'traces',
  'alert',
  'topology',
  'changes',
  'investigate',
  'knowledge',
  'manual',
  'drop-ins',
  'persona',
  'gate',
  'skill',
  'approval',
  'mcp',
  'model',
  'chat',
];

/** Name under which svc knows the tools of the bench. */
export const site = 'site';

const lookMs = 100;
const patienceMs = 90_000;

/** Sets a value of the temporary svc. */
export const setValue = (client: ApiClient, key: string, value: unknown): Promise<unknown> =>
  client.put(`/api/v1/system-settings/${key.replace('.', '/')}`, { value });

/**
 * Settings of models from the environment, as `SVC_LLM_…` gives them to a svc that serves. The keys
 * of a running svc are sealed; the bench cannot borrow them.
 */
export const modelSettings = (
  environment: Environment,
): readonly (readonly [key: string, value: string])[] =>
  Object.entries(environment).flatMap(([name, value]) => {
    const [, setting] = /^SVC_LLM_([A-Z_]+_(?:API_KEY|BASE_URL))$/.exec(name) ?? [];
    return setting === undefined || value === undefined || value === ''
      ? []
      : [[`llm.${setting.toLowerCase()}`, value] as const];
  });

/** Makes an empty svc the ground of all cases: worlds, tools of hosts and clusters, changes allowed. */
export async function prepareGround(
  client: ApiClient,
  at: Reachable,
  {
    worlds,
    tools,
    server,
    environment,
  }: {
    readonly worlds: readonly World[];
    readonly tools: readonly OfferedTool[];
    readonly server: Pick<ToolServer, 'url'>;
    readonly environment: Environment;
  },
): Promise<void> {
  await setValue(client, 'outbound.allow_private', ['127.0.0.1']);
  await setValue(client, 'traces.span_metrics', false);
  await setValue(client, 'agent.write_enabled', true);
  for (const [key, value] of modelSettings(environment)) {
    await setValue(client, key, value);
  }
  await setValue(client, 'mcp.servers', [
    {
      name: site,
      url: server.url,
      classes: Object.fromEntries(tools.map((tool) => [tool.name, tool.class])),
    },
  ]);
  const now = Date.now();
  for (const world of worlds) {
    await loadWorld(client, at, world, now);
  }
  await seen('the tools of the bench', async () => {
    const { items } = await client.get<{ items: readonly { state: string }[] }>(
      '/api/v1/mcp/servers',
    );
    return items.every(({ state }) => state === 'ok') ? true : undefined;
  });
}

/** Returns the number of the incident of each rule, once it is investigated. */
export async function incidentsOf(
  client: ApiClient,
  worlds: readonly World[],
): Promise<ReadonlyMap<string, number>> {
  const keys = worlds.flatMap(({ rules = [] }) => rules.map(({ key }) => key));
  const found = new Map<string, number>();
  for (const key of keys) {
    const id = await seen(`the incident of ${key}`, async () => {
      const { items } = await client.get<{ items: readonly { id: number }[] }>(
        `/api/v1/alerts/incidents?rule=${key}`,
      );
      return items[0]?.id;
    });
    found.set(key, id);
    await seen(`the investigation of ${key}`, async () => {
      const report = await client
        .get<{ status: string }>(`/api/v1/alerts/incidents/${id}/investigation`)
        .catch(() => undefined);
      return report !== undefined && ['ready', 'failed', 'skipped'].includes(report.status)
        ? true
        : undefined;
    });
  }
  return found;
}

async function seen<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await pause(lookMs);
  }
  throw new Error(`${what} did not come within ${patienceMs / 1_000} s`);
}
