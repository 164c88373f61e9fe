import type { Incidents, IncidentView } from 'svc/contracts/alert';
import type { MentionType } from 'svc/contracts/mention';
import type { SeenBy } from 'svc/query';

const searched = 200;

/** `@incident:12`, found by id, rule or summary among the latest. */
export const incidentMention = (
  incidents: Pick<Incidents, 'get' | 'list' | 'events'>,
  seenBy: SeenBy,
): MentionType => ({
  type: 'incident',
  devices: 'narrowed',
  async search(q, principal, limit) {
    const wanted = q.toLowerCase();
    const fits = ({ id, rule_name: rule, summary }: IncidentView): boolean =>
      `${id}` === wanted ||
      summary.toLowerCase().includes(wanted) ||
      rule.toLowerCase().includes(wanted);
    const found = (await incidents.list({ limit: searched }, await seenBy(principal))).filter(fits);
    return found.slice(0, limit).map(({ id, summary, severity, status }) => ({
      type: 'incident',
      id: String(id),
      label: summary,
      insert: `@incident:${id}`,
      subtitle: `${severity}, ${status}`,
    }));
  },
  async resolve(id, principal) {
    const seen = await seenBy(principal);
    const found = /^\d{1,15}$/.test(id) ? await incidents.get(Number(id), seen) : undefined;
    if (found === undefined) {
      return undefined;
    }
    const timeline = (await incidents.events(found.id, seen))
      .slice(-20)
      .map(({ created_at: at, type, message }) => `${at} ${type}: ${message}`);
    return { label: found.summary, facts: { ...found, timeline } };
  },
});
