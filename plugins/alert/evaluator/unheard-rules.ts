import type { NoticeDispatcher } from 'svc/contracts/notify';
import type { Handle } from 'svc/sdk';

import type { Rule } from '../rule/rule.ts';
import { hasComputedSeverity } from '../rule/severity.ts';

interface Unheard {
  readonly rule: Rule;
  readonly message: string;
}

const maxListed = 100;

/**
 * Returns the rules that pin channels which take nothing of theirs. None is written like that, but
 * a channel may be disabled or given another filter later.
 */
export async function unheardRules(
  rules: readonly Rule[],
  channels: Handle<NoticeDispatcher>,
): Promise<readonly Unheard[]> {
  const found: Unheard[] = [];
  // Thousands of rules pin the same few channels.
  const known = new Map<string, string | undefined>();
  for (const rule of channels.available ? rules : []) {
    const { notify_channel_ids: ids, severity, scope_type: scope } = rule;
    if (ids.length === 0) {
      continue;
    }
    const kind = { scope_type: scope, ...(!hasComputedSeverity(rule) && { severity }) };
    const key = JSON.stringify([ids, kind]);
    if (!known.has(key)) {
      known.set(key, complaintOf(ids.length, await channels.get().refusing(ids, kind)));
    }
    const message = known.get(key);
    if (message !== undefined && found.push({ rule, message }) === maxListed) {
      break;
    }
  }
  return found;
}

function complaintOf(
  pinned: number,
  refusing: Awaited<ReturnType<NoticeDispatcher['refusing']>>,
): string | undefined {
  const reasons = refusing.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  return refusing.length === 0
    ? undefined
    : refusing.length < pinned
      ? `some channels that the rule pins refuse all its incidents (${reasons}); change or enable them, or pin others`
      : `incidents of the rule reach nobody, because every channel that it pins refuses them (${reasons}); change or enable them, or pin others`;
}
