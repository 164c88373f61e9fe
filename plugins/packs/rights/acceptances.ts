import type { Clock, PluginManifest } from 'svc/sdk';

import { errors } from './errors.ts';
import { type Others, refusal } from './limits.ts';
import { type PackPoints, type Rights, rightsOf } from './rights.ts';
import type { Acceptance, AcceptanceStore } from './store.ts';

/** A pack from the data folder as its manifest is now. */
export interface Asking extends Rights {
  readonly id: string;
  /** Why nobody can accept it. */
  readonly refused: string | undefined;
  /** Acceptance of exactly this, if any. */
  readonly accepted: Acceptance | undefined;
}

/**
 * Permissions that packs request and administrators accepted: a pack from the data folder does
 * nothing before.
 */
export class Acceptances {
  readonly #store: AcceptanceStore;
  readonly #clock: Clock;
  readonly #others: Others;
  readonly #points: PackPoints;
  readonly #accepted: Map<string, Map<string, Acceptance>>;
  /** The manifest of each pack that the host asked about last. */
  readonly #asking = new Map<string, Rights & { readonly refused: string | undefined }>();

  constructor(
    store: AcceptanceStore,
    accepted: readonly Acceptance[],
    clock: Clock,
    others: Others,
    points: PackPoints,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#others = others;
    this.#points = points;
    this.#accepted = new Map();
    accepted.forEach((acceptance) => this.#remember(acceptance));
  }

  /** Why a pack has to wait, in a sentence; undefined when its rights were accepted. Also an earlier manifest, which serves on, may be asked for. */
  barred(manifest: PluginManifest): string | undefined {
    const { id } = manifest;
    const rights = rightsOf(manifest, this.#points);
    const isAccepted = this.#acceptanceOf(id, rights) !== undefined;
    // Points come and go with their owners, and an accepted pack outlives that.
    const refused =
      refusal(manifest, this.#others) ?? (isAccepted ? undefined : this.#points.refusal(manifest));
    this.#asking.set(id, { ...rights, refused });
    if (refused !== undefined) {
      return `it cannot be accepted, since it ${refused}; change its plugin.json`;
    }
    if (isAccepted) {
      return undefined;
    }
    return `it waits for acceptance: it ${rights.sentences.join('; ')}; look with "svc pack rights ${id}", then accept with "svc pack accept ${id} ${rights.hash}"`;
  }

  find(id: string): Asking {
    const asking = this.#asking.get(id);
    if (!asking) {
      throw errors.no_pack({ id });
    }
    return { id, ...asking, accepted: this.#acceptanceOf(id, asking) };
  }

  list(): readonly Asking[] {
    return [...this.#asking.keys()].map((id) => this.find(id));
  }

  /**
   * Accepts by the hash of what was read: a manifest that has changed since is not accepted unseen.
   */
  async accept(id: string, hash: string, by: string): Promise<void> {
    const { refused, sentences, hash: current } = this.find(id);
    if (refused !== undefined) {
      throw errors.not_acceptable({ id, refused });
    }
    if (hash !== current) {
      throw errors.other_rights({ id });
    }
    await this.put(id, { hash, sentences }, by);
  }

  /** Stores an acceptance, also of a pack that is not installed yet. */
  async put(id: string, { hash, sentences }: Rights, by: string): Promise<void> {
    const acceptance = {
      pack_id: id,
      hash,
      rights: JSON.stringify(sentences),
      accepted_by: by,
      accepted_at: this.#clock.now(),
    };
    await this.#store.add(acceptance);
    this.#remember(acceptance);
  }

  isAccepted(id: string, hash: string): boolean {
    return this.#accepted.get(id)?.has(hash) === true;
  }

  /** One of them, or with the pack all of them. */
  async drop(id: string, hash: string | undefined): Promise<void> {
    await this.#store.remove(id, hash);
    if (hash === undefined) {
      this.#accepted.delete(id);
      this.#asking.delete(id);
    } else {
      this.#accepted.get(id)?.delete(hash);
    }
  }

  async revoke(id: string): Promise<void> {
    if (!this.#accepted.has(id)) {
      throw errors.nothing_accepted({ id });
    }
    await this.#store.remove(id);
    this.#accepted.delete(id);
  }

  #acceptanceOf(id: string, { hash, earlier = '' }: Rights): Acceptance | undefined {
    const accepted = this.#accepted.get(id);
    return accepted?.get(hash) ?? accepted?.get(earlier);
  }

  #remember(acceptance: Acceptance): void {
    const { pack_id: id, hash } = acceptance;
    this.#accepted.set(
      id,
      (this.#accepted.get(id) ?? new Map<string, Acceptance>()).set(hash, acceptance),
    );
  }
}
