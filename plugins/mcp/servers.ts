import type { Tool, ToolSource } from 'svc/contracts/skill';
import {
  type Clock,
  type Logger,
  messageOf,
  type PluginContext,
  type SkillClass,
  timestamp,
} from 'svc/sdk';

import { McpClient, type RemoteTool } from './client.ts';
import { errors } from './errors.ts';
import type { Judged, SeenTools } from './seen-tools.ts';

/** Server as configured. */
export interface ServerEntry {
  readonly name: string;
  readonly url: string;
  readonly enabled?: boolean;
  readonly classes?: Readonly<Record<string, SkillClass>>;
}

export interface ServersParts {
  readonly fetch: PluginContext['fetch'];
  readonly entries: () => readonly ServerEntry[];
  readonly tokens: () => Readonly<Record<string, string>>;
  readonly seen: SeenTools;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

/** Classified tool whose declaration has changed: what an administrator would accept. */
export interface ChangedTool {
  readonly tool: string;
  readonly digest: string;
  readonly title: string;
  readonly description: string;
  readonly schema: RemoteTool['schema'];
}

export interface ServerStatus {
  readonly name: string;
  readonly url: string;
  readonly state: 'pending' | 'ok' | 'failed' | 'disabled';
  readonly error: string | null;
  readonly tools: number;
  readonly changed: readonly ChangedTool[];
  readonly checked_at: string | null;
}

interface Known {
  readonly client: McpClient;
  readonly tools: readonly Tool[];
  /** Names that the server uses, by key. */
  readonly names: ReadonlyMap<string, string>;
  readonly changed: readonly ChangedTool[];
  readonly left: readonly string[];
  readonly state: 'ok' | 'failed';
  readonly error: string | undefined;
  readonly at: number;
  /** Failures since it last answered. */
  readonly failures: number;
}

/** Delay before a server that failed is looked at again; doubled with each failure. */
const firstRetryMs = 5_000;
const lastRetryMs = 5 * 60_000;
const freshMs = 10_000;
const lookMs = 5_000;

/** Longer ones would crowd everything else out of a prompt. */
const longestSchema = 32 * 1_024;

/**
 * Tools of other MCP servers: fetched in the background, kept while a server is down, dangerous
 * until an admin decides otherwise.
 */
export class McpServers implements ToolSource {
  readonly #parts: ServersParts;
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Set<() => void>();
  #list: readonly Tool[] = [];

  constructor(parts: ServersParts) {
    this.#parts = parts;
  }

  list(): readonly Tool[] {
    return this.#list;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refreshes all servers; one that fails keeps its tools and reports why. */
  async refresh(signal: AbortSignal): Promise<void> {
    const entries = this.#parts.entries().filter(({ enabled }) => enabled !== false);
    const names = new Set(entries.map(({ name }) => name));
    for (const name of this.#known.keys()) {
      if (!names.has(name)) {
        this.#known.delete(name);
      }
    }
    await this.#parts.seen.forgetAllBut(this.#parts.entries().map(({ name }) => name));
    // Each at once: a server that hangs holds up no tools of another.
    await Promise.all(
      entries.map((entry) => this.#refreshOne(entry, signal).finally(() => this.#publish())),
    );
    this.#publish();
  }

  /** Looks again at servers that failed, each after a delay that grows with its failures. */
  async retryFailed(signal: AbortSignal): Promise<void> {
    const now = this.#parts.clock.now();
    const due = this.#parts.entries().filter(({ name, enabled }) => {
      const { state, failures = 0, at = 0 } = this.#known.get(name) ?? {};
      const delay = Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1));
      return enabled !== false && state === 'failed' && now - at >= delay;
    });
    await Promise.all(due.map((entry) => this.#refreshOne(entry, signal)));
    if (due.length > 0) {
      this.#publish();
    }
  }

  #publish(): void {
    const list = [...this.#known.values()].flatMap(({ tools }) => tools);
    if (JSON.stringify(list) !== JSON.stringify(this.#list)) {
      this.#list = list;
      this.#listeners.forEach((listener) => listener());
    }
  }

  async run(
    key: string,
    params: Readonly<Record<string, unknown>>,
    { timeoutMs, signal }: Parameters<ToolSource['run']>[2],
  ): Promise<unknown> {
    const [name, known] = await this.#asClassed(key, signal);
    return known.client.callTool(name, params, timeoutMs, signal);
  }

  /** Checks again before a call: the class that admitted it holds for the tool as it was listed. */
  async #asClassed(
    key: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly [name: string, known: Known]> {
    const find = () => [...this.#known].find(([, { names }]) => names.has(key));
    const classOf = (known: Known | undefined) =>
      known?.tools.find((tool) => tool.key === key)?.class;
    const [server, before] = find() ?? [];
    const entry = this.#parts.entries().find(({ name }) => name === server);
    if (
      before !== undefined &&
      entry !== undefined &&
      this.#parts.clock.now() - before.at > freshMs
    ) {
      await this.#refreshOne(
        entry,
        AbortSignal.any([AbortSignal.timeout(lookMs), ...(signal ? [signal] : [])]),
      );
      this.#publish();
    }
    const known = find()?.[1];
    if (known === undefined) {
      throw errors.server_gone({ key });
    }
    if (classOf(known) !== classOf(before)) {
      throw errors.changed_before_call({ key, server: `${server}` });
    }
    return [known.names.get(key)!, known];
  }

  /** Returns the status of servers, for their page. */
  status(): readonly ServerStatus[] {
    return this.#parts.entries().map(({ name, url, enabled }) => {
      const known = this.#known.get(name);
      const state = enabled === false ? 'disabled' : (known?.state ?? 'pending');
      return {
        name,
        url,
        state,
        error: known?.error ?? null,
        tools: known?.tools.length ?? 0,
        changed: known?.changed ?? [],
        checked_at: known === undefined ? null : timestamp(known.at),
      };
    });
  }

