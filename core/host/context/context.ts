import { type Draft, optionalHandle, type Registry, serviceHandle } from '../../registry/index.ts';
import type {
  Clock,
  ExtensionPoint,
  PackChecks,
  Handle,
  Ids,
  Logger,
  MaybePromise,
  Metrics,
  PluginContext,
  RouteDeclaration,
  Scope,
  Secrets,
  ServiceToken,
  Settings,
  Tables,
} from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { type Charge, openPoint } from './extension-point.ts';
import { DraftLiveSet } from './live-set.ts';
import type { PluginThreads } from './plugin-threads.ts';
import type { HostPorts, Own } from './ports.ts';

/** A service that activate() promised; made once the declaring is over. */
export interface Promised {
  readonly id: string;
  readonly make: () => MaybePromise<object>;
}

/**
 * The `ctx` of one generation: it can only declare into the draft, and owns the rest through its scope; both refuse once
 * that scope is closed. Plugins take it apart, so that all of it is its own and bound.
 */
export class GenerationContext implements PluginContext {
  readonly #draft: Draft;
  readonly #ports: HostPorts;
  readonly #registry: Registry;
  readonly #promised: Promised[];
  readonly #own: Own;
  readonly #charge: Charge;
  #subscriptions = 0;

  readonly id: string;
  readonly generation: number;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly scope: Scope;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly metrics: Metrics;
  readonly threads: PluginContext['threads'];

  constructor(
    draft: Draft,
    ports: HostPorts,
    promised: Promised[],
    threads: PluginThreads,
    charge: Charge,
  ) {
    const { manifest, scope, pluginId, number } = draft.generation;
    this.#draft = draft;
    this.#ports = ports;
    this.#registry = ports.registry;
    this.#promised = promised;
    this.#charge = charge;
    this.#own = (label, undo) => scope.defer(label, undo);
    this.id = pluginId;
    this.generation = number;
    this.log = ports.log(pluginId);
    this.clock = ports.clock;
    this.ids = ports.ids;
    this.scope = scope;
    this.settings = ports.settings(manifest, this.#own);
    this.secrets = ports.secrets(manifest);
    this.metrics = ports.metrics(pluginId, this.#own);
    this.threads = {
      start: (...declared) => threads.start(...declared),
      text: (entry) => threads.text(entry),
    };
    Object.freeze(this);
  }

  get dataDir(): string {
    this.#open('dataDir');
    return this.#ports.dataDir(this.id);
  }

  readonly db = <T>(): Tables<T> => {
    this.#open('db');
    return this.#ports.tables<T>(this.id);
  };

  readonly fetch: PluginContext['fetch'] = async (url, request) => {
    this.#open('fetch');
    return await this.#ports.fetch(url, request, this.scope.signal);
  };

  readonly http: PluginContext['http'] = {
    routes: (declarations) => declarations.forEach((declaration) => this.#addRoute(declaration)),
  };

  readonly services: PluginContext['services'] = {
    provide: ({ id }, make) => {
      this.#open(`services.provide ${id}`);
      if (!names(this.#manifest.provides, id)) {
        throw errors.service_not_offered({ plugin: this.id, service: id });
      }
      this.#promised.push({ id, make });
    },
    use: <T extends object>({ id }: ServiceToken<T>): T => {
      this.#open(`services.use ${id}`);
      if (!names(this.#manifest.requires, id)) {
        throw errors.service_not_required({ plugin: this.id, service: id });
      }
      return serviceHandle<T>(this.#registry, id);
    },
    maybe: <T extends object>({ id }: ServiceToken<T>): Handle<T> => {
      this.#open(`services.maybe ${id}`);
      const { optional, requires } = this.#manifest;
      if (!names([...optional, ...requires], id)) {
        throw errors.service_not_named({ plugin: this.id, service: id });
      }
      return optionalHandle<T>(this.#registry, id, this.#own);
    },
  };

  readonly events: PluginContext['events'] = {
    on: ({ id }, listener) =>
      this.#draft.add('subscriptions', `${this.id}/${id}/${this.#subscriptions++}`, {
        type: id,
        listener: listener as (event: unknown) => void,
      }),
    emit: ({ id }, event) => {
      this.#open(`events.emit ${id}`);
      if (!this.#draft.generation.committed) {
        throw errors.emitted_early({ plugin: this.id, event: id });
      }
      this.#ports.emit(id, event);
    },
  };

  readonly extend: PluginContext['extend'] = {
    contribute: ({ id: point }, id, value) =>
      this.#draft.add('contributions', `${point}/${id}`, { point, id, value }),
    open: <T>(point: ExtensionPoint<T>, checks?: PackChecks) => {
      const { id, packs } = point;
      const checked = packs ? { ...point, packs: { ...packs, ...checks } } : point;
      this.#draft.add('points', id, checked);
      return openPoint(checked, {
        registry: this.#registry,
        schemas: this.#ports.schemas,
        pluginId: this.id,
        own: this.#own,
        log: this.log,
        charge: this.#charge,
      });
    },
    live: (label) => {
      this.#open(`extend.live ${label}`);
      return new DraftLiveSet(this.#draft, this.#registry, label, this.#own);
    },
  };

  readonly skills: PluginContext['skills'] = {
    add: (skill) => this.#draft.add('skills', skill.key, skill),
  };

  readonly health: PluginContext['health'] = {
    check: (label, probe) => this.#draft.add('checks', `${this.id}/${label}`, { label, probe }),
  };

  get #manifest() {
    return this.#draft.generation.manifest;
  }

  #open(what: string): void {
    this.#draft.generation.scope.assertOpen(what);
  }

  /** Adds a route that stands under a mount of the manifest, and is protected by one of its actions. */
  #addRoute(declaration: RouteDeclaration): void {
    const { mounts, actions } = this.#manifest;
    const { path, access } = declaration;
    const key = this.#ports.checkRoute(declaration);
    if (!mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))) {
      throw errors.route_outside_mounts({ plugin: this.id, path });
    }
    const action = typeof access === 'object' ? access.action : access;
    const named = action === 'webshell' || action.includes(':');
    if (named && !Object.hasOwn(actions, action)) {
      throw errors.action_undeclared({ plugin: this.id, path, action });
    }
    this.#draft.add('routes', key, declaration);
  }
}

const names = (list: readonly { readonly service: string }[], id: string): boolean =>
  list.some(({ service }) => service === id);
