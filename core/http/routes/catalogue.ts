import type { Entry, Registry, Snapshot } from '../../registry/index.ts';
import type {
  Contribution,
  DeclaredCatalogue,
  DescribedRoute,
  RouteDeclaration,
} from '../../sdk/index.ts';
import { compileRoute } from './route-table.ts';
import { readsOf } from './reads.ts';
import { closed, modern, type Schema } from './schema.ts';

const described = new WeakMap<Snapshot, readonly DescribedRoute[]>();

/** Reads the catalogue out of the snapshot that the caller sees. */
export const catalogueOf = (registry: Registry): DeclaredCatalogue => ({
  actions: () =>
    [...registry.seen.generations.values()].flatMap(({ pluginId, manifest }) =>
      Object.entries(manifest.actions).map(([action, description]) => ({
        action,
        description,
        pluginId,
      })),
    ),
  routes: () =>
    [...registry.seen.routes.values()].map(({ owner: { pluginId }, value }) => {
      const { method, path, access, summary } = value;
      return { method, path, access, summary, pluginId, reads: readsOf(value, pluginId) };
    }),
  skills: () => owned(registry.seen.skills),
  personas: () => owned(registry.seen.personas),
  declarations() {
    const snapshot = registry.seen;
    const known = described.get(snapshot) ?? [...snapshot.routes.values()].map(describeRoute);
    described.set(snapshot, known);
    return known;
  },
  errors: () => owned(registry.seen.errors),
});

const listed = new WeakMap<object, readonly Contribution<never>[]>();

function owned<T>(table: ReadonlyMap<string, Entry<T>>): readonly Contribution<T>[] {
  const list =
    listed.get(table) ??
    [...table.values()].map(({ key, owner, value }) => ({
      id: key,
      pluginId: owner.pluginId,
      value: value as never,
    }));
  listed.set(table, list);
  return list;
}

const asDeclared = [
  'description',
  'consumes',
  'produces',
  'wording',
  'devices',
  'readsAsked',
  'quotes',
  'brief',
  'ifMatch',
] as const;

function describeRoute(entry: Entry<RouteDeclaration>): DescribedRoute {
  const {
    method,
    path,
    access,
    summary,
    kind,
    params,
    query,
    body,
    response,
    items,
    errors = [],
  } = entry.value;
  return {
    method,
    path,
    access,
    summary,
    kind,
    pluginId: entry.owner.pluginId,
    reads: readsOf(entry.value, entry.owner.pluginId),
    ...Object.fromEntries(
      asDeclared.flatMap((key) =>
        entry.value[key] === undefined ? [] : [[key, entry.value[key]]],
      ),
    ),
    status: compileRoute(entry).status,
    errors,
    params: params && modern(params as Schema),
    query: query && modern(query as Schema),
    body: body && closed(body as Schema),
    response: response && modern(response as Schema),
    items: items && modern(items as Schema),
  };
}
