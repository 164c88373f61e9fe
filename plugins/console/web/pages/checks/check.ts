/** A check as the API shows it. */
export interface Check {
  readonly name: string;
  readonly kind: string;
  readonly target: string;
  readonly interval_s: number;
  readonly timeout_s: number;
  readonly places: readonly string[];
  readonly conditions: readonly string[];
  readonly username?: string;
  readonly has_password: boolean;
  readonly header_names: readonly string[];
  readonly steps?: readonly Step[];
  readonly proxy?: string;
  readonly group: string;
  readonly badge: boolean;
  readonly paused: boolean;
  readonly state: 'up' | 'down' | 'stale' | 'waiting' | 'paused';
  readonly since: string;
  readonly cause: string | null;
  readonly depends_on: readonly string[];
  /** Why its alert is held back. */
  readonly muted: {
    readonly kind: 'check' | 'host' | 'agent';
    readonly name: string;
    readonly since: string;
  } | null;
  readonly readings: readonly Reading[];
  /** Picture of the page on which a step last failed. */
  readonly picture: { readonly at: string; readonly place: string } | null;
  readonly hours: readonly (number | null)[];
}

/** Checks that belong together. */
export interface Group {
  readonly group: string;
  readonly state: Check['state'];
  readonly checks: number;
  readonly down: readonly string[];
  readonly uptime: Readonly<Record<'day' | 'week' | 'month' | 'year', number | null>>;
}

/** An address that agents found and that no check watches yet. */
export interface Proposal {
  readonly id: string;
  readonly kind: string;
  readonly target: string;
  readonly places: readonly string[];
  readonly source: 'nginx' | 'caddy' | 'certificate' | 'listener' | 'container';
  readonly agents: readonly string[];
  readonly dismissed: boolean;
}

/** Target for the uptime of a check or a group, with what is left of its budget. */
export interface Objective {
  readonly name: string;
  readonly check: string | null;
  readonly group: string | null;
  readonly target: number;
  readonly days: number;
  readonly state: 'met' | 'at_risk' | 'spent' | 'unmeasured';
  readonly uptime: number | null;
  readonly budget_ms: number;
  readonly spent_ms: number;
  readonly budget_left: number | null;
}

/** Result of one place. */
export interface Reading {
  readonly place: string;
  readonly state: 'up' | 'failing' | 'offline';
  readonly cause: string | null;
  readonly detail: string | null;
  readonly took_ms: number | null;
  readonly phases: Readonly<Record<string, number>>;
  readonly address: string | null;
  readonly status: number | null;
  readonly certificate: { readonly expires_at: string; readonly problem: string | null } | null;
  readonly domain_expires_at: string | null;
  readonly steps: readonly StepResult[];
}

/** One step of a browser check. */
export interface Step {
  readonly do:
    | 'goto'
    | 'click'
    | 'fill'
    | 'press'
    | 'wait_for_text'
    | 'wait_for_selector'
    | 'expect_text'
    | 'expect_url'
    | 'expect_title';
  readonly selector?: string;
  readonly value?: string;
  /** Name of the sealed value that is filled in. */
  readonly secret?: string;
}

/** Result of one step in a browser. */
export interface StepResult {
  readonly step: string;
  readonly state: 'done' | 'failed' | 'not_reached';
  readonly took_ms: number | null;
}

export interface Uptime {
  readonly ratio: number | null;
  readonly changes: readonly {
    readonly at: string;
    readonly state: string;
    readonly cause: string | null;
    readonly places: readonly string[];
  }[];
}
