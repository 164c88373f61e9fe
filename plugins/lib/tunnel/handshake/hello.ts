import { closeCode } from '../message/limits.ts';

/** Identity that the edge claims, before it is proven. */
export interface EdgeHello {
  /** UUID of the agent's state file. */
  readonly agent_id: string;
  /** Changes with each start of the machine. */
  readonly boot_id: string;
  readonly agent_version: string;
  /** Capabilities by name. */
  readonly caps: readonly string[];
  /**
   * Purpose of the connection. `probe`: proves new credentials or a new version while another
   * connection serves, and must not displace that.
   */
  readonly purpose: 'serve' | 'probe';
}

/**
 * State of the edge, so that the manager sends only what differs: hashes, versions, pending work.
 */
export type EdgeState = Readonly<Record<string, string | number | boolean | null>>;

/** The manager does not let this edge in. */
export class TunnelRefusal extends Error {
  override readonly name = 'TunnelRefusal';
  readonly closeCode: number;
  readonly retry: { readonly minMs: number; readonly maxMs: number } | undefined;

  constructor(
    code: number,
    message: string,
    retry?: { readonly minMs: number; readonly maxMs: number },
  ) {
    super(message);
    this.closeCode = code;
    this.retry = retry;
  }

  /** True if the same attempt will fail until somebody acts. */
  get lasting(): boolean {
    const lasting: readonly number[] = [
      closeCode.unauthorized,
      closeCode.revoked,
      closeCode.duplicate,
      closeCode.protocol,
    ];
    return lasting.includes(this.closeCode);
  }
}

/** Recognizes a refusal by name, not by class: the module may exist twice. */
export const isRefusal = (error: unknown): error is TunnelRefusal =>
  error instanceof Error && error.name === 'TunnelRefusal';
