import { type Draft, withPin } from '../../registry/index.ts';
import {
  type HealthReport,
  type ThreadHandle,
  type ThreadOptions,
  withDeadline,
} from '../../sdk/index.ts';
import { threadName, type ThreadProgram, type ThreadPrograms } from '../code/compile.ts';
import { errors } from './errors.ts';
import type { HostPorts, PluginThread } from './ports.ts';

/** Supply of a generation's threads, with the owner of their errors. */
export interface ThreadSupply {
  readonly programs: ThreadPrograms;
  stumbled(label: string, error: unknown): void;
}

const usualHeapMb = 512;
const longestHeapMb = 16_384;
/** Time beyond its closing time, for a thread that has to be ended. */
const endMs = 5_000;

/** The threads that one generation has declared. */
export class PluginThreads {
  readonly #draft: Draft;
  readonly #ports: HostPorts;
  readonly #supply: ThreadSupply;
  readonly #threads = new Map<string, PluginThread>();

  constructor(draft: Draft, ports: HostPorts, supply: ThreadSupply) {
    this.#draft = draft;
    this.#ports = ports;
    this.#supply = supply;
  }

  /** The text of a worker file, for a plugin that runs it elsewhere. */
  text(entry: string): string {
    return this.#program(entry).code;
  }

  start(
    name: string,
    entry: string,
    data: unknown,
    { heapMb = usualHeapMb, idleMs }: ThreadOptions = {},
  ): ThreadHandle {
    const { pluginId, manifest, scope } = this.#draft.generation;
    requireFit(pluginId, name, heapMb);
    const program = this.#program(entry);
    const label = `thread ${name}`;
    // First, because it refuses what comes after activate().
    this.#draft.add('checks', `${pluginId}/${label}`, {
      label: `${label} of ${pluginId}`,
      probe: () => healthOf(this.#threads.get(name)!),
    });
    const thread = this.#ports.launchThread({
      manifest,
      name,
      ...program,
      code: this.#ports.bundler?.withoutMap(program.code, program.filename) ?? program.code,
      data,
      heapMb,
      idleMs,
      onStumble: (cause) => this.#supply.stumbled(label, `${label} ${cause}`),
      deliver: (work) => this.#deliver(label, work),
    });
    this.#threads.set(name, thread);
    scope.occupy(
      () => `${label}: ${thread.state}${thread.cause === undefined ? '' : ` (${thread.cause})`}`,
      {
        begin: () => thread.begin(),
        end: () => thread.release(),
        endMs: manifest.limits.drain_ms + endMs,
      },
    );
    return Object.freeze({
      get state() {
        return thread.state;
      },
      call: thread.call.bind(thread),
      onNotice: thread.onNotice.bind(thread),
    } satisfies ThreadHandle);
  }

  /** Waits until every thread has opened once, no longer than `ms`; throws when one ended instead. */
  async opened(ms: number): Promise<void> {
    await withDeadline<unknown>(
      Promise.all([...this.#threads.values()].map(({ ready }) => ready)),
      ms,
      () => undefined,
    );
  }

  #program(entry: string): ThreadProgram {
    const { pluginId } = this.#draft.generation;
    const program = this.#supply.programs.get(threadName(entry));
    if (!program) {
      const others = [...this.#supply.programs.keys()].map((known) => `${known}.ts`);
      throw errors.no_worker({
        plugin: pluginId,
        entry,
        others: others.length > 0 ? `; there is ${others.join(', ')}.` : '.',
      });
    }
    return program;
  }

  #deliver(label: string, work: () => void): void {
    try {
      withPin({ snapshot: undefined, owner: this.#draft.generation }, work);
    } catch (error) {
      this.#supply.stumbled(`notice of ${label}`, error);
    }
  }
}

function requireFit(pluginId: string, name: string, heapMb: number): void {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw errors.thread_name({ plugin: pluginId, name });
  }
  if (!Number.isInteger(heapMb) || heapMb < 16 || heapMb > longestHeapMb) {
    throw errors.thread_heap({ plugin: pluginId, name, heap: heapMb, max: longestHeapMb });
  }
}

/** A thread that is on its way is well, one that had to be started again is not until it is open. */
function healthOf({ state, cause }: PluginThread): HealthReport {
  return cause === undefined
    ? { ok: true, detail: state }
    : { ok: false, detail: `${state}: it ${cause}` };
}
