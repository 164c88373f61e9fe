import type { MetricsQueries } from 'svc/contracts/metricsdb';
import { nextTurn } from 'svc/flow';
import {
  type Call,
  type Handle,
  listRoute,
  type Page,
  type PageRequest,
  pageOfList,
  route,
  type RouteDeclaration,
  type SvcError,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { errors } from './errors.ts';
import { faultOf, type Recording } from './recording.ts';
import type { Recordings } from './recordings.ts';

/**
 * Label names as rule files allow them: any text without control characters that is not a selector.
 */
const labelName = '^\\P{Cc}{1,100}$';
const recordName = '^[^\\p{Cc}{}]{1,100}$';
const maxRules = 5_000;
/** Max expressions checked before requests get their turn: answers of the store that come in a row leave them none. */
const maxChecked = 20;

const Rule = Type.Object({
  record: Type.String({
    pattern: recordName,
    examples: ['job:up:sum'],
    description: 'Name of the series to write',
  }),
  expr: Type.String({ minLength: 1, maxLength: 20_000, examples: ['sum by (job) (up)'] }),
  labels: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      propertyNames: { type: 'string', pattern: labelName, not: { const: '__name__' } },
      additionalProperties: { type: 'string', maxLength: 1_000 },
      maxProperties: 50,
      description: 'Labels to add to the result; omitted if there are none',
    }),
  ),
});

const seconds = 'from one evaluation to the next, at least 5; 0: as all others';
const most = 'more series of one rule than this are an error; 0: no limit';

const GroupDraft = Type.Object({
  group: Type.String({ minLength: 1, maxLength: 500 }),
  interval_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400, description: seconds }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, description: most })),
  enabled: Type.Optional(Type.Boolean()),
  rules: Type.Array(Rule, {
    minItems: 1,
    maxItems: maxRules,
    description: 'Rules in the group, in evaluation order',
  }),
});

const GroupItem = Type.Object({
  group: Type.String(),
  interval_seconds: Type.Integer({ description: seconds }),
  limit: Type.Integer({ description: most }),
  enabled: Type.Boolean(),
  rules: Type.Array(Rule),
});

type Draft = Static<typeof GroupDraft>;
type Item = Static<typeof GroupItem>;

/** Recording rules as they are written and evaluated: a group whole, since its order counts. */
export class RecordingGroups {
  readonly #recordings: Pick<Recordings, 'groups' | 'group' | 'put'>;
  readonly #metrics: Handle<Pick<MetricsQueries, 'check'>>;

  constructor(
    recordings: Pick<Recordings, 'groups' | 'group' | 'put'>,
    metrics: Handle<Pick<MetricsQueries, 'check'>>,
  ) {
    this.#recordings = recordings;
    this.#metrics = metrics;
  }

  async list(page: PageRequest): Promise<Page<Item>> {
    const names = pageOfList([...(await this.#recordings.groups())], (name) => name, page);
    const items: Item[] = [];
    for (const name of names.items) {
      const recordings = await this.#recordings.group(name);
      // It may have been deleted since.
      if (recordings.length > 0) {
        items.push(shown(recordings));
      }
      await nextTurn();
    }
    return { ...names, items };
  }

  /** Replaces the group of that name, or adds a new one. */
  async put(call: Pick<Call, 'principal' | 'note'>, draft: Draft): Promise<Item> {
    const { group, rules, interval_seconds: interval = 0, limit = 0, enabled = true } = draft;
    if (interval > 0 && interval < 5) {
      throw wrong('/interval_seconds', 'must be at least 5, or 0 for the interval of all others');
    }
    const faults = new Map<string, string | undefined>();
    for (const [at, { expr }] of rules.entries()) {
      const fault = faults.has(expr) ? faults.get(expr) : await faultOf(expr, this.#metrics);
      faults.set(expr, fault);
      if (faults.size % maxChecked === 0) {
        await nextTurn();
      }
      if (fault !== undefined) {
        throw wrong(`/rules/${at}/expr`, fault);
      }
    }
    const before = await this.#recordings.group(group);
    const recordings = rules.map(({ labels = {}, ...rule }, position) => ({
      ...rule,
      labels,
      group,
      position,
      interval_seconds: interval,
      limit,
      enabled,
    }));
    await this.#recordings.put(call, recordings);
    const after = shown(await this.#recordings.group(group));
    call.note({
      resourceType: 'recording_group',
      resourceId: group,
      ...(before.length > 0 && { before: shown(before) }),
      after,
    });
    return after;
  }
}

/** Returns a group as shown; fields common to all of its rules are taken from the first. */
function shown(recordings: readonly Recording[]): Item {
  const [{ group, interval_seconds, limit, enabled }] = recordings as readonly [Recording];
  const rules = recordings.map(({ record, expr, labels }) => ({
    record,
    expr,
    ...(Object.keys(labels).length > 0 && { labels: { ...labels } }),
  }));
  return { group, interval_seconds, limit, enabled, rules };
}

const wrong = (path: string, message: string): SvcError =>
  errors.recording_field(
    { field: path.slice(1).replaceAll('/', '.'), message },
    { details: [{ path, message }] },
  );

const path = '/api/v1/recording-rules/groups';

export const groupRoutes = (groups: RecordingGroups): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List groups of recording rules by name',
    items: GroupItem,
    handle: ({ page }) => groups.list(page),
  }),
  route({
    method: 'PUT',
    path,
    access: 'alert:write',
    brief: ['group'],
    summary: 'Replace a group of recording rules',
    description:
      'Replaces the whole group: rules missing from the request are deleted. Omitted fields are set to their defaults.',
    body: GroupDraft,
    response: GroupItem,
    timeoutMs: 60_000,
    errors: ['conflict', 'unavailable'],
    handle: (call) => groups.put(call, call.body),
  }),
];
