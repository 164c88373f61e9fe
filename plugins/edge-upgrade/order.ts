import type { UpgradeOrder } from 'svc/edge-protocol';

import { errors } from './errors.ts';

type Check = (value: unknown) => boolean;

const text =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && value.length <= 2_000 && form.test(value);
const flag: Check = (value) => typeof value === 'boolean';

export const versionForm = /^v?\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,64})?$/;

const checks: Readonly<Record<keyof UpgradeOrder, Check>> = {
  job_id: text(/^[\w-]{1,64}$/),
  url: text(/^[^\s]+$/),
  sha256: text(/^[0-9a-f]{64}$/),
  signature: text(/^[A-Za-z0-9+/]{86}==$/),
  size_bytes: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  version: text(versionForm),
  allow_downgrade: flag,
  force: flag,
};
const needed: ReadonlySet<string> = new Set(['job_id', 'url', 'sha256']);

/**
 * Parses the manager's order, or refuses it naming the field. Fields of later versions are ignored.
 */
export function readOrder(params: unknown): UpgradeOrder {
  const given = (params ?? {}) as Readonly<Record<string, unknown>>;
  const order: Record<string, unknown> = {};
  for (const [field, fits] of Object.entries(checks)) {
    const value = given[field];
    if (value === undefined ? needed.has(field) : !fits(value)) {
      throw errors.order_form({ detail: value === undefined ? 'lacks' : 'has another', field });
    }
    if (value !== undefined) {
      order[field] = value;
    }
  }
  return order as unknown as UpgradeOrder;
}
