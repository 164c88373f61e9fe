import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Lease, type Owner, type OwnerRow } from '../../bin/serve/nodes/lease.ts';
import { numbers } from '../drill/seeded.ts';

const leaseMs = 8_000;

/**
 * A world of three nodes and a database, in which time passes only by its own events: clocks that run differently, processes that
 * stand still for any while, messages that take their time or get lost on either way.
 */
class World {
  now = 0;
  readonly #random: () => number;
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  row = { node: '', epoch: 0, until: -1 };
  /** Writes that the database accepted: who, in which epoch, and who owned it then. */
  readonly accepted: { readonly node: string; readonly epoch: number; readonly owner: string }[] =
    [];
  takes = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance = (share: number): boolean => this.#random() < share;
  between = (low: number, high: number): number => low + this.#random() * (high - low);

  at(ms: number, run: () => void): void {
    this.#events.push({ at: this.now + ms, run });
  }

  /** Lets the next thing happen, and then all that follows from it. */
  async step(): Promise<void> {
    this.#events.sort((one, other) => other.at - one.at);
    const next = this.#events.pop();
    if (next !== undefined) {
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    for (let turn = 0; turn < 12; turn++) {
      await Promise.resolve();
    }
  }
}

class SimulatedNode implements OwnerRow {
  readonly id: string;
  readonly lease: Lease;
  readonly #world: World;
  /** How fast its clock runs. */
  readonly #rate: number;
  #stillUntil = 0;

  constructor(id: string, world: World) {
    this.id = id;
    this.#world = world;
    this.#rate = world.between(0.93, 1.07);
    this.lease = new Lease({
      row: this,
      clock: { monotonic: () => world.now * this.#rate + 1_000 },
      leaseMs,
    });
    void this.#live();
  }

  /** It acts on what it believes only while it does not stand still. */
  get acts(): boolean {
    return this.#world.now >= this.#stillUntil && this.lease.isValid;
  }

  look(): Promise<Owner> {
    return this.#ask(() => {
      const { node, epoch, until } = this.#world.row;
      return { node, epoch, leftMs: until - this.#world.now, url: '', wire: '' };
    });
  }

  take(seen: number, ms: number): Promise<number | undefined> {
    return this.#ask(() => {
      const { row, now } = this.#world;
      if (row.epoch !== seen || row.until >= now) {
        return undefined;
      }
      this.#world.takes += 1;
      this.#world.row = { node: this.id, epoch: seen + 1, until: now + ms };
      return seen + 1;
    });
  }

  renew(epoch: number, ms: number): Promise<boolean> {
    return this.#ask(() => {
      const { row, now } = this.#world;
      if (row.epoch !== epoch || row.node !== this.id) {
        return false;
      }
      this.#world.row = { ...row, until: now + ms };
      return true;
    });
  }

  release(epoch: number): Promise<void> {
    return this.#ask(() => {
      const { row } = this.#world;
      if (row.epoch === epoch && row.node === this.id) {
        this.#world.row = { ...row, until: -1 };
      }
    });
  }

  write(): void {
    const { epoch } = this.lease;
    if (epoch === undefined) {
      return;
    }
    // On its way for as long as it likes: the database looks when it arrives.
    this.#world.at(this.#world.between(0, 30_000), () => {
      const { row } = this.#world;
      if (row.epoch === epoch && row.node === this.id) {
        this.#world.accepted.push({ node: this.id, epoch, owner: row.node });
      }
    });
  }

  async #live(): Promise<void> {
    for (;;) {
      try {
        if (this.lease.epoch === undefined) {
          await this.lease.take();
        } else if (this.#world.chance(0.02)) {
          await this.lease.release();
        } else {
          await this.lease.renew();
        }
      } catch {
        // The answer was lost; what was asked may have been done.
      }
      this.write();
      await this.#pause(this.#world.chance(0.1) ? this.#world.between(0, 30_000) : 2_000);
    }
  }

  /** A process that stands still goes on where it stood: also between a question and its answer. */
  #pause(ms: number): Promise<void> {
    if (this.#world.chance(0.05)) {
      this.#stillUntil = this.#world.now + ms + this.#world.between(0, 60_000);
    }
    return new Promise((resolve) => this.#wake(ms, resolve));
  }

  #wake(ms: number, run: () => void): void {
    this.#world.at(ms, () => {
      const left = this.#stillUntil - this.#world.now;
      if (left > 0) {
        this.#wake(left, run);
      } else {
        run();
      }
    });
  }

  #ask<R>(answer: () => R): Promise<R> {
    const world = this.#world;
    const way = (): number => (world.chance(0.1) ? world.between(0, 15_000) : world.between(0, 50));
    return new Promise((resolve, reject) => {
      if (world.chance(0.05)) {
        this.#wake(4_000, () => reject(new Error('lost on the way there')));
        return;
      }
      world.at(way(), () => {
        const said = answer();
        if (world.chance(0.05)) {
          this.#wake(4_000, () => reject(new Error('lost on the way back')));
        } else {
          this.#wake(way(), () => resolve(said));
        }
      });
      if (world.chance(0.05)) {
        this.#stillUntil = world.now + world.between(0, 60_000);
      }
    });
  }
}

test('never do two nodes act as the owner, whatever clocks, pauses and lost messages do', async () => {
  let takes = 0;
  let confirmed = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const below = numbers(seed);
    const world = new World(() => below(1_000_000) / 1_000_000);
    const nodes = ['a', 'b', 'c'].map((id) => new SimulatedNode(id, world));
    for (let turn = 0; turn < 1_500; turn++) {
      await world.step();
      const acting = nodes.filter((node) => node.acts);
      assert.ok(
        acting.length <= 1,
        `seed ${seed}: ${acting.map(({ id }) => id).join(' and ')} at ${world.now}`,
      );
      acting.forEach(({ id, lease }) => {
        confirmed += 1;
        assert.deepEqual([world.row.node, world.row.epoch], [id, lease.epoch], `seed ${seed}`);
      });
    }
    const epochs = world.accepted.map(({ epoch }) => epoch);
    assert.deepEqual(
      epochs,
      epochs.toSorted((one, other) => one - other),
      'no write of an epoch comes after one of a later epoch',
    );
    takes += world.takes;
  }
  assert.ok(takes > 400 && confirmed > 10_000, `${takes} changes, ${confirmed} looks at an owner`);
});
