import {
  type Draft,
  Generation,
  type Outage,
  OwnedScope,
  type ScopeRunner,
  withPin,
} from '../registry/index.ts';
import { isSvcError, messageOf, type PluginDefinition, type PluginManifest } from '../sdk/index.ts';
import { activate, type Activated, within } from './activate.ts';
import {
  type Charge,
  chargeFaults,
  chargeMisfits,
  checkContributions,
  type Keeper,
} from './context/extension-point.ts';
import { compile, type Compiled } from './code/compile.ts';
import { evaluate } from './code/evaluate.ts';
import { packLoader } from './plan.ts';
import type { HostPorts } from './context/ports.ts';
import type { Attempt, PluginRecord, Stage } from './record.ts';
import { lentTo } from './code/shared.ts';
import { verifyHeld } from './folder/held-files.ts';
import { migrationsOf } from './folder/migrations-of.ts';
import { verifyIntegrity } from './folder/verify-integrity.ts';

/** Dependencies of raising a generation. */
export interface Raising {
  readonly ports: HostPorts;
  runnerOf(generation: () => Generation): ScopeRunner;
  outagesWithout(id: string): readonly Outage[];
  readonly keeper: Keeper;
  /** An error on the generation's account. */
  stumbled(generation: Generation, label: string, error: unknown): void;
  packFailed(generation: Generation, cause: string): void;
}

/** A generation that serves. */
export interface Raised {
  readonly attempt: Attempt;
  readonly compiled: Compiled | undefined;
  /** Undefined when the attempt failed. */
  readonly draft: Draft | undefined;
}

/**
 * Creates the error handler outside of `raise`: what lives as long as the generation would retain
 * all its variables, including the plugin's text.
 */
const stumblingOf =
  (host: Raising, generation: Generation) =>
  (label: string, error: unknown): void =>
    host.stumbled(generation, label, error);

/**
 * Walks one plugin through the stages, from its files to a serving generation. Until `commit` a failure leaves
 * no trace; a failing `start` brings the previous generation back.
 */
export async function raise(
  record: PluginRecord,
  manifest: PluginManifest,
  host: Raising,
): Promise<Raised> {
  const { ports } = host;
  const previous = record.draft;
  const watch = stopwatch(ports);
  const generation = createGeneration(manifest, (record.generations += 1), host);
  let compiled: Compiled | undefined;
  let committed = false;
  try {
    await watch.run('integrity', () => {
      verifyHeld(record.folder, ports.memory.held(manifest.id));
      verifyIntegrity(record.folder, manifest);
    });
    compiled = await watch.run('compile', () => compileEntry(record, manifest, ports));
    const definition = await watch.run('evaluate', () =>
      define(record, manifest, compiled, host, generation),
    );
    await watch.run('migrate', () => migrate(record, manifest, ports));
    const activated: Activated = await watch.run('activate', () =>
      activate(
        definition,
        generation,
        record.folder,
        ports,
        {
          programs: compiled?.threads ?? new Map(),
          stumbled: stumblingOf(host, generation),
        },
        (contributor, label, error) => host.stumbled(contributor, label, error),
      ),
    );
    await watch.run('self-test', () => selfTest(definition, activated));
    await watch.run('commit', () => commit(activated.draft, host));
    committed = true;
    const charge: Charge = (contributor, label, error) => host.stumbled(contributor, label, error);
    const { tables } = activated.draft;
    chargeMisfits(tables.points.values(), ports.registry.current, ports.schemas, charge);
    void chargeFaults(tables, ports.registry.current, charge).catch((error: unknown) =>
      ports
        .log('host')
        .warn({ event: 'host.contributions_unchecked', error }, 'failed to check contributions'),
    );
    await watch.run('start', () => start(definition, activated, previous !== undefined));
    return { attempt: watch.attempt(generation.number, true), compiled, draft: activated.draft };
  } catch (error) {
    if (committed) {
      ports.registry.publish(previous ? { add: [previous] } : { remove: [manifest.id] });
    }
    const leftovers = await generation.scope.close();
    const cause = [
      messageOf(error),
      ...leftovers.map((failure) => `and ${failure.label} could not be undone: ${failure.cause}`),
    ].join('; ');
    const kept = previous ? `; generation ${previous.generation.number} keeps running` : '';
    // One that is tried again and again says it once.
    ports
      .log('host')
      [record.cause === cause ? 'debug' : 'warn'](
        { event: 'host.plugin_failed', plugin: manifest.id, stage: watch.stage, error },
        `failed to start ${manifest.id}: ${cause}${kept}`,
      );
    const attempt = watch.attempt(generation.number, false, cause);
    return { attempt: { ...attempt, passing: mayPass(error) }, compiled, draft: undefined };
  }
}

