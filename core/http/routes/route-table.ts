import { setMaxListeners } from 'node:events';

import type { Entry, Generation, Outage, Pin, Snapshot } from '../../registry/index.ts';
import { type Method, type RouteDeclaration, SvcError } from '../../sdk/index.ts';
import { pathSegments } from './declaration.ts';
import { RouteShapes } from './shapes.ts';

/** A declared route, ready to serve; made once per declaration and kept over snapshots. */
export interface CompiledRoute {
  readonly key: string;
  readonly declaration: RouteDeclaration;
  readonly owner: Generation;
  readonly audited: boolean;
  /** Status of an ordinary answer. */
  readonly status: number;
  /** Parameter names by their position in the path. */
  readonly params: readonly { readonly name: string; readonly at: number }[];
  /** Literal segments before the first parameter. */
  readonly fixed: number;
  readonly shapes: RouteShapes;
}

/** A route as one snapshot serves it. */
export interface Served {
  readonly route: CompiledRoute;
  readonly pin: Pin;
}

interface Branch {
  readonly literals: Map<string, Branch>;
  param: Branch | undefined;
  served: Served | undefined;
}

interface MountBranch {
  readonly literals: Map<string, MountBranch>;
  outage: Outage | undefined;
}

export interface RouteTable {
  readonly methods: ReadonlyMap<Method, Branch>;
  readonly mounts: MountBranch;
}

const compiledRoutes = new WeakMap<Entry<RouteDeclaration>, CompiledRoute>();
const tables = new WeakMap<Snapshot, RouteTable>();

/** One tree of segments per method, so that finding a route costs its depth and not the size of svc. */
export function routeTable(snapshot: Snapshot): RouteTable {
  let table = tables.get(snapshot);
  if (!table) {
    table = { methods: plant(snapshot), mounts: plantMounts(snapshot.outages) };
    tables.set(snapshot, table);
  }
  return table;
}

/** The route that answers; a literal segment beats a parameter. */
export function findRoute(table: RouteTable, method: Method, segments: readonly string[]): Served | undefined {
  const root = table.methods.get(method);
  const served = root && climb(root, segments, 0);
  const outage = findOutage(table.mounts, segments);
  if (outage && (!served || outage.depth > served.route.fixed)) {
    const { code, message, retryAfterSeconds } = outage.outage;
    throw new SvcError(code, message, { retryAfterSeconds });
  }
  return served;
}

export function allowedMethods(table: RouteTable, segments: readonly string[]): readonly string[] {
  const methods = [...table.methods].filter(([, root]) => climb(root, segments, 0) !== undefined).map(([method]) => method as string);
  return methods.includes('GET') ? [...methods, 'HEAD', 'OPTIONS'] : methods.length > 0 ? [...methods, 'OPTIONS'] : methods;
}

export function readParams({ params }: CompiledRoute, segments: readonly string[]): Record<string, unknown> {
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
  if (kind !== 'json') {
    return kind === 'socket' ? 101 : 200;
  }
  return response === undefined ? 204 : method === 'POST' ? 201 : 200;
}

function plant(snapshot: Snapshot): ReadonlyMap<Method, Branch> {
  const methods = new Map<Method, Branch>();
  for (const entry of snapshot.routes.values()) {
    const route = compileRoute(entry);
    let branch = methods.get(route.declaration.method) ?? newBranch();
    methods.set(route.declaration.method, methods.get(route.declaration.method) ?? branch);
    for (const segment of pathSegments(route.declaration.path)) {
      branch = segment.isParam ? (branch.param ??= newBranch()) : childOf(branch.literals, segment.name, newBranch);
    }
    branch.served = { route, pin: { snapshot, owner: route.owner } };
  }
  return methods;
}

function plantMounts(outages: readonly Outage[]): MountBranch {
  const root = newMountBranch();
  for (const outage of outages) {
    let branch = root;
    for (const name of outage.mount.split('/').filter(Boolean)) {
      branch = childOf(branch.literals, name, newMountBranch);
    }
    branch.outage ??= outage;
  }
  return root;
}

/** Tries the literal first and comes back for the parameter when the literal leads nowhere. */
function climb(branch: Branch, segments: readonly string[], at: number): Served | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    return branch.served;
  }
  const literal = branch.literals.get(segment);
  const found = literal && climb(literal, segments, at + 1);
  return found ?? (branch.param && segment !== '' ? climb(branch.param, segments, at + 1) : undefined);
}

function findOutage(root: MountBranch, segments: readonly string[]): { outage: Outage; depth: number } | undefined {
  let branch = root;
  let found = root.outage && { outage: root.outage, depth: 0 };
  for (const [index, segment] of segments.entries()) {
    const next = branch.literals.get(segment);
    if (!next) {
      break;
    }
    branch = next;
    found = next.outage ? { outage: next.outage, depth: index + 1 } : found;
  }
  return found;
}

function childOf<B>(children: Map<string, B>, name: string, make: () => B): B {
  const child = children.get(name) ?? make();
  children.set(name, child);
  return child;
}

const newBranch = (): Branch => ({ literals: new Map(), param: undefined, served: undefined });
const newMountBranch = (): MountBranch => ({ literals: new Map(), outage: undefined });
