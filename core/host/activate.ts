import type { DependencyContainer } from 'tsyringe';

import { Draft, type Generation, withPin } from '../registry/index.ts';
import {
  type MaybePromise,
  type PluginContext,
  type PluginDefinition,
  withDeadline,
} from '../sdk/index.ts';
import { GenerationContext, type Promised } from './context/context.ts';
import type { Charge } from './context/extension-point.ts';
import { errors } from './errors.ts';
import type { PluginFolder } from './folder/folder.ts';
import { type ThreadSupply, PluginThreads } from './context/plugin-threads.ts';
import type { HostPorts } from './context/ports.ts';

export interface Activated {
  readonly draft: Draft;
  readonly ctx: PluginContext;
  readonly threads: PluginThreads;
  /** Result of activate(), passed to its self-test and start. */
  readonly made: unknown;
}

/** Lets a generation declare itself into a fresh draft; whatever throws, nothing has been published. */
export async function activate(
  definition: PluginDefinition<unknown>,
  generation: Generation,
  folder: PluginFolder,
  ports: HostPorts,
  supply: ThreadSupply,
  charge: Charge,
): Promise<Activated> {
  const { manifest } = generation;
  const draft = new Draft(generation);
  const promised: Promised[] = [];
  const threads = new PluginThreads(draft, ports, supply);
  const ctx = new GenerationContext(draft, ports, promised, threads, charge);
  const made = await withPin({ snapshot: undefined, owner: generation }, () =>
    within(manifest.limits.activate_ms, `activate() of ${manifest.id}`, async () => {
      const result = await definition.activate(ctx);
      await makeServices(promised, draft, ports.container);
      return result;
    }),
  );
  addData(draft, folder);
  draft.addErrors([definition.errors ?? []].flat());
  return { draft: draft.seal(), ctx, threads, made };
}

/**
 * Gives code of a plugin `ms` to finish, and again while the thread was busy with something else; the
 * error names what hung.
 */
export async function within<T>(ms: number, what: string, work: () => MaybePromise<T>): Promise<T> {
  const running = Promise.resolve().then(work);
  const since = performance.eventLoopUtilization();
  const late = (extensions: number): Promise<T> =>
    withDeadline(running, ms, () =>
      extensions > 0 && performance.eventLoopUtilization(since).utilization > 0.5
        ? late(extensions - 1)
        : Promise.reject(errors.plugin_late({ what, ms })),
    );
  return await late(5);
}

/** Each generation has a container of its own, so that one class of accident, a provider made twice, cannot happen. */
async function makeServices(
  promised: readonly Promised[],
  draft: Draft,
  host: DependencyContainer,
): Promise<void> {
  const { manifest, scope, pluginId } = draft.generation;
  const container = host.createChildContainer();
  scope.defer('service container', () => container.dispose());
  for (const { id, make } of promised) {
    if (container.isRegistered(id)) {
      throw errors.provided_twice({ plugin: pluginId, service: id });
    }
    container.registerInstance(id, await make());
  }
  for (const { service, version } of manifest.provides) {
    if (!container.isRegistered(service)) {
      throw errors.not_provided({ plugin: pluginId, service });
    }
    draft.add('services', service, { version, instance: container.resolve<object>(service) });
  }
}

/** Files that are contributions as they are, and to which point. Its owner reads them, so that a broken one breaks nothing else. */
const dataFiles: readonly { readonly form: RegExp; readonly point: string }[] = [
  { form: /^dashboards\/[^/]+\.(?:json|ya?ml)$/, point: 'monitor.dashboards' },
  { form: /^agents\/[^/]+\.md$|^skills\/[^/]+\/SKILL\.md$/, point: 'drop-ins.files' },
];

/** Adds what the folder contributes without code: files for points, static contributions. */
function addData(draft: Draft, folder: PluginFolder): void {
  const { pluginId, manifest } = draft.generation;
  // Only what ships with svc is as trusted as code.
  const ofPack = manifest.kind === 'pack' || folder.origin === 'data';
  for (const file of folder.files()) {
    const point = dataFiles.find(({ form }) => form.test(file))?.point;
    if (point !== undefined) {
      // Two plugins may have files of one name.
      const id = `${pluginId}/${file}`;
      const value = {
        file,
        path: `${folder.path}/${file}`,
        text: folder.read(file)!.toString('utf8'),
        ...(ofPack && { pack: pluginId }),
      };
      draft.add('contributions', `${point}/${id}`, { point, id, value });
    }
  }
  for (const [point, values] of Object.entries(manifest.contributes)) {
    for (const [id, value] of Object.entries(values)) {
      draft.add('contributions', `${point}/${id}`, { point, id, value, ofPack });
    }
  }
}
