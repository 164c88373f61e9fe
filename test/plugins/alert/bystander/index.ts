import { IncidentChanged, IncidentFired } from 'svc/contracts/alert';
import { NotificationFinished } from 'svc/contracts/notify';
import { definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

/** Plugin that records events, one line each, by incident. */
export default definePlugin({
  activate(ctx) {
    const heard: { incident: number; line: string }[] = [];
    ctx.events.on(
      IncidentFired,
      ({ incident, reopened }) =>
        void heard.push({
          incident: incident.id,
          line: `fired ${incident.status} ${incident.event_count} ${reopened}`,
        }),
    );
    ctx.events.on(
      IncidentChanged,
      ({ id, status, events }) =>
        void heard.push({ incident: id, line: `changed ${status} ${events.join('+')}` }),
    );
    ctx.events.on(
      NotificationFinished,
      (outcome) =>
        void heard.push({
          incident: outcome.incident_id,
          line: `finished ${outcome.kind} ${outcome.result}`,
        }),
    );
    ctx.http.routes([
      route({
        method: 'GET',
        path: '/api/v1/bystander',
        access: 'any',
        summary: 'heard',
        response: Type.Unknown(),
        handle: () => heard,
      }),
    ]);
  },
});
