import type { Entry, PointContribution, Registry, Snapshot } from '../../registry/index.ts';
import {
  type Contribution,
  type ExtensionPoint,
  type Logger,
  type OpenPoint,
} from '../../sdk/index.ts';
import { errors } from './errors.ts';
import type { Own } from './ports.ts';
import type { Misfit, Schemas } from '../folder/schemas.ts';

/** A point as its owner reads it: what fits the schema, now, and what came and went at each commit. */
export function openPoint<T>(
  registry: Registry,
  point: ExtensionPoint<T>,
  schemas: Schemas,
  own: Own,
  log: Logger,
): OpenPoint<T> {
  const fits = checkedBy(point, schemas, log);
  // A snapshot never changes, and some owners read their point at every request.
  const lists = new WeakMap<Snapshot, readonly Contribution<T>[]>();
  const listIn = (snapshot: Snapshot): readonly Contribution<T>[] => {
    let list = lists.get(snapshot);
    if (list === undefined) {
      const entries = [...snapshot.contributions.values()].filter(
        (entry) => entry.value.point === point.id && fits(entry),
      );
      lists.set(snapshot, (list = entries.map((entry) => asContribution<T>(entry))));
    }
    return list;
  };
  return {
    list: () => listIn(registry.seen),
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

/** A draft's contributions against the points that are open: a misfit keeps the plugin from committing. */
export function checkContributions(
  entries: Iterable<Entry<PointContribution>>,
  snapshot: Snapshot,
  schemas: Schemas,
): void {
  for (const { value, owner } of entries) {
    const schema = snapshot.points.get(value.point)?.value.schema;
    const [problem] = schema ? schemas.compile(schema)(value.value) : [];
    if (problem) {
      throw errors.contribution({
        plugin: owner.pluginId,
        id: value.id,
        point: value.point,
        problem: sentence(problem),
      });
    }
  }
}

function checkedBy(
  point: { readonly id: string; readonly schema?: object },
  schemas: Schemas,
  log: Logger,
): (entry: Entry<PointContribution>) => boolean {
  let check: ReturnType<Schemas['compile']> | undefined;
  const verdicts = new WeakMap<object, boolean>();
  return (entry) => {
    let verdict = verdicts.get(entry);
    if (verdict === undefined) {
      const [problem] = point.schema
        ? (check ??= schemas.compile(point.schema))(entry.value.value)
        : [];
      verdict = problem === undefined;
      verdicts.set(entry, verdict);
      if (problem) {
        log.warn(
          {
            event: 'host.contribution_refused',
            contribution: entry.key,
            from: entry.owner.pluginId,
          },
          `contribution left out: ${sentence(problem)}`,
        );
      }
    }
    return verdict;
  };
}

const asContribution = <T>(entry: Entry<PointContribution>): Contribution<T> => ({
  id: entry.value.id,
  pluginId: entry.owner.pluginId,
  value: entry.value.value as T,
});

const sentence = ({ instancePath, message }: Misfit): string =>
  `${instancePath || 'the value'} ${message ?? 'does not fit the schema of the point'}`;
