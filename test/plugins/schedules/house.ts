import assert from 'node:assert/strict';
import { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { IncidentView } from 'svc/contracts/alert';
import type { Change } from 'svc/contracts/changes';
import type { EdgeEntry } from 'svc/contracts/edge';
import type { Words } from 'svc/contracts/notify';
import type { Principal } from 'svc/sdk';

import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { type AgentHouse, agentHouse } from '../chat/house.ts';
import { tools } from '../skill/house.ts';
import type { Announcements } from './herald/index.ts';

const herald = fileURLToPath(new URL('./herald', import.meta.url));

export interface Note {
  readonly incident: number;
  readonly text: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ScheduleHouse extends AgentHouse {
  readonly say: () => Announcements;
  /** What channels were sent, notes in timelines, and documents by name. */
  readonly words: Words[];
  readonly notes: Note[];
  readonly documents: Map<string, string>;
  readonly incidents: Map<number, IncidentView>;
  readonly changes: Change[];
  readonly edges: EdgeEntry[];
  /** Sets the wall clock, which goes on from there. */
  setClock(time: string): void;
  now(): number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  create(body: object): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  get(id: number): Promise<any>;
  /** Runs of a schedule, oldest first, once `holds` is true of them. */
  runs(
    id: number,
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    holds: (runs: readonly any[]) => boolean,
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
  ): Promise<readonly any[]>;
}

export const incident = (id: number, over: Partial<IncidentView> = {}): IncidentView => ({
  id,
  rule_key: 'disk_full',
  rule_name: 'Disk full',
  severity: 'critical',
  status: 'open',
  scope_type: 'global',
  scope_id: 'all',
  summary: 'A disk is full',
  labels: {},
  annotations: {},
  dedupe_key: `disk_full:${id}`,
  fired_at: '2026-03-02T05:00:00.000Z',
  first_fired_at: '2026-03-02T05:00:00.000Z',
  event_count: 1,
  ...over,
});

/** Starts schedules beside gate, skills, approvals, models and chat as shipped, with a scripted model; alerts, channels and documents are inspected here. */
export async function scheduleHouse(
  t: Pick<TestContext, 'after'>,
  rules: readonly Rule[],
  start: string,
): Promise<ScheduleHouse> {
  const shift = { ms: Date.parse(start) - Date.now() };
  const clock = { now: () => Date.now() + shift.ms, monotonic: () => performance.now() };
  const known: { say?: Announcements; kit?: AgentHouse } = {};
  const words: Words[] = [];
  const notes: Note[] = [];
  const documents = new Map<string, string>();
  const incidents = new Map<number, IncidentView>();
  const changes: Change[] = [];
  const edges: EdgeEntry[] = [];
  const people = () => Object.entries(known.kit!.people);
  const kit = await agentHouse(t, {
    rules,
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', 'schedules', tools, herald],
    clock,
    services: {
      'iam.directory': {
        live: (id: number) =>
          people()
            .map(([name, one]) => ({ ...one, display_name: name, email: `${name}@example.org` }))
            .find((one) => one.id === id && one.status === 'active'),
        nameOf: async (id: number) => {
          const [name] = people().find(([, one]) => one.id === id) ?? [];
          return name === undefined
            ? undefined
            : { email: `${name}@example.org`, display_name: name };
        },
      },
      'herald.door': { open: (say: Announcements) => void (known.say = say) },
      'notify.dispatcher': {
        unknown: async (ids: readonly number[]) => ids.filter((id) => id > 9),
        say: async (said: Words) =>
          void (words.every(({ id }) => id !== said.id) && words.push(said)),
      },
      'alert.incidents': {
        get: async (id: number) => incidents.get(id),
        list: async () => [...incidents.values()],
        events: async (id: number) => notes.filter((note) => note.incident === id),
      },
      'alert.deeds': {
        note: async (
          id: number,
          text: string,
          { principal }: { readonly principal: Principal },
          data: Note['data'],
        ) => {
          notes.push({ incident: id, text, by: principal.email ?? '', data });
          return { status: 'open' };
        },
      },
      'changes.near': { near: async () => changes },
      'edge.fleet': {
        list: () => edges,
        get: (id: number) => edges.find((edge) => edge.id === id),
      },
      'knowledge.shelf': {
        marks: async () => new Map([...documents.keys()].map((name) => [name, ''])),
        put: async (_folder: string, put: readonly { name: string; content: string }[]) =>
          put.forEach(({ name, content }) => documents.set(name, content)),
      },
    },
  });
  known.kit = kit;
  kit.people.anna.grants = ['device:*', 'skill:*', 'schedule:*', 'channel:*', 'knowledge:*'];
  return Object.assign(kit, {
    say: () => known.say!,
    words,
    notes,
    documents,
    incidents,
    changes,
    edges,
    setClock: (time: string) => void (shift.ms = Date.parse(time) - Date.now()),
    now: clock.now,
    async create(body: object) {
      const made = await kit.ask('anna', 'POST', '/schedules', body);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return made.body;
    },
    get: async (id: number) => (await kit.ask('anna', 'GET', `/schedules/${id}`)).body,
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    async runs(id: number, holds: (runs: readonly any[]) => boolean) {
      for (let waited = 0; ; waited += 20) {
        const { body } = await kit.ask('anna', 'GET', `/schedules/${id}/runs`);
        // oxlint-disable-next-line typescript/no-explicit-any -- as above
        const runs = body.items.toReversed() as any[];
        if (holds(runs)) {
          return runs;
        }
        assert.ok(waited < 15_000, JSON.stringify([await this.get(id), runs]));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  });
}
