import { setMaxListeners } from 'node:events';

import type { Entry, Generation, Outage, Pin, Snapshot } from '../../registry/index.ts';
import type { Method, RouteDeclaration } from '../../sdk/index.ts';
import { pathSegments } from './declaration.ts';
import { readsOf } from './reads.ts';
import { RouteShapes } from './shapes.ts';

/** A declared route, ready to serve; made once per declaration and kept over snapshots. */
export interface CompiledRoute {
  readonly key: string;
  readonly declaration: RouteDeclaration;
  readonly owner: Generation;
  readonly audited: boolean;
  /** Areas that an API token must be allowed to read to get the whole answer. */
  readonly reads: readonly string[];
  /** Status of an ordinary answer. */
  readonly status: number;
  /** Parameter names by their position in the path. */
  readonly params: readonly { readonly name: string; readonly at: number }[];
  /** Literal segments before the first parameter. */
  readonly fixed: number;
  readonly shapes: RouteShapes;
}

/** Route as one snapshot serves it. */
export interface Served {
  readonly route: CompiledRoute;
  readonly pin: Pin;
}

export type Wording = RouteDeclaration['wording'];

interface Branch {
  readonly literals: Map<string, Branch>;
  param: Branch | undefined;
  served: Served | undefined;
}

export interface RouteTable {
  readonly methods: ReadonlyMap<Method, Branch>;
  /** Outages of plugins that are down, the longest mount first. */
  readonly outages: readonly { readonly outage: Outage; readonly mount: readonly string[] }[];
}

const compiledRoutes = new WeakMap<Entry<RouteDeclaration>, CompiledRoute>();
const tables = new WeakMap<Snapshot, RouteTable>();

/** One tree of segments per method, so that finding a route costs its depth and not the size of svc. */
export function routeTable(snapshot: Snapshot): RouteTable {
  let table = tables.get(snapshot);
  if (!table) {
    table = { methods: plant(snapshot), outages: mountsOf(snapshot.outages) };
    tables.set(snapshot, table);
  }
  return table;
}

/** The route that answers; a literal segment beats a parameter. */
export function findRoute(
  table: RouteTable,
  method: Method,
  segments: readonly string[],
): Served | undefined {
  const root = table.methods.get(method);
  const served = root && climb(root, segments, 0);
  const fits = (name: string, at: number): boolean =>
    segments[at] === name || (name.startsWith('{') && segments[at] !== undefined);
  const down = table.outages.find(
    ({ mount }) => (mount.length > 0 || segments.length === 0) && mount.every(fits),
  );
  if (down && (!served || down.mount.length > served.route.fixed)) {
    throw down.outage.error();
  }
  return served;
}

export function allowedMethods(table: RouteTable, segments: readonly string[]): readonly string[] {
  const methods = [...table.methods]
    .filter(([, root]) => climb(root, segments, 0) !== undefined)
    .map(([method]) => method as string);
  return methods.includes('GET')
    ? [...methods, 'HEAD', 'OPTIONS']
    : methods.length > 0
      ? [...methods, 'OPTIONS']
      : methods;
}

/**
 * Returns the wording of errors near `segments`: that of a protocol to which all known paths there
 * belong.
 */
export function wordingNear({ methods }: RouteTable, segments: readonly string[]): Wording {
  let branch = methods.get('GET');
  for (let at = 0; branch?.literals.has(segments[at]!); at += 1) {
    branch = branch.literals.get(segments[at]!);
  }
  const below = branch ? wordingsBelow(branch) : [];
  return below.every((wording) => wording !== undefined) ? below[0] : undefined;
}

const wordingsBelow = ({ served, literals, param }: Branch): readonly Wording[] => [
  ...(served ? [served.route.declaration.wording] : []),
  ...[...literals.values(), ...(param ? [param] : [])].flatMap(wordingsBelow),
];

export function readParams(
  { params }: CompiledRoute,
  segments: readonly string[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, at } of params) {
    values[name] = segments[at];
  }
  return values;
}

/** The compiled form of a table entry; its schemas compile on first use. */
export function compileRoute(entry: Entry<RouteDeclaration>): CompiledRoute {
  let route = compiledRoutes.get(entry);
  if (!route) {
    const { key, owner, value: declaration } = entry;
    // As many streams as there are clients wait for the end of one generation; that is no leak.
    setMaxListeners(0, owner.scope.signal);
    const segments = pathSegments(declaration.path);
    const firstParam = segments.findIndex((segment) => segment.isParam);
    route = {
      key,
      declaration,
      owner,
      reads: readsOf(declaration, owner.pluginId),
      audited: declaration.audited ?? declaration.method !== 'GET',
      status: declaration.status ?? usualStatus(declaration),
      params: segments.flatMap(({ name, isParam }, at) => (isParam ? [{ name, at }] : [])),
      fixed: firstParam < 0 ? segments.length : firstParam,
      shapes: new RouteShapes(declaration, owner),
    };
    compiledRoutes.set(entry, route);
  }
  return route;
}

function usualStatus({ kind, method, response }: RouteDeclaration): number {
  return kind === 'socket'
    ? 101
    : kind !== 'json'
      ? 200
      : response === undefined
        ? 204
        : method === 'POST'
          ? 201
          : 200;
}

function plant(snapshot: Snapshot): ReadonlyMap<Method, Branch> {
  const methods = new Map<Method, Branch>();
  for (const entry of snapshot.routes.values()) {
    const route = compileRoute(entry);
    let branch = methods.get(route.declaration.method) ?? newBranch();
    methods.set(route.declaration.method, methods.get(route.declaration.method) ?? branch);
    for (const segment of pathSegments(route.declaration.path)) {
      branch = segment.isParam ? (branch.param ??= newBranch()) : childOf(branch, segment.name);
    }
    branch.served = { route, pin: { snapshot, owner: route.owner } };
  }
  return methods;
}

const mountsOf = (outages: readonly Outage[]): RouteTable['outages'] =>
  outages
    .map((outage) => ({ outage, mount: outage.mount.split('/').filter(Boolean) }))
    .toSorted((a, b) => b.mount.length - a.mount.length);

/** Tries the literal first and returns to the parameter if the literal leads nowhere. */
function climb(branch: Branch, segments: readonly string[], at: number): Served | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    return branch.served;
  }
  const literal = branch.literals.get(segment);
  const found = literal && climb(literal, segments, at + 1);
  return (
    found ?? (branch.param && segment !== '' ? climb(branch.param, segments, at + 1) : undefined)
  );
}

function childOf({ literals }: Branch, name: string): Branch {
  const child = literals.get(name) ?? newBranch();
  literals.set(name, child);
  return child;
}

const newBranch = (): Branch => ({ literals: new Map(), param: undefined, served: undefined });
