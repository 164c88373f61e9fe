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

import type { Actions } from './actions.ts';
import { type ChartParts, showLastHour } from './charts.ts';
import type { Apps } from '../apps/apps.ts';
import { errors } from './errors.ts';
import {
  actsFor,
  type IncidentState,
  keyOf,
  type NoticeBody,
  presentLines,
  stateOf,
} from './incident-state.ts';
import type { MessageQueue } from '../store/message-queue.ts';
import { NoticeStore } from '../store/notice-store.ts';
import type { LeasedMessage } from '../messages/leased-message.ts';
import { SendDeferred, type Saying } from '../messages/messenger.ts';
import type { Posted } from '../store/message-store.ts';
import type { AppRow, ImTables, NoticeRow } from '../store/tables.ts';
import { wordsOf } from '../messages/words.ts';

export interface IncidentTalkParts extends ChartParts {
  readonly tables: Tables<ImTables>;
  readonly apps: Apps;
  readonly queue: MessageQueue;
  readonly actions: Actions;
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
    return await this.#stored.incidentOf(app.id, conversation, above);
  }

  async toldHere(app: AppRow, event: ImEvent, incident: number): Promise<void> {
    if ((await this.incidentOf(app, event)) === incident) {
      const last = (await this.#news(incident, 0)).at(-1)?.id ?? 0;
      const key = { app_id: app.id, conversation: event.conversation, incident_id: incident };
      await this.#parts.tables.write((tx) => new NoticeStore(tx).tell(key, last));
    }
  }

  /** Catches up after a start: reports what happened to incidents meanwhile. */
  async catchUp(): Promise<void> {
    for (const id of await this.#stored.latest(maxCaughtUp)) {
      await this.changed({ id, status: 'open', device_id: null, events: ['note'] });
    }
  }

  async forget(): Promise<void> {
    const before = this.#parts.clock.now() - keptMs;
    await this.#parts.tables.write((tx) => new NoticeStore(tx).forget(before));
  }

  async changed({ id, events }: IncidentChangedEvent): Promise<void> {
    const { queue, clock, ids } = this.#parts;
    if (!events.some((type) => life.has(type))) {
      return;
    }
    const rows = await this.#stored.ofIncident(id);
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

  /** Sends what was not reported in this thread yet, in one message, and shows the present state in the notice. */
  async tell(
    app: AppRow,
    message: LeasedMessage,
    { incident, conversation }: IncidentTelling,
  ): Promise<'done' | 'ignored'> {
    const key = { app_id: app.id, conversation, incident_id: incident };
    const notice = await this.#stored.find(key);
    if (notice === undefined) {
      return 'ignored';
    }
    const news = await this.#news(incident, notice.told);
    if (news.length > 0) {
      await this.#parts.messenger.answer(app, message, JSON.parse(notice.thread) as ImTarget, {
        text: news.map(lineOf).join('\n'),
      });
      await message.write((tx) => new NoticeStore(tx).tell(key, news.at(-1)!.id));
    }
    return (await this.#present(app, notice)) || news.length > 0 ? 'done' : 'ignored';
  }

  /** Rewrites a notice whose incident has changed; returns whether it had. */
  async #present(app: AppRow, notice: NoticeRow): Promise<boolean> {
    const { incidents, apps, tables } = this.#parts;
    const platform = apps.platform(app.provider);
    const state = incidents.available
      ? await stateOf(incidents.get(), notice.incident_id)
      : undefined;
    if (
      platform?.edit === undefined ||
      state === undefined ||
      notice.body === '' ||
      notice.posted === '' ||
      notice.shown === keyOf(state)
    ) {
      return false;
    }
    const body = JSON.parse(notice.body) as NoticeBody;
    const lines = presentLines(body, state, wordsOf(app.locale));
    const saying: Saying = {
      text: textOf({ ...body, lines }, platform),
      buttons: await this.#buttons(app, notice.incident_id, state.status, body.link),
    };
    await this.#rewrite(app, notice, saying, `${notice.incident_id}.${keyOf(state)}`);
    await tables.write((tx) => new NoticeStore(tx).show(notice, { shown: keyOf(state) }));
    return true;
  }

  /** A notice that was deleted, or is too old to be edited, stays as it is: its thread has the news. */
  async #rewrite(app: AppRow, notice: NoticeRow, saying: Saying, key: string): Promise<void> {
    const at = JSON.parse(notice.posted) as ImTarget;
    try {
      await this.#parts.messenger.rewrite(app, notice.conversation, at, saying, key);
    } catch (error) {
      if (!(error instanceof SendDeferred) || error.again) {
        throw error;
      }
    }
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
      const earlier =
        incident &&
        (await this.#stored.find({ app_id: row.id, conversation, incident_id: incident.id }));
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
        buttons:
          incident === undefined || kind === 'resolved'
            ? linkButton(message, wordsOf(row.locale).open)
            : await this.#buttons(row, incident.id, 'open', message.link),
      };
      const posted = await this.#parts.messenger.tell(
        row,
        conversation,
        platform.conversationTarget(conversation),
        saying,
        message.delivery_id,
      );
      if (incident !== undefined && kind !== 'resolved') {
        await this.#remember(row.id, conversation, message, posted);
        // The notice has arrived: nobody waits for its picture.
        this.#parts.later(() => showLastHour(this.#parts, row, conversation, message, posted));
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
    const { messenger, tables, incidents } = this.#parts;
    const last = (await this.#news(notice.incident_id, 0)).at(-1)?.id ?? 0;
    await messenger.tell(
      app,
      notice.conversation,
      JSON.parse(notice.thread) as ImTarget,
      { text },
      message.delivery_id,
    );
    await tables.write((tx) => new NoticeStore(tx).tell(notice, last));
    if (message.kind === 'resolved' && notice.posted !== '') {
      const saying: Saying = { text, buttons: linkButton(message, wordsOf(app.locale).open) };
      // The thread has it already, so that a platform that refuses loses nothing.
      await this.#rewrite(app, notice, saying, `${message.delivery_id}.over`).catch(
        () => undefined,
      );
      const state = incidents.available
        ? await stateOf(incidents.get(), notice.incident_id)
        : undefined;
      await tables.write((tx) =>
        new NoticeStore(tx).show(notice, {
          body: JSON.stringify(bodyOf(message)),
          ...(state?.status === 'resolved' && { shown: keyOf(state) }),
        }),
      );
    }
  }

  async #buttons(
    app: AppRow,
    incident: number,
    status: IncidentState['status'],
    link: string,
  ): Promise<readonly ImButton[]> {
    const words = wordsOf(app.locale);
    return [
      ...(await this.#parts.actions.buttons(
        app.id,
        actsFor(incident, status, words, this.#hasForms(app)),
      )),
      ...linkButton({ link }, words.open),
    ];
  }

  #hasForms({ provider }: AppRow): boolean {
    return this.#parts.apps.platform(provider)?.openForm !== undefined;
  }

  async #news(incident: number, after: number): Promise<readonly IncidentEventView[]> {
    const { incidents } = this.#parts;
    return incidents.available
      ? (await incidents.get().events(incident, undefined)).filter(
          ({ id, type }) => id > after && life.has(type),
        )
      : [];
  }

  async #remember(
    appId: string,
    conversation: string,
    message: ChannelMessage,
    posted: Posted,
  ): Promise<void> {
    const { incidents, tables, clock } = this.#parts;
    const incident = message.incident!.id;
    const told = (await this.#news(incident, 0)).at(-1)?.id ?? 0;
    const row: NoticeRow = {
      app_id: appId,
      conversation,
      incident_id: incident,
      message: posted.id,
      thread: JSON.stringify(posted.thread),
      posted: JSON.stringify(posted.at),
      told,
      body: JSON.stringify(bodyOf(message)),
      shown: '',
      created_at: Math.floor(clock.now()),
    };
    const state = incidents.available ? await stateOf(incidents.get(), incident) : undefined;
    // Acknowledged while it was on its way, it is shown so with the next event.
    const shown = state?.status === 'open' ? keyOf(state) : '';
    await tables.write((tx) => new NoticeStore(tx).put({ ...row, shown }));
  }

  get #stored(): NoticeStore {
    return new NoticeStore(this.#parts.tables.read);
  }
}

const bodyOf = ({ title, lines, link }: ChannelMessage): NoticeBody => ({ title, lines, link });

const linkButton = ({ link }: Pick<ChannelMessage, 'link'>, label: string): readonly ImButton[] =>
  link === '' ? [] : [{ label, url: link }];

/** Share of a platform's max size for text; buttons need the rest. */
const maxText = 0.75;

/** Returns the text of a notice; nothing in it comes from a model, so no markdown is intended. */
const textOf = ({ title, lines, link }: NoticeBody, { max_size: max }: ImPlatform): string =>
  fitted([title, ...lines], { most: Math.floor(max * maxText), link, escape: markdown });

const lineOf = ({ type, message, actor }: IncidentEventView): string =>
  `${type.replaceAll('_', ' ')}${actor.name === '' || actor.type === 'system' ? '' : ` (${actor.name})`}${message === '' ? '' : `: ${message}`}`.slice(
    0,
    longestLine,
  );
