import type {
  Entry,
  Generation,
  PointContribution,
  Registry,
  Snapshot,
  TableSet,
} from '../../registry/index.ts';
import {
  type Contribution,
  type ExtensionPoint,
  isSvcError,
  type Logger,
  messageOf,
  type OpenPoint,
  type PackForm,
  type PluginManifest,
  type PointDeclaration,
} from '../../sdk/index.ts';
import { onAccount, thrownBy } from './contributed.ts';
import { errors } from './errors.ts';
import type { Own } from './ports.ts';
import type { Misfit, Schemas } from '../folder/schemas.ts';

/** Counts an error against the plugin that contributed. */
export type Charge = (contributor: Generation, label: string, error: unknown) => void;

export interface PointReader {
  readonly registry: Registry;
  readonly schemas: Schemas;
  /** Plugin that opens the point. */
  readonly pluginId: string;
  readonly own: Own;
  readonly log: Logger;
  readonly charge: Charge;
}

/** A point as its owner reads it: what fits, now, and what came and went at each commit. */
export function openPoint<T>(point: ExtensionPoint<T>, reader: PointReader): OpenPoint<T> {
  const { registry, own, log, charge } = reader;
  const seen = contributionsOf(point, reader);
  // A snapshot never changes, and some owners read their point at every request.
  const lists = new WeakMap<Snapshot, readonly Contribution<T>[]>();
  const listIn = (snapshot: Snapshot): readonly Contribution<T>[] => {
    let list = lists.get(snapshot);
    if (list === undefined) {
      list = [...snapshot.contributions.values()].flatMap((entry) =>
        entry.value.point === point.id ? (seen(entry) ?? []) : [],
      );
      lists.set(snapshot, list);
    }
    return list;
  };
  const failed = (contribution: Contribution<T>, error: unknown): void => {
    log.warn(
      {
        event: 'host.contribution_failed',
        contribution: `${point.id}/${contribution.id}`,
        from: contribution.pluginId,
        error,
      },
      `contribution skipped: ${messageOf(error)}`,
    );
    const contributor = thrownBy(error) ?? registry.seen.generations.get(contribution.pluginId);
    if (contributor && !isSvcError(error)) {
      charge(contributor, labelOf(point, contribution), error);
    }
  };
  return {
    list: () => listIn(registry.seen),
    gather<R>(ask: (contribution: Contribution<T>) => R) {
      const answers: R[] = [];
      for (const contribution of listIn(registry.seen)) {
        try {
          answers.push(ask(contribution));
        } catch (error) {
          failed(contribution, error);
        }
      }
      return answers;
    },
    async gatherAsync<R>(ask: (contribution: Contribution<T>) => R) {
      const asked = listIn(registry.seen).map(async (contribution) => {
        try {
          return { answer: await ask(contribution) };
        } catch (error) {
          return failed(contribution, error);
        }
      });
      const answered = (await Promise.all(asked)).filter((one) => one !== undefined);
      return answered.map(({ answer }) => answer);
    },
    onChange(listener) {
      const undo = registry.onPublish((next, previous) => {
        const [now, then] = [listIn(next), listIn(previous)];
        const added = now.filter(({ value }) => !then.some((old) => old.value === value));
        const removed = then.filter(({ value }) => !now.some((kept) => kept.value === value));
        if (added.length > 0 || removed.length > 0) {
          listener({ added, removed });
        }
      });
      return own(`watch point ${point.id}`, undo);
    },
  };
}

const labelOf = (point: PointDeclaration, { id }: { readonly id: string }): string =>
  `contribution ${id} to ${point.id}`;

/**
 * A draft's contributions against the points that are open: a misfit keeps the plugin from
 * committing.
 */
export function checkContributions(
  entries: Iterable<Entry<PointContribution>>,
  snapshot: Snapshot,
  schemas: Schemas,
  keeper: Keeper,
): void {
  for (const { value, owner } of entries) {
    const point = snapshot.points.get(value.point)?.value;
    const problem =
      (value.ofPack === true ? keptBy(keeper(value.point, value.id)) : undefined) ??
      (point && misfitOf(value, owner.manifest, point, schemas));
    if (problem !== undefined) {
      throw errors.contribution({
        plugin: owner.pluginId,
        id: value.id,
        point: value.point,
        problem,
      });
    }
  }
}

/** Charges what was contributed to points before their owner opened them, and does not fit. */
export function chargeMisfits(
  opened: Iterable<Entry<PointDeclaration>>,
  snapshot: Snapshot,
  schemas: Schemas,
  charge: Charge,
): void {
  const points = new Map([...opened].map(({ value }) => [value.id, value]));
  for (const { value, owner } of snapshot.contributions.values()) {
    const point = points.get(value.point);
    const problem = point && misfitOf(value, owner.manifest, point, schemas);
    if (point !== undefined && problem !== undefined) {
      charge(owner, labelOf(point, value), new Error(problem));
    }
  }
}

