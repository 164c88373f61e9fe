import type {
  DeclaredError,
  EventType,
  HealthReport,
  MaybePromise,
  Persona,
  PointDeclaration,
  RouteDeclaration,
  Skill,
  SvcError,
} from '../sdk/index.ts';
import type { Generation } from './generation.ts';

/** A service as its provider made it. */
export interface Provider {
  readonly version: string;
  readonly instance: object;
}

interface Subscription {
  readonly type: EventType<unknown>['id'];
  readonly listener: (event: unknown) => MaybePromise<void>;
}

export interface PointContribution {
  readonly point: string;
  readonly id: string;
  readonly value: unknown;
  /** True for data of a pack, which only fits where the owner of the point lets packs in. */
  readonly ofPack?: boolean;
}

interface HealthCheck {
  readonly label: string;
  readonly probe: () => MaybePromise<HealthReport>;
}

/** Everything a plugin can add to svc, by the table it lands in. Keys are unique over all plugins. */
export interface TableTypes {
  /** `GET /api/v1/plugins/{}`: method and path, parameter names blanked. */
  routes: RouteDeclaration;
  /** Service id. */
  services: Provider;
  /** Skill key. */
  skills: Skill;
  /** Persona name. */
  personas: Persona;
  /** `<plugin>/<event>/<n>`. */
  subscriptions: Subscription;
  /** `<point>/<contribution id>`. */
  contributions: PointContribution;
  /** Point id. */
  points: PointDeclaration;
  /** `<plugin>/<label>`. */
  checks: HealthCheck;
  /** `<plugin>/<reason>`. */
  errors: DeclaredError;
}

export type TableName = keyof TableTypes;

export const tableNames: readonly TableName[] = [
  'routes',
  'services',
  'skills',
  'personas',
  'subscriptions',
  'contributions',
  'points',
  'checks',
  'errors',
];

export interface Entry<T> {
  readonly key: string;
  readonly owner: Generation;
  readonly value: T;
}

export type Table<N extends TableName> = ReadonlyMap<string, Entry<TableTypes[N]>>;

export type TableSet = { readonly [N in TableName]: Table<N> };

/**
 * Reason why a path prefix that a plugin claims is not served, and what its callers are told
 * meanwhile.
 */
export interface Outage {
  readonly pluginId: string;
  readonly mount: string;
  readonly error: () => SvcError;
}

/** All that serves at one instant. Frozen; replaced, never changed. */
export class Snapshot implements TableSet {
  readonly serial: number;
  readonly generations: ReadonlyMap<string, Generation>;
  readonly outages: readonly Outage[];
  readonly routes!: Table<'routes'>;
  readonly services!: Table<'services'>;
  readonly skills!: Table<'skills'>;
  readonly personas!: Table<'personas'>;
  readonly subscriptions!: Table<'subscriptions'>;
  readonly contributions!: Table<'contributions'>;
  readonly points!: Table<'points'>;
  readonly checks!: Table<'checks'>;
  readonly errors!: Table<'errors'>;

  constructor(
    serial: number,
    generations: ReadonlyMap<string, Generation>,
    tables: TableSet,
    outages: readonly Outage[],
  ) {
    this.serial = serial;
    this.generations = generations;
    this.outages = outages;
    Object.assign(this, tables);
    Object.freeze(this);
  }

  /** Returns whether this generation (not merely its plugin) serves in this snapshot. */
  holds(generation: Generation): boolean {
    return this.generations.get(generation.pluginId) === generation;
  }
}

export const emptySnapshot = (): Snapshot =>
  new Snapshot(
    0,
    new Map(),
    Object.fromEntries(tableNames.map((name) => [name, new Map()])) as unknown as TableSet,
    [],
  );
