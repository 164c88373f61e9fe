import type { EdgeCapabilities } from 'svc/contracts/edge';
import type { TunnelSession } from 'svc/tunnel';

/** The connection that serves one edge at this moment. */
export interface Tunnel {
  readonly session: TunnelSession;
  /** Generation of the secret it was opened with. */
  readonly generation: number;
  readonly machine: string;
  /** Public half of the key that it proved. */
  readonly machineKey: string | undefined;
  readonly bootId: string;
  readonly capabilities: EdgeCapabilities;
  /**
   * Offset of its clock from ours at the last comparison; null for an agent that does not report
   * it, and while it is uncertain.
   */
  clockSkewMs: number | null;
  /** The configuration that the edge has. */
  configHash: string | undefined;
  /** True while its configuration is in flight. */
  settling: boolean;
}

const most = 128;
const name = /^[a-z][a-z0-9_.-]{0,62}$/;

/** Reads what edges say they serve. Edges of one version all say the same: they share one object. */
export class CapabilityReader {
  readonly #shared = new Map<string, EdgeCapabilities>();

  read(caps: readonly string[]): EdgeCapabilities {
    const given = caps.slice(0, most);
    const key = given.join(' ');
    const known = this.#shared.get(key);
    if (known) {
      return known;
    }
    const named = (prefix: string): string[] =>
      given
        .filter((cap) => cap.startsWith(prefix) && name.test(cap.slice(prefix.length)))
        .map((cap) => cap.slice(prefix.length));
    const capabilities = {
      methods: named('call:'),
      streams: named('stream:'),
      webshell: given.includes('webshell'),
    };
    if (this.#shared.size >= most) {
      this.#shared.delete(this.#shared.keys().next().value!);
    }
    this.#shared.set(key, capabilities);
    return capabilities;
  }
}
