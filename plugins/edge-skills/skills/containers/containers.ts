import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import { type Clock, isSvcError } from 'svc/sdk';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import { fitRows, maxAnswerBytes } from '../fit-rows.ts';
import type { ContainerEngine } from './container-engine.ts';
import {
  courseOf,
  fieldsOf,
  inspectedOf,
  listedOf,
  listOf,
  logTextOf,
  numberOf,
  statsOf,
} from './engine-answers.ts';

const maxContainers = 100;
const atOnce = 8;
const container = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$',
  description: 'Name or ID of a container.',
} as const;
const common = { class: 'safe' } as const;

/** Skills that look at the containers of this machine, whichever engine runs them. */
export const containerSkills = (
  engine: ContainerEngine,
  views: AllowedViews,
  clock: Clock,
): readonly EdgeSkill[] => [
  containersList(engine, views),
  containerGet(engine, views),
  containerLogs(engine, views, clock),
  containerStats(engine, views),
];

const containersList = (engine: ContainerEngine, views: AllowedViews): EdgeSkill => ({
  ...common,
  tier: 'core',
  key: 'containers_list',
  name: 'Containers',
  description:
    'Docker or Podman containers, running or not, with their state, number of restarts, exit code, health and whether they ran out of memory. Those with the most restarts come first.',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      running: {
        type: 'boolean',
        description: 'true: only running containers; false: only the others. Default: all of them.',
      },
    },
  },
  async run({ running }: { running?: boolean }, { signal }: SkillCall) {
    views.requireView('containers');
    const all = listOf(await engine.json('/containers/json?all=1', signal))
      .map(listedOf)
      .filter(({ state }) => running === undefined || (state === 'running') === running);
    const rows = await inBatches(all.slice(0, maxContainers), async (listed) => ({
      ...listed,
      ...(listed.id !== null && (await courseOfContainer(engine, listed.id, signal))),
    }));
    const restartsOf = (row: object): number => numberOf(fieldsOf(row)['restarts']) ?? 0;
    const sorted = rows.toSorted((a, b) => restartsOf(b) - restartsOf(a));
    const shown = fitRows(sorted);
    return { result: { total: all.length, containers: shown } };
  },
});

const containerGet = (engine: ContainerEngine, views: AllowedViews): EdgeSkill => ({
  ...common,
  tier: 'core',
  key: 'container_get',
  name: 'One container',
  description:
    'State, limits, command, mounts, ports and most recent health checks of one container. Its environment variables are listed by name, without their values.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['container'],
    properties: { container },
  },
  async run({ container: name }: { container: string }, { signal }: SkillCall) {
    views.requireView('containers');
    return { result: inspectedOf(await engine.json(`/containers/${name}/json`, signal)) };
  },
});

const containerLogs = (engine: ContainerEngine, views: AllowedViews, clock: Clock): EdgeSkill => ({
  ...common,
  tier: 'core',
  key: 'container_logs',
  name: 'Log of a container',
  description: 'The last log lines of a container, with their timestamps.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['container'],
    properties: {
      container,
      lines: { type: 'integer', minimum: 1, maximum: 2000, default: 100 },
      since_seconds: {
        type: 'integer',
        minimum: 1,
        maximum: 31536000,
        description: 'How far back to read, in seconds.',
      },
    },
  },
  async run(
    {
      container: name,
      lines,
      since_seconds: since,
    }: { container: string; lines: number; since_seconds?: number },
    { signal }: SkillCall,
  ) {
    views.requireView('containers');
    const from = since === undefined ? '' : `&since=${Math.floor(clock.now() / 1_000) - since}`;
    const path = `/containers/${name}/logs?stdout=1&stderr=1&timestamps=1&tail=${lines}${from}`;
    const { body } = await engine.bytes(path, signal, maxAnswerBytes * 4);
    // The newest lines are the ones that count where not all of them fit.
    const all = logTextOf(body).split('\n').filter(Boolean).toReversed();
    const shown = fitRows(all).toReversed();
    const readOn =
      shown.length < all.length
        ? {
            hint: 'Not all lines fit in the response: request fewer.',
            params: { lines: shown.length },
          }
        : undefined;
    return { result: { container: name, lines: shown }, readOn };
  },
});

const containerStats = (engine: ContainerEngine, views: AllowedViews): EdgeSkill => ({
  ...common,
  tier: 'specialty',
  key: 'container_stats',
  name: 'Use of containers',
  description:
    'CPU usage, memory usage relative to the limit, network traffic and processes of the running containers, highest memory usage first.',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { container: { ...container, description: 'Default: all running containers.' } },
  },
  async run({ container: name }: { container?: string }, { signal }: SkillCall) {
    views.requireView('containers');
    const running = listOf(await engine.json('/containers/json', signal))
      .map(listedOf)
      .filter((one) => name === undefined || one.name === name || one.id === name.slice(0, 12));
    const rows = await inBatches(running.slice(0, maxContainers), async ({ id, name: called }) => ({
      name: called,
      ...statsOf(await engine.json(`/containers/${id}/stats?stream=false`, signal)),
    }));
    return {
      result: {
        total: running.length,
        containers: fitRows(rows.toSorted((a, b) => (b.memory_bytes ?? 0) - (a.memory_bytes ?? 0))),
      },
    };
  },
});

/** Returns how a container ran; nothing if it was removed meanwhile. */
async function courseOfContainer(engine: ContainerEngine, id: string, signal: AbortSignal) {
  const inspected = await engine.json(`/containers/${id}/json`, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (isSvcError(error) && error.code === 'not_found') {
      return {};
    }
    throw error;
  });
  return Object.keys(fieldsOf(inspected)).length === 0 ? {} : courseOf(inspected);
}

/** Runs the work a few items at a time: engines answer slowly when asked for everything at once. */
async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    done.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  }
  return done;
}
