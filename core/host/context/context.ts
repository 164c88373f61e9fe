import { type Draft, optionalHandle, serviceHandle, withPin } from '../../registry/index.ts';
import { type PluginContext } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { openPoint } from './extension-point.ts';
import { DraftLiveSet } from './live-set.ts';
import type { PluginThreads } from './plugin-threads.ts';
import type { HostPorts, Own } from './ports.ts';

/** A service that activate() promised; made once the declaring is over. */
export interface Promised {
  readonly id: string;
  readonly make: () => object | Promise<object>;
}

/** The `ctx` of one generation: it can only declare into the draft, and owns the rest through its scope. */
export function createContext(
  draft: Draft,
  ports: HostPorts,
  promised: Promised[],
  threads: PluginThreads,
): PluginContext {
  const { generation } = draft;
  const { manifest, scope, pluginId } = generation;
  const { registry } = ports;
  const own: Own = (label, undo) => scope.defer(label, undo);
  const open = (what: string): void => scope.assertOpen(what);
  let subscriptions = 0;

  const context: PluginContext = {
    id: pluginId,
    version: manifest.version,
    generation: generation.number,
    get dataDir() {
      open('dataDir');
      return ports.dataDir(pluginId);
    },
    log: ports.log(pluginId),
    clock: ports.clock,
    ids: ports.ids,
    scope,
    settings: ports.settings(manifest, own),
    secrets: ports.secrets(manifest),
    metrics: ports.metrics(pluginId, own),
    db: <T>() => {
      open('db');
      return ports.tables<T>(pluginId);
    },
    http: {
      routes(declarations) {
        open('http.routes');
        for (const declaration of declarations) {
          const key = ports.checkRoute(declaration);
          requireMount(manifest.mounts, declaration.path, pluginId);
          requireAction(manifest.actions, declaration.access, declaration.path, pluginId);
          draft.add('routes', key, declaration);
        }
      },
    },
    async fetch(url, request) {
      open('fetch');
      return await ports.fetch(url, request, scope.signal);
    },
    async addressOf(host) {
      open('addressOf');
      return await ports.addressOf(host);
    },
    services: {
      provide(token, make) {
        open(`services.provide ${token.id}`);
        if (!manifest.provides.some((offer) => offer.service === token.id)) {
          throw errors.service_not_offered({ plugin: pluginId, service: token.id });
        }
        promised.push({ id: token.id, make });
      },
      use: (token) => {
        open(`services.use ${token.id}`);
        if (!manifest.requires.some((need) => need.service === token.id)) {
          throw errors.service_not_required({ plugin: pluginId, service: token.id });
        }
        return serviceHandle(registry, token.id);
      },
      maybe: (token) => {
        open(`services.maybe ${token.id}`);
        if (
          ![...manifest.optional, ...manifest.requires].some((need) => need.service === token.id)
        ) {
          throw errors.service_not_named({ plugin: pluginId, service: token.id });
        }
        return optionalHandle(registry, token.id, own);
      },
    },
    events: {
      on(type, listener) {
        open(`events.on ${type.id}`);
        draft.add('subscriptions', `${pluginId}/${type.id}/${subscriptions++}`, {
          type: type.id,
          listener: listener as (event: unknown) => void,
        });
      },
      emit(type, event) {
        open(`events.emit ${type.id}`);
        if (!generation.committed) {
          throw errors.emitted_early({ plugin: pluginId, event: type.id });
        }
        ports.emit(type.id, event);
      },
    },
    extend: {
      contribute(point, id, value) {
        open(`extend.contribute ${point.id}`);
        draft.add('contributions', `${point.id}/${id}`, { point: point.id, id, value });
      },
      open(point) {
        open(`extend.open ${point.id}`);
        draft.add('points', point.id, { point: point.id, schema: point.schema });
        return openPoint(registry, point, ports.schemas, own, ports.log(pluginId));
      },
    },
    threads: {
      start(name, entry, data, options) {
        open(`threads.start ${name}`);
        return threads.start(name, entry, data, options);
      },
      text: (entry) => threads.text(entry),
    },
    skills: {
      add(skill) {
        open(`skills.add ${skill.key}`);
        draft.add('skills', skill.key, skill);
      },
    },
    agents: {
      add(persona) {
        open(`agents.add ${persona.name}`);
        draft.add('personas', persona.name, persona);
      },
    },
    live(label) {
      open(`live ${label}`);
      return new DraftLiveSet(draft, registry, label, own);
    },
    watch(label, roots, onChange) {
      open(`watch ${label}`);
      const { ready, close } = ports.watchFolders({
        roots,
        log: ports.log(pluginId),
        onChange: (paths) =>
          withPin({ snapshot: undefined, owner: generation }, () => onChange(paths)),
      });
      own(`watch ${label}`, close);
      return { ready };
    },
    health: {
      check(label, probe) {
        open(`health.check ${label}`);
        draft.add('checks', `${pluginId}/${label}`, { label, probe });
      },
    },
  };
  return Object.freeze(context);
}

function requireMount(mounts: readonly string[], path: string, pluginId: string): void {
  if (!mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))) {
    throw errors.route_outside_mounts({ plugin: pluginId, path });
  }
}

function requireAction(
  actions: Readonly<Record<string, string>>,
  access: unknown,
  path: string,
  pluginId: string,
): void {
  const action =
    typeof access === 'object' && access !== null
      ? (access as { action: string }).action
      : (access as string);
  const named = action === 'webshell' || action.includes(':');
  if (named && !Object.hasOwn(actions, action)) {
    throw errors.action_undeclared({ plugin: pluginId, path, action });
  }
}