  /**
   * Accepts changed tools that an administrator has reviewed: their classes hold for what was
   * reviewed, if that is still current.
   */
  async accept(
    name: string,
    tools: readonly Pick<ChangedTool, 'tool' | 'digest'>[],
    signal: AbortSignal,
  ): Promise<ServerStatus> {
    const status = (): ServerStatus | undefined => this.status().find((one) => one.name === name);
    if (status() === undefined) {
      throw errors.no_server({ name });
    }
    const changed = new Map(status()?.changed.map(({ tool, digest }) => [tool, digest]));
    const other = tools.find(({ tool, digest }) => changed.get(tool) !== digest);
    if (other !== undefined) {
      const why = changed.has(other.tool)
        ? 'has another description or schema than the one with this digest'
        : 'is not among the changed tools';
      throw errors.not_as_shown({ name, tool: other.tool, why });
    }
    await this.#parts.seen.accept(name, tools);
    // A tool whose declaration has changed by now counts as changed again.
    await this.refresh(signal);
    return status()!;
  }

  async #refreshOne(entry: ServerEntry, signal: AbortSignal): Promise<void> {
    const { fetch, tokens, version, clock, log } = this.#parts;
    const before = this.#known.get(entry.name);
    const client = new McpClient(fetch, { ...entry, token: tokens()[entry.name] }, version);
    try {
      const listed = await client.tools(signal);
      const found = distinct(
        entry,
        listed.filter(({ schema }) => JSON.stringify(schema).length <= longestSchema),
      );
      const kept = new Set([...found.values()]);
      const left = listed.flatMap((tool) => (kept.has(tool) ? [] : [tool.name]));
      const judged = await this.#parts.seen.judge(
        entry.name,
        [...found.values()],
        entry.classes ?? {},
      );
      const changed = [...found.values()].flatMap(({ name, title, description, schema }) => {
        const { changed: isOther, digest } = judged.get(name)!;
        return isOther ? [{ tool: name, digest, title, description, schema }] : [];
      });
      if (left.length > 0 && left.join() !== before?.left.join()) {
        log.warn(
          { event: 'mcp.tools_left_out', server: entry.name, tools: left.slice(0, 20) },
          'skipping tools from an MCP server: schema too long, or key already in use',
        );
      }
      const fresh = changed
        .filter(({ digest }) => before?.changed.some((one) => one.digest === digest) !== true)
        .map(({ tool }) => tool);
      if (fresh.length > 0) {
        log.warn(
          { event: 'mcp.tool_changed', server: entry.name, tools: fresh },
          'tools from an MCP server have changed since they were classified; treating them as dangerous until an administrator accepts them',
        );
      }
      const names = new Map([...found].map(([key, { name }]) => [key, name]));
      const tools = [...found].map(([key, tool]) =>
        toolOf(entry, key, tool, judged.get(tool.name)!),
      );
      this.#known.set(entry.name, {
        client,
        tools,
        names,
        changed,
        left,
        state: 'ok',
        error: undefined,
        at: clock.now(),
        failures: 0,
      });
    } catch (error) {
      const message = messageOf(error);
      const kept = {
        tools: before?.tools ?? [],
        names: before?.names ?? new Map<string, string>(),
        changed: before?.changed ?? [],
        left: before?.left ?? [],
      };
      this.#known.set(entry.name, {
        client,
        ...kept,
        state: 'failed',
        error: message,
        at: clock.now(),
        failures: (before?.failures ?? 0) + 1,
      });
      if (before?.error !== message) {
        log.warn(
          { event: 'mcp.tools_not_listed', server: entry.name, cause: message },
          "failed to list an MCP server's tools; will retry",
        );
      }
    }
  }
}

/**
 * Returns tools by key: if two names map to one key, the first has it, so that a class never
 * applies to another tool.
 */
function distinct(
  entry: ServerEntry,
  found: readonly RemoteTool[],
): ReadonlyMap<string, RemoteTool> {
  const byKey = new Map<string, RemoteTool>();
  for (const tool of found) {
    const key = keyOf(entry, tool.name);
    if (!byKey.has(key)) {
      byKey.set(key, tool);
    }
  }
  return byKey;
}

const toolOf = (
  { name: server }: ServerEntry,
  key: string,
  { title, description, schema }: RemoteTool,
  judged: Judged,
): Tool => ({
  key,
  name: title,
  description,
  schema,
  class: judged.class,
  scope: 'manager',
  tier: 'specialty',
  source: `mcp:${server}`,
  trust: 'untrusted',
});

/** Returns the key of a tool; it occurs in paths, so it has no slash. */
const keyOf = ({ name }: ServerEntry, tool: string): string =>
  `mcp:${name}:${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