/** True for what neither code nor data of the plugin has to change for: a call of the system that failed, or a part that is not available. */
const mayPass = (error: unknown): boolean =>
  (isSvcError(error) && error.code === 'unavailable') ||
  (error instanceof Error && ('syscall' in error || mayPass(error.cause)));

function createGeneration(manifest: PluginManifest, number: number, host: Raising): Generation {
  const generation: Generation = new Generation(
    manifest,
    number,
    new OwnedScope(
      `${manifest.id}#${number}`,
      host.runnerOf(() => generation),
    ),
  );
  return generation;
}

async function compileEntry(
  record: PluginRecord,
  manifest: PluginManifest,
  ports: HostPorts,
): Promise<Compiled | undefined> {
  const { entry } = manifest;
  return entry === undefined
    ? undefined
    : await compile(record.folder, { ...manifest, entry }, ports.bundler);
}

async function define(
  record: PluginRecord,
  manifest: PluginManifest,
  compiled: Compiled | undefined,
  host: Raising,
  generation: Generation,
): Promise<PluginDefinition<unknown>> {
  if (!compiled) {
    return { activate: () => undefined };
  }
  if (manifest.kind === 'pack') {
    return packLoader(host.ports.registry.current)!.load({
      manifest,
      code: compiled.code,
      files: record.folder,
      stumbled(cause) {
        host.ports.packRestarted(manifest.id);
        host.stumbled(generation, 'pack process', cause);
      },
      failed: (cause) => host.packFailed(generation, cause),
    });
  }
  const { bundler, shared } = host.ports;
  // A source map is found by the name of the file: each generation has its own, or a stack would be read with the map of another.
  const filename =
    generation.number === 1 ? compiled.filename : `${compiled.filename}#${generation.number}`;
  const code = bundler?.withoutMap(compiled.code, filename) ?? compiled.code;
  return evaluate(
    manifest,
    { code, filename, functionOf: bundler?.functionOf },
    await lentTo(code, shared),
    generation.scope,
  );
}

/** Applies migrations; those of a pack are for a database of its own. */
async function migrate(
  record: PluginRecord,
  manifest: PluginManifest,
  ports: HostPorts,
): Promise<void> {
  if (manifest.kind === 'pack') {
    return;
  }
  const migrations = migrationsOf(record.folder);
  if (migrations.length > 0 || manifest.sealed.length > 0) {
    await ports.migrate(manifest, migrations);
  }
}

/** Runs stages and remembers which one it is in and what each one cost. */
function stopwatch({ clock }: HostPorts) {
  const at = clock.now();
  const timings: Partial<Record<Stage, number>> = {};
  let current: Stage = 'integrity';
  return {
    get stage() {
      return current;
    },
    async run<T>(stage: Stage, work: () => T | Promise<T>): Promise<T> {
      current = stage;
      const began = clock.monotonic();
      try {
        return await work();
      } finally {
        timings[stage] = Math.round((clock.monotonic() - began) * 100) / 100;
      }
    },
    attempt: (generation: number, ok: boolean, cause?: string): Attempt => ({
      at,
      generation,
      ok,
      stage: ok ? undefined : current,
      cause,
      timings,
    }),
  };
}

/** The plugin's own veto, while the old generation still serves. */
async function selfTest(
  definition: PluginDefinition<unknown>,
  { draft, ctx, made }: Activated,
): Promise<void> {
  const { generation } = draft;
  if (definition.selfTest) {
    await withPin({ snapshot: undefined, owner: generation }, () =>
      within(generation.manifest.limits.activate_ms, `selfTest() of ${generation.pluginId}`, () =>
        definition.selfTest?.(ctx, made),
      ),
    );
  }
}

/** Makes a draft visible in one synchronous step; a conflict throws and leaves the old snapshot. */
function commit(draft: Draft, { ports, keeper, outagesWithout }: Raising): void {
  const { registry, schemas } = ports;
  checkContributions(draft.tables.contributions.values(), registry.current, schemas, keeper);
  registry.publish({ add: [draft], outages: outagesWithout(draft.generation.pluginId) });
  draft.generation.committed = true;
}

/**
 * Lets the committed generation begin: its timers and threads run, then its own start(). One that replaces another must
 * have its threads open, or the other comes back; at boot nobody waits for them.
 */
async function start(
  definition: PluginDefinition<unknown>,
  { draft, ctx, threads, made }: Activated,
  replaces: boolean,
): Promise<void> {
  const { generation } = draft;
  const { activate_ms: ms } = generation.manifest.limits;
  generation.scope.arm();
  if (replaces) {
    await threads.opened(ms);
  }
  if (definition.start) {
    await withPin({ snapshot: undefined, owner: generation }, () =>
      within(ms, `start() of ${generation.pluginId}`, () => definition.start?.(ctx, made)),
    );
  }
}
