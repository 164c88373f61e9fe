import { kindOf, maskedTarget, type Order, type Step } from 'svc/check';

/** Everything that a person has set for a check and that is no secret. */
export interface Definition {
  readonly kind: Order['kind'];
  readonly target: string;
  readonly interval_s: number;
  readonly timeout_s: number;
  readonly retries: number;
  readonly places: readonly string[];
  readonly down_at: number;
  readonly ip: Order['ip'];
  readonly conditions: readonly string[];
  /** Empty: none. */
  readonly group: string;
  /** Ground that it stands on: names of checks, and `node:NAME` of the topology. */
  readonly depends_on: readonly string[];
  /** True if its badge is public. */
  readonly badge: boolean;
  readonly method?: string;
  readonly max_redirects?: number;
  readonly insecure?: boolean;
  readonly ca?: string;
  readonly server_name?: string;
  readonly record_type?: NonNullable<Order['record_type']>;
  readonly server?: string;
  readonly username?: string;
  readonly tls?: NonNullable<Order['tls']>;
  readonly proxy?: string;
  readonly steps?: readonly Step[];
}

export interface CheckSecrets {
  /** Target, where a part of it is a secret; the definition has it masked. */
  readonly target?: string;
  readonly password?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly send?: string;
  /** Values that steps fill in, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Verdict over all places. */
export type CheckState = 'up' | 'down' | 'stale' | 'waiting';

/** A check as it is kept in memory while it runs. */
export interface Check {
  readonly id: number;
  readonly name: string;
  readonly definition: Definition;
  readonly secrets: CheckSecrets;
  readonly paused: boolean;
  readonly state: CheckState;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly cause: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const secretFields = ['target', 'password', 'headers', 'body', 'send', 'secrets'] as const;
const usual = {
  interval_s: 60,
  timeout_s: 10,
  retries: 1,
  places: ['svc'],
  down_at: 0,
  ip: 'any',
  conditions: [],
  group: '',
  depends_on: [],
  badge: false,
} as const;
/** A browser needs more time than any other probe, and more of the machine. */
const usualOfBrowser = { interval_s: 300, timeout_s: 30 } as const;
const usualRedirects = 5;
/** Registries refuse those who ask more often than a date that changes once a year deserves. */
export const [usualDomainSeconds, fewestDomainSeconds] = [21_600, 3_600];

/** Name of a check that names none: `shop.example.org` of `https://shop.example.org/health`. */
export const nameOf = (target: string): string =>
  (URL.canParse(target) && target.includes('//') ? new URL(target).hostname : target)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 80);

/** Splits what a person wrote into what is shown and what is sealed. */
export function partsOf(draft: { readonly target: string }): {
  readonly definition: Definition;
  readonly secrets: CheckSecrets;
} {
  const {
    password,
    headers,
    body,
    send,
    secrets: values,
    name: _,
    paused: __,
    ...rest
  } = withoutNulls({
    kind: kindOf(draft.target),
    ...draft,
  });
  const target = maskedTarget(draft.target);
  const secrets = withoutNulls({
    target: target === draft.target ? undefined : draft.target,
    password,
    headers,
    body,
    send,
    secrets: values,
  }) as CheckSecrets;
  const { kind } = rest as Pick<Definition, 'kind'>;
  return {
    definition: {
      ...usual,
      ...(kind === 'domain' && { interval_s: usualDomainSeconds }),
      ...(kind === 'browser' && usualOfBrowser),
      ...rest,
      kind,
      target,
    },
    secrets,
  };
}

/** Reads a stored definition, which may be older than some of the settings. */
export const definitionIn = (stored: string): Definition => ({
  ...usual,
  ...(JSON.parse(stored) as Definition),
});

export const hasSecrets = (secrets: CheckSecrets): boolean =>
  secretFields.some((field) => secrets[field] !== undefined);

/** Returns the order of one probe. */
export function orderOf(
  {
    interval_s: _,
    timeout_s: timeout,
    retries: __,
    places: ___,
    down_at: ____,
    group: _____,
    badge: ______,
    depends_on: _______,
    ...rest
  }: Definition,
  secrets: CheckSecrets,
): Order {
  return {
    ...rest,
    ...secrets,
    timeout_ms: timeout * 1_000,
    ...(rest.kind === 'http' && { max_redirects: rest.max_redirects ?? usualRedirects }),
  };
}

const withoutNulls = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
