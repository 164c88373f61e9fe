import type { EdgeFleet, FleetSkills } from 'svc/contracts/edge';
import type { Tool, ToolSource } from 'svc/contracts/skill';
import type { OfferedSkill } from 'svc/edge-protocol';
import type { DeviceScope } from 'svc/query';
import { type Handle, type Logger, messageOf, SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { classNamed } from './registry.ts';

export interface EdgeToolParts {
  readonly skills: Handle<FleetSkills>;
  readonly fleet: Handle<EdgeFleet>;
  readonly log: Logger;
  /** Schedules a call of `catchUp` within a second or so. */
  readonly soon: () => void;
}

const listsAtOnce = 20;
const maxAsked = 3;
const severity = ['safe', 'mutating', 'dangerous'] as const;

/** Tools that the edges of the fleet offer, combined, as last reported. */
export class EdgeTools implements ToolSource {
  readonly #parts: EdgeToolParts;
  readonly #offered = new Map<number, readonly OfferedSkill[]>();
  readonly #unlisted = new Set<number>();
  /** Number of consecutive failures to list each edge. */
  readonly #failures = new Map<number, number>();
  readonly #listeners = new Set<() => void>();
  #tools: readonly Tool[] = [];

  constructor(parts: EdgeToolParts) {
    this.#parts = parts;
  }

  list(): readonly Tool[] {
    return this.#tools;
  }

  /** Returns the tools of edges on these devices, described as these edges describe them. */
  listFor({ ids }: DeviceScope): readonly Tool[] {
    const { fleet } = this.#parts;
    const isSeen = (edgeId: number): boolean => {
      const device = fleet.available ? fleet.get().get(edgeId)?.device_id : undefined;
      return typeof device === 'number' && ids.has(device);
    };
    return merged(
      [...this.#offered].flatMap(([edgeId, offered]) => (isSeen(edgeId) ? [offered] : [])),
    );
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes that its tunnel is up: perhaps with another version, or another policy of its owner. */
  note(edgeId: number): void {
    this.#failures.delete(edgeId);
    this.#unlisted.add(edgeId);
    this.#parts.soon();
  }

  noteAll(): void {
    const { fleet } = this.#parts;
    const edges = fleet.available ? fleet.get().list() : [];
    edges.filter(({ status }) => status === 'online').forEach(({ id }) => this.note(id));
  }

  forget(edgeId: number): void {
    this.#unlisted.delete(edgeId);
    this.#failures.delete(edgeId);
    if (this.#offered.delete(edgeId)) {
      this.#rebuild();
    }
  }

  /** Asks some of those that were noted. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { skills } = this.#parts;
    const some = skills.available ? [...this.#unlisted].slice(0, listsAtOnce) : [];
    await Promise.all(some.map((edgeId) => this.#ask(skills.get(), edgeId, signal)));
    if (some.length > 0) {
      this.#rebuild();
      if (this.#unlisted.size > 0) {
        this.#parts.soon();
      }
    }
  }

  async run(
    key: string,
    params: Readonly<Record<string, unknown>>,
    call: Parameters<ToolSource['run']>[2],
  ): Promise<unknown> {
    const { skills } = this.#parts;
    if (call.edge_id === undefined || !skills.available) {
      throw errors.no_edge({ key });
    }
    const { principal, timeoutMs, signal, idempotencyKey, approval } = call;
    const answer = await skills.get().execute(call.edge_id, key, params, {
      principal,
      timeoutMs,
      signal,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(approval !== undefined && { approval }),
    });
    if (answer.status === 'timeout') {
      throw new SvcError(
        'unavailable',
        answer.error?.message ?? `${key} ran out of time on the edge`,
        { reason: 'skill.edge_timeout' },
      );
    }
    if (answer.status === 'error') {
      throw errors.edge_failed({ cause: answer.error?.message ?? `${key} failed on the edge` });
    }
    return answer.truncated
      ? { result: answer.result, truncated: true, read_on: answer.read_on }
      : answer.result;
  }

  async #ask(skills: FleetSkills, edgeId: number, signal: AbortSignal): Promise<void> {
    this.#unlisted.delete(edgeId);
    try {
      this.#offered.set(edgeId, await skills.list(edgeId, signal));
      this.#failures.delete(edgeId);
    } catch (error) {
      // It is noted again with its next tunnel; until then it is retried a few times.
      const failures = (this.#failures.get(edgeId) ?? 0) + 1;
      this.#failures.set(edgeId, failures);
      if (failures < maxAsked && !signal.aborted) {
        this.#unlisted.add(edgeId);
      }
      this.#parts.log.debug(
        { edge_id: edgeId, cause: messageOf(error) },
        "failed to list an edge's skills",
      );
    }
  }

  #rebuild(): void {
    this.#tools = merged(this.#offered.values());
    this.#listeners.forEach((listener) => listener());
  }
}

function merged(lists: Iterable<readonly OfferedSkill[]>): readonly Tool[] {
  const byKey = new Map<string, Tool>();
  for (const offered of lists) {
    for (const skill of offered) {
      const before = byKey.get(skill.key);
      const tool = toolOf(skill);
      // Where edges differ, the call is judged by the worst of them.
      byKey.set(
        skill.key,
        before && severity.indexOf(before.class) > severity.indexOf(tool.class) ? before : tool,
      );
    }
  }
  return [...byKey.values()];
}

const toolOf = ({ key, name, description, class: kind, tier, schema }: OfferedSkill): Tool => ({
  key,
  name,
  description,
  tier,
  schema,
  class: classNamed(kind),
  scope: 'edge',
  devices: 'narrowed',
  source: 'edge',
  trust: 'untrusted',
});
