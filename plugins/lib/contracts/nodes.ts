import { defineService } from 'svc/sdk';

/** One of several svc processes over the same Postgres. */
export interface NodeInfo {
  readonly id: string;
  readonly url: string;
  /** Address for other nodes; empty if it has none. */
  readonly wire: string;
  readonly version: string;
  readonly role: 'owner' | 'standby';
  /** `away`: not seen for more than 10 s. */
  readonly state: 'ready' | 'drained' | 'away';
  readonly seen_s: number;
}

interface NodeControlContract {
  list(): Promise<readonly NodeInfo[]>;
  /** A token for one machine to join by, within an hour. */
  token(): { readonly token: string; readonly expires_at: string };
  drain(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The nodes, where Postgres holds the data; provided by the program. */
export const NodeControl = defineService<NodeControlContract>('nodes.control');

interface NodeAddressesContract {
  /** Addresses of all nodes, in an order that stays, each with the pin of its certificate if it has one. */
  all(): readonly { readonly url: string; readonly pin?: string }[];
}

export const NodeAddresses = defineService<NodeAddressesContract>('nodes.addresses');
