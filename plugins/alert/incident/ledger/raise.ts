import type { Draft } from './draft.ts';

/** Has channels notified once more of an incident that is worse than they know, or for others; no cooldown holds that back. */
export function raise(group: string, draft: Draft): void {
  const incident = draft.incident(group)!;
  draft.setIncident({ ...incident, notified_at: null });
  for (const instance of [...draft.members(group)]) {
    if (instance.phase === 'firing') {
      draft.setInstance(incident.rule_id, instance.key, { ...instance, notified: false });
    }
  }
}
