import { concernsGates, review, type GateInputs } from '../gates/review.ts';
import type { Draft } from '../incident/draft.ts';
import { evaluator, type Incident, isUnnotified } from '../incident/incident.ts';
import type { Ledger } from '../incident/ledger.ts';
import { unsilence } from '../incident/transitions.ts';

/** What time alone brings about: silences end, gates open, reminders are due. */
export function sweep(ledger: Ledger, now: number, gateInputs: GateInputs): Promise<void> {
  return ledger.transact((draft) => {
    const waiting: string[] = [];
    for (const incident of ledger.live.values()) {
      if (incident.status === 'silenced' && incident.silenced_until !== null && incident.silenced_until <= now) {
        const open = draft.apply(unsilence(incident, evaluator, 'silence_expired', now))!;
        remindAfterSilence(draft, open, gateInputs);
        waiting.push(open.dedupe_key);
      } else if (concernsGates(incident)) {
        waiting.push(incident.dedupe_key);
      }
    }
    review(draft, waiting, gateInputs);
  });
}

/** Channels that were sent the firing are reminded that it lasts, unless that was a moment ago. */
export function remindAfterSilence(draft: Draft, incident: Incident, { steady, cooldownMs, silencedBy }: GateInputs): void {
  const notified = incident.notified_at;
  if (!isUnnotified(incident) && notified !== null && steady - notified >= cooldownMs && silencedBy(incident) === undefined) {
    draft.addNotice('reminder', draft.setIncident({ ...incident, notified_at: steady }));
  }
}
