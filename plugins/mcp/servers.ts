import { type Clock, type Logger, messageOf, type PluginContext, type SkillClass, SvcError, timestamp } from 'svc/sdk';

import type { Tool, ToolSource } from '../skill/contract.ts';
import { McpClient } from './client.ts';

/** As the settings have it. */
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
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

export interface ServerStatus {
  readonly name: string;
  readonly url: string;
  readonly state: 'pending' | 'ok' | 'failed' | 'disabled';
  readonly error: string | null;
  readonly tools: number;
  readonly checked_at: string | null;
}

interface Known {
  readonly client: McpClient;
  readonly tools: readonly Tool[];
  /** As the server calls them, by key. */
  readonly names: ReadonlyMap<string, string>;
  readonly state: 'ok' | 'failed';
  readonly error: string | undefined;
  readonly at: number;
}

/** The tools of other MCP servers: asked for in the background, kept while a server is away, dangerous until an admin says otherwise. */
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

  /** One round over all servers; one that fails keeps its tools and says why. */
  async refresh(signal: AbortSignal): Promise<void> {
    const entries = this.#parts.entries().filter(({ enabled }) => enabled !== false);
    const names = new Set(entries.map(({ name }) => name));
    for (const name of this.#known.keys()) {
      if (!names.has(name)) {
        this.#known.delete(name);
      }
    }
    await Promise.all(entries.map((entry) => this.#refreshOne(entry, signal)));
    const list = [...this.#known.values()].flatMap(({ tools }) => tools);
    if (JSON.stringify(list) !== JSON.stringify(this.#list)) {
      this.#list = list;
      this.#listeners.forEach((listener) => listener());
    }
  }

  async run(key: string, params: Readonly<Record<string, unknown>>, { timeoutMs, signal }: Parameters<ToolSource['run']>[2]): Promise<unknown> {
    const known = [...this.#known.values()].find(({ names }) => names.has(key));
    if (known === undefined) {
      throw new SvcError('unavailable', `no server in mcp.servers brings ${key} any more`, { reason: 'mcp.server_gone' });
    }
    return known.client.callTool(known.names.get(key)!, params, timeoutMs, signal);
  }

  /** For the page of servers. */
  status(): readonly ServerStatus[] {
    return this.#parts.entries().map(({ name, url, enabled }) => {
      const known = this.#known.get(name);
      const state = enabled === false ? 'disabled' : (known?.state ?? 'pending');
      return { name, url, state, error: known?.error ?? null, tools: known?.tools.length ?? 0, checked_at: known === undefined ? null : timestamp(known.at) };
    });
  }

  async #refreshOne(entry: ServerEntry, signal: AbortSignal): Promise<void> {
    const { fetch, tokens, version, clock, log } = this.#parts;
    const before = this.#known.get(entry.name);
    const client = new McpClient(fetch, { ...entry, token: tokens()[entry.name] }, version);
    try {
      const found = await client.tools(signal);
      const names = new Map(found.map(({ name }) => [keyOf(entry, name), name]));
      const tools = found.map((tool): Tool => ({
        key: keyOf(entry, tool.name),
        name: tool.title,
        description: tool.description,
        scope: 'manager',
        class: entry.classes?.[tool.name] ?? 'dangerous',
        tier: 'specialty',
        schema: tool.schema,
        source: `mcp:${entry.name}`,
        trust: 'untrusted',
      }));
      this.#known.set(entry.name, { client, tools, names, state: 'ok', error: undefined, at: clock.now() });
    } catch (error) {
      const message = messageOf(error);
      this.#known.set(entry.name, { client, tools: before?.tools ?? [], names: before?.names ?? new Map(), state: 'failed', error: message, at: clock.now() });
      if (before?.error !== message) {
        log.warn({ event: 'mcp.tools_not_listed', server: entry.name, cause: message }, 'tools of an MCP server not listed; tried again');
      }
    }
  }
}

/** A key stands in paths, where a slash cannot. */
const keyOf = ({ name }: ServerEntry, tool: string): string => `mcp:${name}:${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
