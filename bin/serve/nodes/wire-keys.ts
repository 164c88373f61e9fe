import type { SecureVersion } from 'node:tls';

import { KeyRing } from '../../../core/storage/keys.ts';

/**
 * TLS between nodes: who knows the secret key of the installation is a node of it, so the keys of a connection are derived from that one,
 * and there are no certificates that could expire. Elliptic curves keep what was recorded unreadable also for whoever finds the key later.
 */
export const wireTls = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  // Node has no keys of this kind with TLS 1.3.
  minVersion: 'TLSv1.2' as SecureVersion,
  maxVersion: 'TLSv1.2' as SecureVersion,
  ALPNProtocols: ['h2'],
};

const identityForm = /^([0-9a-f-]{36})\.([0-9a-f]{8})$/;

/** Keys of connections between nodes; the secret keys are read each time, since a rotation changes them. */
export class WireKeys {
  readonly #ring: () => KeyRing;

  constructor(dataDir: string, given: readonly string[] | undefined) {
    this.#ring = () => new KeyRing(dataDir, given, true);
  }

  /** Identity and key by which this node calls another one. */
  own(node: string): { readonly identity: string; readonly psk: Buffer } {
    const ring = this.#ring();
    return { identity: `${node}.${ring.newest}`, psk: keyOf(ring, node, ring.newest) };
  }

  /** Key of whoever calls, if it can be a node of this installation. */
  of(identity: string): Buffer | null {
    const [, node, kid] = identityForm.exec(identity) ?? [];
    const ring = this.#ring();
    return node === undefined || !ring.has(kid!) ? null : keyOf(ring, node, kid!);
  }
}

const keyOf = (ring: KeyRing, node: string, kid: string): Buffer =>
  ring.derive(`node wire ${node}`, kid).export();
