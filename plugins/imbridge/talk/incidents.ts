import type { IncidentChangedEvent, IncidentEventView, Incidents } from 'svc/contracts/alert';
import type { ImButton, ImEvent, ImPlatform, ImTarget } from 'svc/contracts/imbridge';
import type {
  ChannelAddress,
  ChannelMessage,
  DeliveringChannelType,
  Verdict,
} from 'svc/contracts/notify';
import { fitted, markdown } from 'svc/im';
import type { Clock, Handle, Ids, Tables } from 'svc/sdk';

import type { Actions, Labelled } from './actions.ts';
import type { Apps } from '../apps/apps.ts';
import { errors } from './errors.ts';
import type { MessageQueue } from '../store/message-queue.ts';
import type { LeasedMessage } from '../messages/leased-message.ts';
import { type Messenger, SendDeferred, type Saying } from '../messages/messenger.ts';
import type { AppRow, ImTables, NoticeRow } from '../store/tables.ts';
import { wordsOf } from './words.ts';

export interface IncidentTalkParts {
  readonly tables: Tables<ImTables>;
  readonly apps: Apps;
  readonly queue: MessageQueue;
  readonly actions: Actions;
  readonly messenger: Messenger;
  readonly incidents: Handle<Incidents>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface IncidentTelling {
  readonly what: 'incident';
  readonly incident: number;
  readonly conversation: string;
}

const life: ReadonlySet<string> = new Set([
  'acknowledged',
  'silenced',
  'silence_ended',
  'unsilenced',
  'resolved',
  'reopened',
  'note',
  'ai_initial_diagnosis',
]);
const form = /^im:([0-9a-f-]{36})\/(\S{1,200})$/;
/** Delay after which an action in the thread itself has been reported there. */
const waitMs = 1_500;
const silenceFor = '2h';
const longestLine = 600;
const maxCaughtUp = 200;
/** Time for which a thread follows its incident. */
const keptMs = 30 * 86_400_000;

/** Incidents in conversations: notices with buttons, and threads that follow what becomes of them. */
export class IncidentTalk {
  readonly #parts: IncidentTalkParts;

  constructor(parts: IncidentTalkParts) {
    this.#parts = parts;
  }

  /** A kind of channel whose address is an app and a conversation: `im:<id of the app>/<conversation>`. */
  get channelType(): DeliveringChannelType {
    return {
      title: 'Chat app',
      secret: 'none',
      limits: [{ count: 30, per_ms: 60_000 }],
      check({ endpoint }) {
        if (!form.test(endpoint)) {
          const message =
            'must name an app and one of its conversations: im:<id of the app>/<id of the conversation>';
          throw errors.channel_endpoint({ details: [{ path: '/endpoint', message }] });
        }
      },
      shown: (endpoint) => endpoint,
      deliver: (message, address) => this.#deliver(message, address),
    };
  }

  /** The incident in whose thread something was said. */
  async incidentOf(
    app: AppRow,
    { replies_to: above, conversation }: ImEvent,
  ): Promise<number | undefined> {
    if (above.length === 0) {
      return undefined;
    }
    const row = await this.#parts.tables.read
      .selectFrom('imbridge_notices')
      .select('incident_id')
      .where('app_id', '=', app.id)
      .where('conversation', '=', conversation)
      .where('message', 'in', [...above])
      .executeTakeFirst();
    return row?.incident_id;
  }

  async toldHere(app: AppRow, event: ImEvent, incident: number): Promise<void> {
    if ((await this.incidentOf(app, event)) === incident) {
      await this.#mark(
        app.id,
        event.conversation,
        incident,
        (await this.#news(incident, 0)).at(-1)?.id ?? 0,
      );
    }
  }

  /** Catches up after a start: reports what happened to incidents meanwhile. */
  async catchUp(): Promise<void> {
    const rows = await this.#parts.tables.read
      .selectFrom('imbridge_notices')
      .select('incident_id')
      .distinct()
      .orderBy('incident_id', 'desc')
      .limit(maxCaughtUp)
      .execute();
    for (const { incident_id: id } of rows) {
      await this.changed({ id, status: 'open', device_id: null, events: ['note'] });
    }
  }

