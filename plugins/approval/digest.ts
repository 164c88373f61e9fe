import { createHash } from 'node:crypto';

import type { ApprovalAsk } from './contract.ts';

/** The same text for the same value, whatever the order of its fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonical(item ?? null)).join(',')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${fields
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

/** What is signed: which tool, with what, on what. */
export const digestOf = ({ tool, args, target: { kind, id } }: Pick<ApprovalAsk, 'tool' | 'args' | 'target'>): string =>
  createHash('sha256')
    .update(canonical({ tool, args, target: { kind, id: id ?? null } }))
    .digest('hex');
