import { IncidentFired, type IncidentView } from 'svc/contracts/alert';
import { type Change, ChangeNoted } from 'svc/contracts/changes';
import { EdgeOffline } from 'svc/contracts/edge';
import { definePlugin, defineService } from 'svc/sdk';

/** What a test may announce. */
export interface Announcements {
  readonly fired: (incident: IncidentView) => void;
  readonly noted: (change: Change) => void;
  readonly offline: (edge: number, lastSeenAt: number) => void;
}

export const Door = defineService<{ open(say: Announcements): void }>('herald.door');

export default definePlugin({
  activate({ events, services }) {
    services.use(Door).open({
      fired: (incident) => events.emit(IncidentFired, { incident, reopened: false }),
      noted: (change) => events.emit(ChangeNoted, change),
      offline: (edge, at) => events.emit(EdgeOffline, { edge_id: edge, last_seen_at: at }),
    });
  },
});
