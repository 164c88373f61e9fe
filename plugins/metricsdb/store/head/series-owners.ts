import { accountOf } from 'svc/store';

import { widened } from '../columns/late-samples.ts';

/** Owner of series whose sender is unknown, such as those from a log of an earlier version. */
export const nobody = 0;

/** Sender of what svc and its plugins write. */
export const ownSender = 'svc';

/** Max senders that are told apart; later ones share the account of nobody. */
const maxSenders = 100_000;

/** A sender, and what the series that it sends take of the limits of the head. */
export interface Holding {
  readonly sender: string;
  readonly series: number;
  readonly labelBytes: number;
}

/** All senders of one account, and what their series take together. */
export interface AccountHolding {
  readonly account: string;
  /** Number of its senders, of which some may have no series. */
  senders: number;
  series: number;
  labelBytes: number;
}

/**
 * Senders of the series of the head. A series belongs to whoever sent it first since the last cut,
 * so that it follows its sender to another token, and two senders of one series do not pass it to
 * and fro.
 */
export class SeriesOwners {
  readonly #senders: string[] = [''];
  readonly #numbers = new Map<string, number>([['', nobody]]);
  readonly #series: number[] = [0];
  readonly #labelBytes: number[] = [0];
  /** Account of each sender, by its number. */
  readonly #accounts: AccountHolding[] = [newAccount('')];
  readonly #accountOf = new Map<string, AccountHolding>();
  #owners = new Uint32Array(1_024);
  #weights = new Uint32Array(1_024);
  /** Series by owner of metrics that have so many that it matters whose they are. */
  readonly #ofMetrics = new Map<string, Map<number, number>>();

  /** Number of a sender, by which series belong to it. */
  number(sender: string): number {
    const known = this.#numbers.get(sender);
    if (known !== undefined || this.#senders.length >= maxSenders) {
      return known ?? nobody;
    }
    const number = this.#senders.push(sender) - 1;
    this.#numbers.set(sender, number);
    this.#series.push(0);
    this.#labelBytes.push(0);
    const name = accountOf(sender);
    const account = this.#accountOf.get(name) ?? newAccount(name);
    this.#accountOf.set(name, account);
    account.senders++;
    this.#accounts.push(account);
    return number;
  }

  sender(owner: number): string {
    return this.#senders[owner]!;
  }

  of(slot: number): number {
    return this.#owners[slot]!;
  }

  accountOf(owner: number): Readonly<AccountHolding> {
    return this.#accounts[owner]!;
  }

  /** Accounts of several senders, those with most series first. */
  accounts(): Readonly<AccountHolding>[] {
    return [...this.#accountOf.values()]
      .filter(({ senders, series }) => senders > 1 && series > 0)
      .sort((a, b) => b.series - a.series);
  }

  seriesOf(owner: number): number {
    return this.#series[owner]!;
  }

  labelBytesOf(owner: number): number {
    return this.#labelBytes[owner]!;
  }

  /** Number of series of one metric that belong to an owner; `slots` are those of the metric. */
  ofMetric(owner: number, metric: string, slots: readonly number[]): number {
    let counts = this.#ofMetrics.get(metric);
    if (counts === undefined) {
      counts = new Map<number, number>();
      for (const slot of slots) {
        const one = this.#owners[slot]!;
        counts.set(one, (counts.get(one) ?? 0) + 1);
      }
      this.#ofMetrics.set(metric, counts);
    }
    return counts.get(owner) ?? 0;
  }

  /** Puts a new series on the account of its sender. */
  add(slot: number, owner: number, metric: string, weight: number): void {
    if (slot >= this.#owners.length) {
      this.#owners = widened(this.#owners, new Uint32Array(slot * 2));
      this.#weights = widened(this.#weights, new Uint32Array(slot * 2));
    }
    this.#owners[slot] = owner;
    this.#weights[slot] = weight;
    this.#count(owner, 1, weight);
    const counts = this.#ofMetrics.get(metric);
    counts?.set(owner, (counts.get(owner) ?? 0) + 1);
  }

  /** Moves a series to the account of another sender. */
  give(slot: number, owner: number): void {
    const before = this.#owners[slot]!;
    if (owner !== before && owner !== nobody) {
      this.#remove(slot);
      this.#owners[slot] = owner;
      this.#count(owner, 1, this.#weights[slot]!);
      this.#ofMetrics.clear();
    }
  }

  /** Takes series that end off their accounts. */
  remove(slots: Iterable<number>): void {
    for (const slot of slots) {
      this.#remove(slot);
      this.#owners[slot] = nobody;
    }
    this.#ofMetrics.clear();
  }

  /** Senders that have series, those with most first. */
  holdings(): Holding[] {
    return this.#series
      .map((series, owner) => ({
        sender: this.#senders[owner]!,
        series,
        labelBytes: this.#labelBytes[owner]!,
      }))
      .filter(({ series }) => series > 0)
      .sort((a, b) => b.series - a.series);
  }

  #remove(slot: number): void {
    this.#count(this.#owners[slot]!, -1, -this.#weights[slot]!);
  }

  #count(owner: number, series: 1 | -1, labelBytes: number): void {
    this.#series[owner]! += series;
    this.#labelBytes[owner]! += labelBytes;
    const account = this.#accounts[owner]!;
    account.series += series;
    account.labelBytes += labelBytes;
  }
}

const newAccount = (account: string): AccountHolding => ({
  account,
  senders: 0,
  series: 0,
  labelBytes: 0,
});
