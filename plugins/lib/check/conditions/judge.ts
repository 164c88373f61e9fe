import { parseForeignJson } from 'svc/sdk';

import type { Facts, Finding, Order, Reading } from '../model/check.ts';
import { maskedTarget } from '../model/masked-target.ts';
import { plain } from '../model/plain-text.ts';
import { matchesGlob } from './glob.ts';
import { type Comparison, type Condition, type Operand, parseCondition } from './condition.ts';

const longestFound = 120;
const dayMs = 86_400_000;

/** Conditions of a check that names none. */
export const usualConditions: Readonly<Record<Order['kind'], readonly string[]>> = {
  http: ['[STATUS] < 400'],
  tcp: ['[CONNECTED] == true'],
  tls: ['[CONNECTED] == true'],
  dns: ['[DNS_RCODE] == NOERROR', 'len([DNS_ANSWERS]) > 0'],
  domain: ['[DOMAIN_EXPIRATION] > 0'],
  ping: ['[CONNECTED] == true'],
  smtp: ['[STATUS] == 250'],
  postgres: ['[CONNECTED] == true'],
  mysql: ['[CONNECTED] == true'],
  redis: ['[BODY] == PONG'],
  mqtt: ['[STATUS] == 0'],
  grpc: ['[STATUS] == 0', '[BODY] == SERVING'],
  websocket: ['[STATUS] == 101'],
  browser: ['[CONNECTED] == true'],
  // As plugins of Nagios say it: 0 is OK, 1 a warning.
  command: ['[STATUS] < 2'],
};

/** Decides by its conditions whether a probe has succeeded. */
export function judge(order: Order, facts: Facts, now: number): Reading {
  const { body: _, headers: __, ...shown } = facts;
  const texts = order.conditions.length > 0 ? order.conditions : usualConditions[order.kind];
  // Without an answer there is nothing to compare, unless that is what a condition is about.
  const isAboutFailure = texts.some((text) => /\[CONNECTED\]/.test(text));
  if (facts.error !== null && !isAboutFailure) {
    return { success: false, cause: facts.error, facts: shown, findings: [] };
  }
  const values = new Values(facts, now);
  const findings = texts.map((text) => finding(text, values));
  const broken = findings.find(({ holds }) => !holds);
  const distrust = order.kind === 'tls' && !order.insecure ? facts.certificate?.problem : null;
  const cause =
    (broken && facts.error) ??
    distrust ??
    (broken === undefined ? null : brokenText(order, broken, facts));
  return { success: cause === null, cause, facts: shown, findings };
}

/** Says it in the words of a command, which knows more than its exit code. */
const brokenText = (
  { conditions }: Order,
  { condition, found }: Finding,
  { detail, status }: Facts,
): string =>
  conditions.length === 0 && detail !== undefined && detail !== ''
    ? `${detail} (exit code ${status})`
    : `${condition} does not hold: ${found}`;

function finding(text: string, values: Values): Finding {
  const condition = parseCondition(text);
  if ('fault' in condition) {
    return { condition: text, holds: false, found: condition.fault };
  }
  const { left, comparison, right } = condition;
  return {
    condition: text,
    holds: holds(condition, values),
    found: plain(
      [left, right]
        .filter((side) => side.kind === 'placeholder' || side.kind === 'call')
        .map((side) => shownOf(side, values))
        .join(` ${comparison} `),
    ).slice(0, longestFound),
  };
}

/** A redirect may lead to an address with a secret in it. */
function shownOf(side: Operand, values: Values): string {
  const text = textOf(values.of(side));
  return side.kind === 'placeholder' && side.name === 'URL' ? maskedTarget(text) : text;
}

function holds({ left, comparison, right }: Condition, values: Values): boolean {
  for (const [pattern, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (pattern.kind === 'pattern' || pattern.kind === 'any') {
      const matches = fits(pattern, values.of(other), values);
      return comparison === '!=' ? !matches : comparison === '==' && matches;
    }
  }
  return compare(values.of(left), comparison, values.of(right));
}

function fits(pattern: Operand, value: unknown, values: Values): boolean {
  if (pattern.kind === 'any') {
    return pattern.of.some((one) =>
      one.kind === 'pattern' ? fits(one, value, values) : compare(value, '==', values.of(one)),
    );
  }
  return pattern.kind === 'pattern' && matchesGlob(pattern.glob, textOf(value));
}

function compare(left: unknown, comparison: Comparison, right: unknown): boolean {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) {
    return ordered(a - b, comparison);
  }
  const same = textOf(left) === textOf(right);
  // Texts have no order that anybody would mean.
  return comparison === '==' ? same : comparison === '!=' && !same;
}

function ordered(difference: number, comparison: Comparison): boolean {
  switch (comparison) {
    case '==':
      return difference === 0;
    case '!=':
      return difference !== 0;
    case '<':
      return difference < 0;
    case '<=':
      return difference <= 0;
    case '>':
      return difference > 0;
    default:
      return difference >= 0;
  }
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
};

/** Numbers, and durations such as `48h` in milliseconds. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') {
    return value;
  }
  const [, digits, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(textOf(value)) ?? [];
  return digits === undefined ? undefined : Number(digits) * (units[unit ?? 'ms'] ?? 1);
}

const textOf = (value: unknown): string =>
  value === undefined
    ? 'nothing'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, (_, inner: unknown) => inner);

/** Values of the placeholders; the body is parsed when a condition first looks into it. */
class Values {
  readonly #facts: Facts;
  readonly #now: number;
  #json: { readonly value: unknown } | undefined;

  constructor(facts: Facts, now: number) {
    this.#facts = facts;
    this.#now = now;
  }

  of(operand: Operand): unknown {
    switch (operand.kind) {
      case 'literal':
        return operand.text;
      case 'call': {
        const value = this.of(operand.of);
        return operand.call === 'has' ? value !== undefined : lengthOf(value);
      }
      case 'placeholder':
        return this.#value(operand);
      default:
        return undefined;
    }
  }

  #value({ name, path }: Operand & { readonly kind: 'placeholder' }): unknown {
    const { certificate, ...facts } = this.#facts;
    switch (name) {
      case 'STATUS':
        return facts.status;
      case 'RESPONSE_TIME':
        return Math.round(facts.took_ms);
      case 'BODY':
        return path.length === 0 ? facts.body : step(this.#parsed(), path);
      case 'HEADER':
        return step(facts.headers, [String(path[0]).toLowerCase()]);
      case 'IP':
        return facts.address;
      case 'CONNECTED':
        return facts.connected;
      case 'BANNER':
        return facts.banner;
      case 'DNS_RCODE':
        return facts.rcode;
      case 'DNS_ANSWERS':
        return facts.answers;
      case 'CERTIFICATE_EXPIRATION':
        return certificate && certificate.expires_at - this.#now;
      case 'CERTIFICATE_ISSUER':
        return certificate?.issuer;
      case 'DOMAIN_EXPIRATION':
        return facts.domain_expires_at && facts.domain_expires_at - this.#now;
      case 'REDIRECTS':
        return facts.redirects;
      case 'URL':
        return facts.final_url;
    }
  }

  #parsed(): unknown {
    this.#json ??= { value: parsedOr(this.#facts.body ?? '') };
    return this.#json.value;
  }
}

function parsedOr(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    // No JSON: a path in it leads nowhere, and the condition says so.
    return undefined;
  }
}

const step = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );

const lengthOf = (value: unknown): number | undefined =>
  typeof value === 'string' || Array.isArray(value)
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length
      : undefined;
