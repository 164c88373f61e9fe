import type { AuditEntries, AuditEntry } from 'svc/contracts/audit';
import { askedWindow, windowAsked } from 'svc/query';
import { type Clock, covers, type SkillRun, type ToolSkill, toolSkill } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { type Shown, shown } from './rows/record.ts';
import type { Store } from './rows/store.ts';

const Window = {
  last: Type.Optional(Type.Unsafe<string>(askedWindow.last)),
  until: Type.Optional(Type.Unsafe<string>(askedWindow.until)),
};
const Changes = Type.Object({
  resource_type: Type.Optional(Type.String({ maxLength: 100 })),
  resource_id: Type.Optional(Type.String({ maxLength: 100 })),
  ...Window,
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
});

/** Areas that everybody may look at; the rest of the trail is for administrators. */
const openAreas =
  /^(?:agent|alert|channel|dashboard|device|edge|incident|knowledge|monitor|panel|plugin|silence|skill|topology):/;
/** Rows looked through at most, for those that the asker may see. */
const mostRead = 2_000;

/** Skills that list recent changes: the first question when anything begins to fail. */
export const changeSkills = (store: Store, clock: Clock): readonly ToolSkill[] => [
  toolSkill({
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    key: 'changes_list',
    name: 'What changed',
    description:
      'Changes that people and agents made through svc within a time window, newest first: what was changed, on which resource, by whom, and when.',
    params: Changes,
    run: (params, run) => changes(params, run, store, clock),
  }),
];

async function changes(
  params: Static<typeof Changes>,
  { principal }: SkillRun,
  store: Store,
  clock: Clock,
): Promise<object> {
  const { resource_type: resourceType, resource_id: resourceId, limit, ...asked } = params;
  const { start: from, end: to } = windowAsked(asked, clock.now());
  const seesAll = principal.grants.some((grant) => covers(grant, '*'));
  const filter = {
    from,
    to,
    status: 'success',
    ...(resourceType !== undefined && { resourceType }),
    ...(resourceId !== undefined && { resourceId }),
  };
  const rows = (await store.page(filter, mostRead))
    .map(shown)
    .filter((row) => isChange(row) && (seesAll || openAreas.test(row.action)));
  return {
    shown: Math.min(limit, rows.length),
    more: rows.length > limit,
    changes: rows
      .slice(0, limit)
      .map(
        ({
          occurred_at: at,
          actor,
          action,
          resource_type: type,
          resource_id: id,
          changes: change,
        }) => ({
          at,
          action,
          resource_type: type,
          resource_id: id,
          by: actor.name ?? actor.id,
          by_kind: actor.type,
          ...(seesAll && { after: change?.after ?? null }),
        }),
      ),
  };
}

/** Tools are run far more often to look than to change something. */
function isChange({ action, changes: change }: Shown): boolean {
  const { class: kind } = (change?.after ?? {}) as { class?: unknown };
  return action !== 'skill:execute' || kind === 'mutating' || kind === 'dangerous';
}

/** Returns the trail for other plugins, one range at a time. */
export const entriesOf = (store: Store): AuditEntries => ({
  async after(seq, limit) {
    const rows = (await store.next(seq, limit)).map(shown);
    return {
      entries: rows.filter((row) => row.status === 'success' && isChange(row)).map(entryOf),
      last: rows.at(-1)?.id ?? seq,
    };
  },
  last: async () => (await store.span()).last,
});

function entryOf({
  id,
  occurred_at: at,
  action,
  resource_type,
  resource_id,
  actor,
  changes: change,
}: Shown): AuditEntry {
  const [before, after] = [fieldsOf(change?.before), fieldsOf(change?.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return {
    seq: id,
    at: Date.parse(at),
    action,
    resource_type,
    resource_id,
    actor: { type: actor.type, id: actor.id, name: actor.name ?? actor.email ?? actor.id },
    fields: names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])),
  };
}

const fieldsOf = (side: unknown): Readonly<Record<string, unknown>> =>
  typeof side === 'object' && side !== null && !Array.isArray(side)
    ? (side as Readonly<Record<string, unknown>>)
    : {};
