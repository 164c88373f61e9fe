import { type Labels, labelsKey } from 'svc/query';
import { accountShareOf } from 'svc/store';

import type { LogLimits } from '../head/limits.ts';
import { nobody } from '../head/stream-owners.ts';
import type { StreamTable } from '../head/stream-table.ts';
import { labelsText } from './label-text.ts';

/** Streams below which the share of a sender counts only if little is free. */
const smallSender = 100;
/** Share of a limit that is little. */
const little = 0.1;

/** Counts the streams that one push would begin. */
export class StreamAdmission {
  readonly #streams: StreamTable;
  readonly #limits: LogLimits;
  readonly #owner: number;
  readonly #idle = new Set<string>();
  readonly #unknown = new Set<string>();
  refused = false;

  /** `owner`: the number of the sender; that of nobody has no limit of its own. */
  constructor(streams: StreamTable, limits: LogLimits, owner: number = nobody) {
    this.#streams = streams;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** Why lines of this stream are not taken. */
  refusal(labels: Labels): string | undefined {
    const stream = this.#streams.find(labels);
    if (stream?.head !== undefined) {
      return undefined;
    }
    const key = labelsKey(labels);
    const reason =
      (this.#idle.has(key) ? undefined : this.#overActive()) ??
      (stream !== undefined || this.#unknown.has(key) ? undefined : this.#overKnown());
    if (reason !== undefined) {
      this.refused = true;
      return `maximum active stream limit exceeded when trying to create stream ${labelsText(labels).slice(0, 500)}: ${reason}, use fewer labels or fewer values`;
    }
    this.#idle.add(key);
    if (stream === undefined) {
      this.#unknown.add(key);
    }
    return undefined;
  }

  #overActive(): string | undefined {
    const { active, owners } = this.#streams;
    const { activeStreams: max } = this.#limits;
    const more = this.#idle.size;
    return active.size + more >= max
      ? `the limit of ${max} active streams is reached`
      : this.#overShare(
          owners.activeOf(this.#owner) + more,
          owners.accountOf(this.#owner).active + more,
          { max, taken: active.size + more, kind: 'active ' },
        );
  }

  #overKnown(): string | undefined {
    const { size, owners } = this.#streams;
    const { knownStreams: max } = this.#limits;
    const more = this.#unknown.size;
    return size + more >= max
      ? `the limit of ${max} streams is reached`
      : this.#overShare(
          owners.knownOf(this.#owner) + more,
          owners.accountOf(this.#owner).known + more,
          { max, taken: size + more, kind: '' },
        );
  }

  /**
   * A share is one of what the sender has and what is free, together: however many senders take all
   * they can get, some is left for the next one, and all senders of one account leave some for those
   * of others.
   */
  #overShare(
    own: number,
    ofAccount: number,
    { max, taken, kind }: { readonly max: number; readonly taken: number; readonly kind: string },
  ): string | undefined {
    const { senderShare: share } = this.#limits;
    const { owners } = this.#streams;
    const free = max - taken;
    const least = free < max * little ? 0 : smallSender;
    const isOver = (count: number, percent: number): boolean =>
      count >= least && count >= (free * percent) / (100 - percent);
    if (this.#owner === nobody || share >= 100) {
      return undefined;
    }
    if (isOver(own, share)) {
      return `this sender (${owners.sender(this.#owner)}) has ${own} ${kind}streams, its share of ${max}`;
    }
    return isOver(ofAccount, accountShareOf(share))
      ? `the senders of ${owners.accountOf(this.#owner).account} have ${ofAccount} ${kind}streams together, the share of one account of ${max}`
      : undefined;
  }
}

/** Limit of streams and how much of it is taken. */
export interface StreamBound {
  readonly limit: 'all' | 'known' | 'sender';
  /** Sender that it is about, or the one with most active streams. */
  readonly sender: string;
  readonly used: number;
  readonly max: number;
}

/** Senders that are looked at. */
const maxNamed = 5;

/** Returns how far the limits of streams are reached: those of all, and those of the largest senders. */
export function streamBounds(
  { active, size, owners }: StreamTable,
  { activeStreams, knownStreams, senderShare }: LogLimits,
): StreamBound[] {
  const holdings = owners.holdings().slice(0, maxNamed);
  const sender = holdings[0]?.sender ?? '';
  const free = Math.max(0, activeStreams - active.size);
  const large = senderShare < 100 ? holdings.filter((one) => one.active >= smallSender) : [];
  return [
    { limit: 'all', sender, used: active.size, max: activeStreams },
    { limit: 'known', sender, used: size, max: knownStreams },
    ...large.map((one): StreamBound => ({
      limit: 'sender',
      sender: one.sender,
      used: one.active,
      max: Math.floor(((one.active + free) * senderShare) / 100),
    })),
  ];
}
