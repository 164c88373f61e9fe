import type { CheckKind } from './kinds.ts';
import type { Step, StepResult } from './step.ts';

export const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SOA', 'SRV', 'TXT'] as const;

/** Request for one probe from one place. Fields that its kind does not know are absent. */
export interface Order {
  readonly kind: CheckKind;
  /** URL; `host:port` of a TCP or TLS check; host or name of DNS and ping; name of a command. */
  readonly target: string;
  readonly timeout_ms: number;
  /** Version of IP; any: whichever address comes first. */
  readonly ip: 'any' | '4' | '6';
  /** Conditions that all have to hold, such as `[STATUS] == 200`; none: those of the kind. */
  readonly conditions: readonly string[];
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Redirects that are followed. */
  readonly max_redirects?: number;
  /** Takes any certificate. */
  readonly insecure?: boolean;
  /** PEM of the certification authorities that are trusted; absent: those of the machine. */
  readonly ca?: string;
  /** Name of the server in TLS; absent: the host. */
  readonly server_name?: string;
  readonly record_type?: (typeof recordTypes)[number];
  /** Name server as `host` or `host:port`; absent: those of the machine. Of a domain: the URL of an RDAP server. */
  readonly server?: string;
  /** Sent once a TCP connection or a WebSocket is open. */
  readonly send?: string;
  /** User that logs in; absent: nobody does, and the answer before a login counts. */
  readonly username?: string;
  readonly password?: string;
  /** Use of TLS on an open connection; absent: when the server offers it. */
  readonly tls?: 'off' | 'required';
  /** `http://host:port` of the proxy that HTTP goes through; absent: none. */
  readonly proxy?: string;
  /** Steps that a browser takes once it has opened the target. */
  readonly steps?: readonly Step[];
  /** Values that steps fill in, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Time by phase of one probe, in milliseconds; HTTP adds them up over redirects. */
export type Phases = Readonly<Partial<Record<Phase, number>>>;
export type Phase =
  | 'resolve'
  | 'connect'
  | 'proxy'
  | 'tls'
  | 'greeting'
  | 'login'
  | 'processing'
  | 'transfer'
  | 'request'
  | 'rtt';

/** Certificate of a server, read whether or not it is valid. */
export interface CertificateFacts {
  /** When the first certificate of the chain expires; milliseconds since the epoch. */
  readonly expires_at: number;
  readonly subject: string | null;
  readonly issuer: string | null;
  readonly names: string | null;
  readonly serial: string | null;
  readonly protocol: string | null;
  /** Why this machine does not trust it; null: it does. */
  readonly problem: string | null;
}

/** Value that a command measured. */
export interface Measured {
  readonly label: string;
  readonly value: number;
  /** Such as `s`, `%`, `B` or `c`; empty: none. */
  readonly unit: string;
}

/** Findings of a probe. Absent fields were not reached, or are of other kinds. */
export interface Facts {
  readonly connected: boolean;
  /** Why there is no answer; null: there is one. */
  readonly error: string | null;
  readonly took_ms: number;
  readonly phases: Phases;
  readonly address?: string;
  /** Code of the answer, as its protocol counts. */
  readonly status?: number;
  readonly http_version?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Redirects that were received, whether or not they were followed. */
  readonly redirects?: number;
  /** Address after redirects. */
  readonly final_url?: string;
  /** The beginning of what was received. */
  readonly body?: string;
  readonly body_bytes?: number;
  /** Length that the server declares; absent: it declares none. */
  readonly content_length?: number;
  readonly certificate?: CertificateFacts;
  /** When the registration of a domain ends; milliseconds since the epoch. */
  readonly domain_expires_at?: number;
  /** Product and version by which a server introduces itself. */
  readonly banner?: string;
  /** First line that a command printed. */
  readonly detail?: string;
  readonly measured?: readonly Measured[];
  /** Response code of DNS, such as NXDOMAIN. */
  readonly rcode?: string;
  readonly answers?: readonly string[];
  /** Steps in a browser, the opening of the target first. */
  readonly steps?: readonly StepResult[];
  /** Picture of the page when a step failed, as base64 of a JPEG. */
  readonly picture?: string;
}

/** Condition with what was found. */
export interface Finding {
  readonly condition: string;
  readonly holds: boolean;
  /** The value found, as text. */
  readonly found: string;
}

/** Result of one probe. */
export interface Reading {
  readonly success: boolean;
  /** Why it did not succeed; null: it did. */
  readonly cause: string | null;
  readonly facts: Omit<Facts, 'body' | 'headers'>;
  readonly findings: readonly Finding[];
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** End of a command, and the beginning of what it printed. */
export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** Means that a place lends a probe. */
export interface Place {
  /** Returns the address of a host that this place may talk to; throws where it may not. An undefined port means all of them. */
  readonly reach: (host: string, port: number | undefined, ip: Order['ip']) => Promise<Address>;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** At least 16 random bytes, as base64url. */
  readonly nonce: () => string;
  /** Runs the system's `ping` with these arguments, and returns what it prints; absent: there is none. */
  readonly ping?: ((args: readonly string[], signal: AbortSignal) => Promise<string>) | undefined;
  /** Runs the command of this name as its owner wrote it down; throws where the owner allows none. Absent: commands do not run here. */
  readonly command?: ((name: string, signal: AbortSignal) => Promise<CommandResult>) | undefined;
}
