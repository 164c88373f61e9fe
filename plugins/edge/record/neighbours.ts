import type { HostInfo } from 'svc/edge-protocol';

import type { EdgeRecord } from './record.ts';

/**
 * Edges whose agents run on one machine: they report the same boot of the same machine under the
 * same host name. Containers share a boot, and clones a machine id, but not all three.
 */
export class Neighbours {
  readonly #machines = new Map<string, readonly EdgeRecord[]>();
  readonly #keys = new WeakMap<EdgeRecord, string>();

  /** Takes note of the machine of an edge; returns the others on it. */
  introduced(
    record: EdgeRecord,
    fingerprint: string | undefined,
    { hostname }: HostInfo,
  ): readonly EdgeRecord[] {
    this.forget(record);
    if (fingerprint === undefined || hostname === undefined || !record.tunnel) {
      return [];
    }
    const key = `${record.tunnel.bootId} ${fingerprint} ${hostname}`;
    this.#machines.set(key, [...(this.#machines.get(key) ?? []), record]);
    this.#keys.set(record, key);
    return this.of(record);
  }

  /** Returns the other edges that are connected from the same machine. */
  of(record: EdgeRecord): readonly EdgeRecord[] {
    const key = record.tunnel && this.#keys.get(record);
    return key === undefined
      ? []
      : this.#machines
          .get(key)!
          .filter((other) => other !== record && other.tunnel?.bootId === record.tunnel!.bootId);
  }

  forget(record: EdgeRecord): void {
    const key = this.#keys.get(record);
    if (key === undefined) {
      return;
    }
    const left = this.#machines.get(key)!.filter((other) => other !== record);
    this.#keys.delete(record);
    if (left.length === 0) {
      this.#machines.delete(key);
    } else {
      this.#machines.set(key, left);
    }
  }
}

/** Says that these agents share a machine, and what to do about it. */
export const neighboursNotice = (others: readonly EdgeRecord[]): string =>
  `runs on the same machine as ${others.map(({ id, name }) => `edge ${id} (${name})`).join(', ')}, so the machine counts as ${others.length + 1} devices and its alerts repeat: keep one agent, stop the others, and delete them with "svc edge rm ${others[0]!.id}"`;
