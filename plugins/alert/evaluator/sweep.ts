import { concernsGates, review, type Surroundings } from '../gates/review.ts';
import type { Draft } from '../incident/draft.ts';
import { evaluator, type Incident, isUntold } from '../incident/incident.ts';
import type { Ledger } from '../incident/ledger.ts';
import { unsilence } from '../incident/transitions.ts';

/** What time alone brings about: silences end, gates open, somebody is reminded. */
export function sweep(ledger: Ledger, now: number, surroundings: Surroundings): Promise<void> {
  return ledger.turn((draft) => {
    const waiting: string[] = [];
    for (const incident of ledger.live.values()) {
      if (incident.status === 'silenced' && incident.silenced_until !== null && incident.silenced_until <= now) {
        const open = draft.take(unsilence(incident, evaluator, 'silence_expired', now))!;
        remindAfterSilence(draft, open, surroundings);
        waiting.push(open.dedupe_key);
      } else if (concernsGates(incident)) {
        waiting.push(incident.dedupe_key);
      }
    }
    review(draft, waiting, surroundings);
  });
}

/** Whoever was told of the firing has heard nothing since; they hear that it lasts, unless that was a moment ago. */
export function remindAfterSilence(draft: Draft, incident: Incident, { steady, cooldownMs, silencedBy }: Surroundings): void {
  const told = incident.told_at;
  if (!isUntold(incident) && told !== null && steady - told >= cooldownMs && silencedBy(incident) === undefined) {
    draft.tell('reminder', draft.put({ ...incident, told_at: steady }));
  }
}
