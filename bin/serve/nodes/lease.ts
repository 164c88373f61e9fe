import type { Clock } from '../../../core/sdk/index.ts';

/** Owner of the data, as the database knows it. */
export interface Owner {
  readonly node: string;
  readonly epoch: number;
  /** Time until the lease ends by the clock of the database; negative once it has ended. */
  readonly leftMs: number;
  readonly url: string;
  /** Address for other nodes; empty if it listens for none. */
  readonly wire: string;
}

/** The row that says who owns the data. Every time in it is the database's own. */
export interface OwnerRow {
  look(): Promise<Owner>;
  /** Makes this node the owner if the lease has ended and the epoch is still `seen`; returns the new epoch. */
  take(seen: number, leaseMs: number): Promise<number | undefined>;
  /** Prolongs the lease; returns false if another epoch has begun. */
  renew(epoch: number, leaseMs: number): Promise<boolean>;
  /** Ends the lease. */
  release(epoch: number): Promise<void>;
}

interface LeaseOptions {
  readonly row: OwnerRow;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly leaseMs?: number;
}

export const leaseMs = 6_000;
/** Part of a lease for which its owner trusts it, so that a clock which runs a tenth slower than that of the database does no harm. */
const trusted = 0.9;

/**
 * Lease of one node on the data. It counts from the moment in which the request for it was sent, which is before the database
 * counts: so it ends here before anybody else can have it there.
 */
export class Lease {
  readonly #row: OwnerRow;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #leaseMs: number;
  #epoch: number | undefined;
  #until = -Infinity;

  constructor({ row, clock, leaseMs: ms = leaseMs }: LeaseOptions) {
    this.#row = row;
    this.#clock = clock;
    this.#leaseMs = ms;
  }

  /** Epoch in which this node owns the data, as far as it knows. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** Time for which this node may still act as the owner; zero or less if it may not. */
  get leftMs(): number {
    return this.#epoch === undefined ? 0 : this.#until - this.#clock.monotonic();
  }

  get isValid(): boolean {
    return this.leftMs > 0;
  }

  /** Takes the lease if it is free; returns who owns the data otherwise. */
  async take(): Promise<Owner | undefined> {
    const owner = await this.#row.look();
    if (owner.leftMs > 0) {
      return owner;
    }
    const sent = this.#clock.monotonic();
    const epoch = await this.#row.take(owner.epoch, this.#leaseMs);
    if (epoch === undefined) {
      return await this.#row.look();
    }
    this.#epoch = epoch;
    this.#until = sent + this.#leaseMs * trusted;
    return undefined;
  }

  /** Prolongs the lease, also one that has lapsed and that nobody has taken; returns false if it is lost for good. */
  async renew(): Promise<boolean> {
    const epoch = this.#epoch;
    if (epoch === undefined) {
      return false;
    }
    const sent = this.#clock.monotonic();
    const isRenewed = await this.#row.renew(epoch, this.#leaseMs);
    if (this.#epoch !== epoch) {
      // Released meanwhile, which is no loss.
      return true;
    }
    if (isRenewed) {
      this.#until = Math.max(this.#until, sent + this.#leaseMs * trusted);
      return true;
    }
    this.#forget();
    return false;
  }

  async release(): Promise<void> {
    const epoch = this.#epoch;
    this.#forget();
    if (epoch !== undefined) {
      await this.#row.release(epoch);
    }
  }

  #forget(): void {
    this.#epoch = undefined;
    this.#until = -Infinity;
  }
}
