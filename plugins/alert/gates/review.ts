import type { Draft } from '../incident/draft.ts';
import type { Incident } from '../incident/incident.ts';
import { evaluator, isUntold } from '../incident/incident.ts';
import { decide, type GateView } from './gates.ts';

/** What the gates need that the ledger does not know. */
export type Surroundings = Omit<GateView, 'inhibitor' | 'holds'>;

/** Asks the gates about each of these incidents, and writes down what they say. */
export function review(draft: Draft, keys: Iterable<string>, surroundings: Surroundings): void {
  const view: GateView = {
    ...surroundings,
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
    if (decision.kind === 'tell') {
      draft.tell(decision.notice, draft.put({ ...incident, told_seq: incident.event_count, told_at: view.steady }));
      continue;
    }
    const { gate, mark, message, data } = decision;
    draft.take({
      incident: { ...incident, marks: { ...incident.marks, [gate]: mark } },
      events: [{ type: gate === 'inhibition' ? 'inhibited' : 'repeat_suppressed', message, actor: evaluator, data }],
    });
  }
}

/** Whether the gates can have anything new to say: cheap, for whoever goes through all incidents at every tick. */
export const concernsGates = (incident: Incident): boolean => incident.status === 'open' && (isUntold(incident) || incident.severity === 'critical');