  async forget(): Promise<void> {
    const before = this.#parts.clock.now() - keptMs;
    await this.#parts.tables.write((tx) =>
      tx.deleteFrom('imbridge_notices').where('created_at', '<', before).execute(),
    );
  }

  async changed({ id, events }: IncidentChangedEvent): Promise<void> {
    const { tables, queue, clock, ids } = this.#parts;
    if (!events.some((type) => life.has(type))) {
      return;
    }
    const rows = await tables.read
      .selectFrom('imbridge_notices')
      .selectAll()
      .where('incident_id', '=', id)
      .execute();
    const now = Math.floor(clock.now());
    await queue.add(
      rows.map((row) => {
        const telling: IncidentTelling = {
          what: 'incident',
          incident: id,
          conversation: row.conversation,
        };
        const message = ids.uuid();
        return {
          id: message,
          app_id: row.app_id,
          event_key: `tell:incident:${message}`,
          kind: 'tell' as const,
          conversation: row.conversation,
          lane: `${row.app_id}|incident:${id}|${row.conversation}`,
          payload: JSON.stringify(telling),
          run_id: ids.uuid(),
          created_at: now,
          delayMs: waitMs,
        };
      }),
    );
  }

  /** Sends what was not reported in this thread yet, in one message. */
  async tell(
    app: AppRow,
    message: LeasedMessage,
    { incident, conversation }: IncidentTelling,
  ): Promise<'done' | 'ignored'> {
    const notice = await this.#notice(app.id, conversation, incident);
    const news = notice === undefined ? [] : await this.#news(incident, notice.told);
    if (notice === undefined || news.length === 0) {
      return 'ignored';
    }
    await this.#parts.messenger.answer(app, message, JSON.parse(notice.thread) as ImTarget, {
      text: news.map(lineOf).join('\n'),
    });
    await this.#mark(app.id, conversation, incident, news.at(-1)!.id, message.write);
    return 'done';
  }

  async #deliver(message: ChannelMessage, { endpoint }: ChannelAddress): Promise<Verdict> {
    const [, appId = '', conversation = ''] = form.exec(endpoint) ?? [];
    const row = (await this.#parts.apps.enabled()).find(({ id }) => id === appId);
    const platform = row && this.#parts.apps.platform(row.provider);
    if (row === undefined || platform === undefined) {
      return {
        result: 'failed',
        reason: 'its app is disabled or was deleted; connect it again, or delete the channel',
        degraded: true,
      };
    }
    const { incident, kind } = message;
    try {
      const earlier = incident && (await this.#notice(row.id, conversation, incident.id));
      if (
        incident !== undefined &&
        earlier !== undefined &&
        (kind === 'resolved' || kind === 'reminder')
      ) {
        await this.#followUp(row, earlier, message, textOf(message, platform));
        return { result: 'sent' };
      }
      const saying: Saying = {
        text: textOf(message, platform),
        buttons: await this.#buttons(row, message),
      };
      const posted = await this.#parts.messenger.tell(
        row,
        conversation,
        platform.conversationTarget(conversation),
        saying,
        message.delivery_id,
      );
      if (incident !== undefined && kind !== 'resolved') {
        await this.#remember(row.id, conversation, incident.id, {
          message: posted.id,
          thread: JSON.stringify(posted.thread),
          at: posted.at,
        });
      }
      return { result: 'sent' };
    } catch (error) {
      if (!(error instanceof SendDeferred)) {
        throw error;
      }
      return error.again
        ? {
            result: 'retry',
            reason: error.message,
            ...(error.afterMs !== undefined && { afterMs: error.afterMs }),
          }
        : { result: 'failed', reason: error.message, degraded: true };
    }
  }

  /**
   * Sends updates in the thread of the notice; when the incident is over, the notice itself says so
   * and loses its buttons.
   */
  async #followUp(
    app: AppRow,
    notice: NoticeRow,
    message: ChannelMessage,
    text: string,
  ): Promise<void> {
    const { messenger } = this.#parts;
    const last = (await this.#news(notice.incident_id, 0)).at(-1)?.id ?? 0;
    await messenger.tell(
      app,
      notice.conversation,
      JSON.parse(notice.thread) as ImTarget,
      { text },
      message.delivery_id,
    );
    await this.#mark(app.id, notice.conversation, notice.incident_id, last);
    if (message.kind === 'resolved' && notice.posted !== '') {
      const saying: Saying = { text, buttons: linkButton(message, wordsOf(app.locale).open) };
      // The thread has it already, so that a platform that refuses loses nothing.
      await messenger
        .rewrite(
          app,
          notice.conversation,
          JSON.parse(notice.posted) as ImTarget,
          saying,
          `${message.delivery_id}.over`,
        )
        .catch(() => false);
    }
  }

  async #buttons(app: AppRow, message: ChannelMessage): Promise<readonly ImButton[]> {
    const { incident, kind } = message;
    const words = wordsOf(app.locale);
    if (incident === undefined || kind === 'resolved') {
      return linkButton(message, words.open);
    }
    const acts: readonly Labelled[] = [
      { label: words.ack, style: 'primary', act: { kind: 'ack', incident: incident.id } },
      {
        label: words.silence,
        act: { kind: 'silence', incident: incident.id, duration: silenceFor },
      },
      { label: words.investigate, act: { kind: 'investigate', incident: incident.id } },
    ];
    return [
      ...(await this.#parts.actions.buttons(app.id, acts)),
      ...linkButton(message, words.open),
    ];
  }

  async #news(incident: number, after: number): Promise<readonly IncidentEventView[]> {
    const { incidents } = this.#parts;
    return incidents.available
      ? (await incidents.get().events(incident, undefined)).filter(
          ({ id, type }) => id > after && life.has(type),
        )
      : [];
  }

  #notice(appId: string, conversation: string, incident: number): Promise<NoticeRow | undefined> {
    return this.#parts.tables.read
      .selectFrom('imbridge_notices')
      .selectAll()
      .where('app_id', '=', appId)
      .where('conversation', '=', conversation)
      .where('incident_id', '=', incident)
      .executeTakeFirst();
  }

  async #remember(
    appId: string,
    conversation: string,
    incident: number,
    { message, thread, at }: { message: string; thread: string; at: ImTarget },
  ): Promise<void> {
    const told = (await this.#news(incident, 0)).at(-1)?.id ?? 0;
    const row = {
      message,
      thread,
      posted: JSON.stringify(at),
      told,
      created_at: Math.floor(this.#parts.clock.now()),
    };
    await this.#parts.tables.write((tx) =>
      tx
        .insertInto('imbridge_notices')
        .values({ app_id: appId, conversation, incident_id: incident, ...row })
        .onConflict((on) => on.columns(['app_id', 'conversation', 'incident_id']).doUpdateSet(row))
        .execute(),
    );
  }

  async #mark(
    appId: string,
    conversation: string,
    incident: number,
    told: number,
    write: LeasedMessage['write'] = (work) => this.#parts.tables.write(work),
  ): Promise<void> {
    await write((tx) =>
      tx
        .updateTable('imbridge_notices')
        .set({ told })
        .where('app_id', '=', appId)
        .where('conversation', '=', conversation)
        .where('incident_id', '=', incident)
        .where('told', '<', told)
        .execute(),
    );
  }
}

const linkButton = ({ link }: ChannelMessage, label: string): readonly ImButton[] =>
  link === '' ? [] : [{ label, url: link }];

/** Share of a platform's max size for text; buttons need the rest. */
const maxText = 0.75;

/** Returns the text of a notice; nothing in it comes from a model, so no markdown is intended. */
const textOf = ({ title, lines, link }: ChannelMessage, { max_size: max }: ImPlatform): string =>
  fitted([title, ...lines], { most: Math.floor(max * maxText), link, escape: markdown });

const lineOf = ({ type, message, actor }: IncidentEventView): string =>
  `${type.replaceAll('_', ' ')}${actor.name === '' || actor.type === 'system' ? '' : ` (${actor.name})`}${message === '' ? '' : `: ${message}`}`.slice(
    0,
    longestLine,
  );
