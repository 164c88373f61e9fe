import { inTurns } from 'svc/flow';

import type { Draft } from '../ledger/draft.ts';
import { evaluator, type Incident, isUnnotified } from '../ledger/incident.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { unsilence } from '../ledger/transitions.ts';
import { concernsGates, type GateInputs, isMuted, notify, review } from './review.ts';

/** Applies what the passage of time causes: silences end, gates open, reminders fall due. */
export function sweep(ledger: Ledger, now: number, gateInputs: GateInputs): Promise<void> {
  return ledger.transact(async (draft) => {
    const waiting: string[] = [];
    for (const incident of ledger.live.values()) {
      if (
        incident.status === 'silenced' &&
        incident.silenced_until !== null &&
        incident.silenced_until <= now
      ) {
        const open = draft.apply(unsilence(incident, evaluator, 'silence_expired', now))!;
        remindAfterSilence(draft, open, gateInputs);
        waiting.push(open.dedupe_key);
      } else if (concernsGates(incident, ledger.hasNews(incident.dedupe_key), gateInputs)) {
        waiting.push(incident.dedupe_key);
      }
    }
    await inTurns(waiting, (key) => review(draft, [key], gateInputs));
  });
}

/** Channels that were sent the firing are reminded that it lasts, unless that was a moment ago. */
export function remindAfterSilence(draft: Draft, incident: Incident, gateInputs: GateInputs): void {
  const { steady, cooldownMs } = gateInputs;
  const notified = incident.notified_at;
  if (
    !isUnnotified(incident) &&
    notified !== null &&
    steady - notified >= cooldownMs &&
    isAudible(draft, incident, gateInputs)
  ) {
    notify(draft, incident, { notice: 'reminder', again: true }, gateInputs);
  }
}

/**
 * Returns whether an incident has audible instances. If its condition was clear at the last
 * evaluation, every firing instance counts.
 */
const isAudible = (draft: Draft, incident: Incident, gateInputs: GateInputs): boolean =>
  [...draft.members(incident.dedupe_key)].some(
    (member) => member.phase === 'firing' && !isMuted(member, incident, gateInputs),
  );
