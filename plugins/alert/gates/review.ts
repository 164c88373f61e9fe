import type { Draft } from '../incident/draft.ts';
import type { Incident } from '../incident/incident.ts';
import { evaluator, isUnnotified } from '../incident/incident.ts';
import { decide, type GateView } from './gates.ts';

/** What the gates need that the ledger does not know. */
export type GateInputs = Omit<GateView, 'inhibitor' | 'holds'>;

/** Asks the gates about each of these incidents, and notes what they decide. */
export function review(draft: Draft, keys: Iterable<string>, gateInputs: GateInputs): void {
  const view: GateView = {
    ...gateInputs,
    inhibitor: (incident, before) => draft.inhibitor(incident, before),
    holds: ({ rule_id: rule, dedupe_key: key }) => {
      const instance = draft.instance(rule, key);
      return instance?.phase === 'firing' && instance.clearedAt === null;
    },
  };
  for (const key of keys) {
    const incident = draft.incident(key);
    const decision = incident && decide(incident, view);
    if (incident === undefined || decision === undefined) {
      continue;
    }
    if (decision.kind === 'notify') {
      draft.addNotice(decision.notice, draft.setIncident({ ...incident, notified_seq: incident.event_count, notified_at: view.steady }));
      continue;
    }
    const { gate, mark, message, data } = decision;
    draft.apply({
      incident: { ...incident, marks: { ...incident.marks, [gate]: mark } },
      events: [{ type: gate === 'inhibition' ? 'inhibited' : 'repeat_suppressed', message, actor: evaluator, data }],
    });
  }
}

/** Whether the gates can decide anything new: cheap, because it is asked of all incidents at every tick. */
export const concernsGates = (incident: Incident): boolean => incident.status === 'open' && (isUnnotified(incident) || incident.severity === 'critical');
