import { IncidentActions, Incidents } from 'svc/contracts/alert';
import { ApprovalDecisions, Approvals } from 'svc/contracts/approval';
import { ChatRuns } from 'svc/contracts/chat';
import type { ImPorts } from 'svc/contracts/imbridge';
import { DeviceScopes, seenBy } from 'svc/query';
import { AuditTrail, BuildInfo, Catalogue, type PluginContext, type Tables } from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { People } from '../apps/people.ts';
import type { Messenger } from '../messages/messenger.ts';
import type { MessageQueue } from '../store/message-queue.ts';
import type { ImTables } from '../store/tables.ts';
import { Actions } from './actions.ts';
import { Attachments } from './attachments.ts';
import { ApprovalTalk } from './approvals.ts';
import { Commands } from './commands.ts';
import { Conversations } from './conversations.ts';
import { Home } from './home.ts';
import { IncidentTalk } from './incidents.ts';
import { Previews } from './previews.ts';
import { Rights } from './rights.ts';
import { SenderNames } from './sender-names.ts';
import { ThreadLog } from './thread-log.ts';

export interface TalkParts {
  readonly tables: Tables<ImTables>;
  readonly queue: MessageQueue;
  readonly apps: Apps;
  readonly people: People;
  readonly messenger: Messenger;
  readonly ports: ImPorts;
}

/** Parts that talk in conversations. */
export interface Talk {
  readonly actions: Actions;
  readonly incidents: IncidentTalk;
  readonly approvals: ApprovalTalk;
  readonly conversations: Conversations;
  readonly commands: Commands;
  readonly attachments: Attachments;
  readonly home: Home;
  readonly previews: Previews;
}

/** Wires the parts that talk in conversations to their services. */
export function openTalk({ clock, ids, scope, services }: PluginContext, parts: TalkParts): Talk {
  const { tables, people } = parts;
  const build = services.use(BuildInfo);
  const later = (work: () => Promise<void>): void => void scope.task('send charts', work);
  const actions = new Actions(tables, clock, ids);
  const incidents = new IncidentTalk({
    ...parts,
    actions,
    clock,
    ids,
    incidents: services.maybe(Incidents),
    later,
  });
  const approvals = new ApprovalTalk({
    ...parts,
    actions,
    clock,
    ids,
    book: services.maybe(Approvals),
  });
  const conversations = new Conversations({
    ...parts,
    approvals,
    later,
    threads: new ThreadLog({ tables, clock, names: new SenderNames({ ...parts, clock }) }),
    clock,
    chat: services.maybe(ChatRuns),
    publicUrl: () => build.publicUrl,
  });
  const rights = new Rights({
    tables,
    clock,
    ids,
    catalogue: services.use(Catalogue),
    trail: services.maybe(AuditTrail),
  });
  const commands = new Commands({
    people,
    rights,
    actions,
    clock,
    incidents: services.maybe(Incidents),
    seenBy: seenBy(services.maybe(DeviceScopes)),
    deeds: services.maybe(IncidentActions),
    decisions: services.maybe(ApprovalDecisions),
    renew: (said) => conversations.renew(said),
    toldHere: (app, event, incident) => incidents.toldHere(app, event, incident),
  });
  const attachments = new Attachments({ ...parts, clock });
  const looks = {
    ...parts,
    actions,
    rights,
    incidents: services.maybe(Incidents),
    seenBy: seenBy(services.maybe(DeviceScopes)),
    publicUrl: () => build.publicUrl,
  };
  return {
    actions,
    incidents,
    approvals,
    conversations,
    commands,
    attachments,
    home: new Home(looks),
    previews: new Previews(looks),
  };
}
