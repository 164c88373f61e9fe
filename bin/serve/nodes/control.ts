import type { Clock, Ids } from '../../../core/sdk/index.ts';
import { errors } from './errors.ts';
import { JoinTokens } from './join-tokens.ts';
import type { NodeCard, NodeRows, NodeSeen } from './rows.ts';

/** A node that was not seen for longer is away. */
const awayMs = 10_000;

interface ControlOptions {
  readonly card: NodeCard;
  readonly rows: NodeRows;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Answers what people ask of the nodes; the plugin `nodes` has the routes. */
export class NodeControl {
  readonly joins: JoinTokens;
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.joins = new JoinTokens(options.clock, options.ids);
  }

  async list(): Promise<readonly object[]> {
    const found = await this.#options.rows.list();
    return found.map(({ isOwner, isDrained, ageMs, ...node }) => ({
      ...node,
      role: isOwner ? 'owner' : 'standby',
      state: ageMs > awayMs ? 'away' : isDrained ? 'drained' : 'ready',
      seen_s: Math.max(0, Math.round(ageMs / 1_000)),
    }));
  }

  token(): { readonly token: string; readonly expires_at: string } {
    const { wire } = this.#options.card;
    if (wire === '') {
      throw errors.no_addr();
    }
    return this.joins.issue(wire);
  }

  /** Lets a node take no traffic and own no data; an owner hands the data over. */
  async drain(id: string): Promise<void> {
    const nodes = await this.#options.rows.list();
    const node = this.#known(nodes, id);
    const canFollow = nodes.some(
      (other) => other.id !== node.id && other.ageMs <= awayMs && !other.isDrained,
    );
    if (node.isOwner && !canFollow) {
      throw errors.no_successor({ id });
    }
    await this.#options.rows.setDrained(node.id, true);
  }

  async resume(id: string): Promise<void> {
    const node = this.#known(await this.#options.rows.list(), id);
    await this.#options.rows.setDrained(node.id, false);
  }

  /** Forgets a node that has ended. */
  async remove(id: string): Promise<void> {
    const node = this.#known(await this.#options.rows.list(), id);
    if (node.ageMs <= awayMs) {
      throw errors.still_there({ id });
    }
    await this.#options.rows.forget(node.id);
  }

  #known(nodes: readonly NodeSeen[], id: string): NodeSeen {
    const node = nodes.find((one) => one.id === id);
    if (node === undefined) {
      throw errors.unknown({ id });
    }
    return node;
  }
}