/**
 * Charges contributions of packs that other plugins find wrong, of those that just came or whose
 * point just opened; asks in the background.
 */
export async function chargeFaults(
  { contributions, points }: Pick<TableSet, 'contributions' | 'points'>,
  snapshot: Snapshot,
  charge: Charge,
): Promise<void> {
  const asked = new Set([
    ...contributions.values(),
    ...[...snapshot.contributions.values()].filter(({ value }) => points.has(value.point)),
  ]);
  for (const { value, owner } of asked) {
    const point = snapshot.points.get(value.point)?.value;
    const fault =
      value.ofPack === true && point !== undefined ? await faultOf(value, point) : undefined;
    if (fault !== undefined) {
      charge(owner, labelOf(point!, value), new Error(fault));
    }
  }
}

/** Returns the plugin that ships the contribution of this name, whether it runs or not. */
export type Keeper = (point: string, id: string) => string | undefined;

export const keptBy = (plugin: string | undefined): string | undefined =>
  plugin && `the name belongs to the plugin ${plugin}, which ships with svc; choose another`;

/** Returns what other plugins find wrong with data of a pack; undefined also while they cannot be asked. */
export async function faultOf(
  { id, value }: Pick<PointContribution, 'id' | 'value'>,
  { packs }: PointDeclaration,
): Promise<string | undefined> {
  try {
    return await packs?.fault?.(id, value);
  } catch (error) {
    if (isSvcError(error) && error.code === 'unavailable') {
      return undefined;
    }
    throw error;
  }
}

export const misfitByShape = (
  value: unknown,
  packs: PackForm,
  schemas: Schemas,
): string | undefined => sentence(schemas.compile(packs.schema)(value)[0]);

/** Returns what is wrong with a contribution; undefined if it fits its point. */
export function misfitOf(
  { id, value, ofPack = false }: Pick<PointContribution, 'id' | 'value' | 'ofPack'>,
  manifest: PluginManifest,
  { schema, methods = [], packs }: PointDeclaration,
  schemas: Schemas,
): string | undefined {
  const asData = (): string | undefined =>
    packs === undefined
      ? closed
      : misfitOfCode(value, { schema: packs.schema, methods: [] }, schemas);
  if (ofPack) {
    return asData() ?? packs?.problem?.(id, value, manifest);
  }
  const problem = misfitOfCode(value, { schema, methods }, schemas);
  // What ships with svc may be data where packs may bring the same.
  return problem !== undefined && packs !== undefined && asData() === undefined
    ? undefined
    : problem;
}

function misfitOfCode(
  value: unknown,
  { schema, methods }: { readonly schema: object | undefined; readonly methods: readonly string[] },
  schemas: Schemas,
): string | undefined {
  try {
    return (
      sentence(schema && schemas.compile(schema)(value)[0]) ??
      methods
        .filter((name) => typeof (value as Record<string, unknown> | null)?.[name] !== 'function')
        .map((name) => `the value has no method ${name}()`)[0]
    );
  } catch (error) {
    return `the value cannot be read: ${messageOf(error)}`;
  }
}

const closed = 'the point takes code of svc, and no data of packs';

/** Contributions by their entries: each is checked once, and one that does not fit is told once. */
function contributionsOf<T>(
  point: ExtensionPoint<T>,
  { schemas, pluginId, log }: PointReader,
): (entry: Entry<PointContribution>) => Contribution<T> | undefined {
  const known = new WeakMap<object, Contribution<T> | 'misfit'>();
  return (entry) => {
    let contribution = known.get(entry);
    if (contribution === undefined) {
      const problem = misfitOf(entry.value, entry.owner.manifest, point, schemas);
      if (problem === undefined) {
        const isGuarded = point.methods !== undefined && entry.owner.pluginId !== pluginId;
        contribution = {
          id: entry.value.id,
          pluginId: entry.owner.pluginId,
          value: (isGuarded ? onAccount(entry) : entry.value.value) as T,
        };
      } else {
        contribution = 'misfit';
        log.warn(
          {
            event: 'host.contribution_refused',
            contribution: entry.key,
            from: entry.owner.pluginId,
          },
          `contribution skipped: ${problem}`,
        );
      }
      known.set(entry, contribution);
    }
    return contribution === 'misfit' ? undefined : contribution;
  };
}

const sentence = (misfit: Misfit | undefined): string | undefined =>
  misfit &&
  `${misfit.instancePath || 'the value'} ${misfit.message ?? 'does not fit the schema of the point'}`;
