import type { ImEvent } from 'svc/contracts/imbridge';
import { isSvcError, type Tables } from 'svc/sdk';

import type { ApprovalTalk, ApprovalTelling } from '../talk/approvals.ts';
import type { Apps } from '../apps/apps.ts';
import type { Attachments } from '../talk/attachments.ts';
import { type Commands, isCommand, type Reply, type Said } from '../talk/commands.ts';
import type { Conversations } from '../talk/conversations.ts';
import type { Home } from '../talk/home.ts';
import type { IncidentTalk, IncidentTelling } from '../talk/incidents.ts';
import { MessageStore } from '../store/message-store.ts';
import type { LeasedMessage } from '../messages/leased-message.ts';
import { type Messenger, SendDeferred } from '../messages/messenger.ts';
import type { People } from '../apps/people.ts';
import type { Previews } from '../talk/previews.ts';
import type { HeldEvent, ImTables, MessageState } from '../store/tables.ts';
import { filled, wordsOf } from '../messages/words.ts';

export interface AnswererParts {
  readonly apps: Apps;
  readonly tables: Pick<Tables<ImTables>, 'read'>;
  readonly people: People;
  readonly commands: Commands;
  readonly attachments: Attachments;
  readonly home: Home;
  readonly previews: Previews;
  readonly conversations: Conversations;
  readonly incidents: IncidentTalk;
  readonly approvals: ApprovalTalk;
  readonly messenger: Messenger;
  readonly perMinute: () => number;
}

export interface Ended {
  readonly state: Exclude<MessageState, 'queued'>;
  readonly why?: string;
}

const minuteMs = 60_000;
const tooMany = 'the conversation exceeds its message limit';
const betweenRoomsMs = 1_000;

/**
 * Processor of one message, from its sender to its single answer. Repeated after a kill, it
 * continues from what is on disk.
 */
export class Answerer {
  readonly #parts: AnswererParts;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
  }

  async handle(message: LeasedMessage, signal: AbortSignal): Promise<Ended> {
    const { tables, apps, people, incidents, approvals } = this.#parts;
    const { row } = message;
    const app = await apps.row(row.app_id);
    const platform = apps.platform(app.provider);
    if (app.enabled === 0) {
      return { state: 'ignored', why: 'the app is disabled' };
    }
    if (platform === undefined) {
      throw new SendDeferred(`the plugin of ${app.provider} is not enabled`, true, betweenRoomsMs);
    }
    if (row.kind === 'tell') {
      const telling = JSON.parse(row.payload) as IncidentTelling | ApprovalTelling;
      return {
        state:
          telling.what === 'incident'
            ? await incidents.tell(app, message, telling)
            : await approvals.tell(app, message, telling),
      };
    }
    const event = JSON.parse(row.payload) as HeldEvent;
    const store = new MessageStore(tables.read);
    const isBegun = row.session_id !== null || row.sent !== null || row.answer !== null;
    if (!isBegun && (await store.isSuperseded(row))) {
      return { state: 'ignored', why: 'its sender has edited it since' };
    }
    if (event.continues === true && !isBegun) {
      const last = await store.lastSaid(row.lane, row.id);
      if (last?.sender !== row.sender || last.state !== 'done') {
        return {
          state: 'ignored',
          why: 'it mentions nobody, and the last answer in its thread went to someone else',
        };
      }
    }
    const earlier = event.edited === true ? await store.answeredVersion(row) : undefined;
    if (earlier?.digest === row.digest) {
      return { state: 'ignored', why: 'the edit does not change its text' };
    }
    const sender = await people.senderOf(app, event.sender);
    const listed = isListed(JSON.parse(app.allow_from) as readonly string[], event);
    if (platform.allow_list && !listed) {
      return { state: 'ignored', why: 'the sender is not in allow_from' };
    }
    // A group that others flood is still that of the person on call: people are counted separately.
    const whose = sender.linked ? 'own' : 'all';
    const perMinute = this.#parts.perMinute();
    if (row.kind === 'message' && (await store.before(row, minuteMs, whose)) >= perMinute) {
      if ((await store.before(row, minuteMs, whose, tooMany)) === 0) {
        const text = filled(wordsOf(app.locale).tooMany, { count: perMinute });
        await this.#parts.messenger.answer(app, message, event.reply, { text });
      }
      return { state: 'ignored', why: tooMany };
    }
    const said: Said = {
      app,
      message,
      event,
      sender,
      allowed: sender.linked || listed,
      isRevision: earlier !== undefined,
      incident: await incidents.incidentOf(app, event),
    };
    switch (event.kind) {
      case 'home':
        await this.#parts.home.show(said);
        return { state: 'done' };
      case 'links':
        return { state: (await this.#parts.previews.show(said)) ? 'done' : 'ignored' };
      default:
        return await this.#answer(said, signal);
    }
  }

  /**
   * Says why there will be no answer, in place of the announced one. What a platform refuses to
   * change, it may still take as a new message; if not, the message in the queue has the reason.
   */
  async excuse(message: LeasedMessage, cause: unknown): Promise<void> {
    const { apps, messenger } = this.#parts;
    const { row } = message;
    if (row.kind === 'tell') {
      return;
    }
    const { reply, kind } = JSON.parse(row.payload) as ImEvent;
    if (kind === 'home' || kind === 'links') {
      return;
    }
    try {
      // Without its app there is no chat to write to.
      const app = await apps.row(row.app_id);
      const sorry = { text: filled(wordsOf(app.locale).noAnswer, { why: shownCause(cause) }) };
      await messenger
        .answer(app, message, reply, sorry)
        .catch(() => messenger.tell(app, row.conversation, reply, sorry, `${row.id}.excuse`));
    } catch {
      // The message ends all the same, with its cause in the queue.
    }
  }

  async #answer(given: Said, signal: AbortSignal): Promise<Ended> {
    const isQuestion =
      given.event.kind === 'message' && given.allowed && !isCommand(given.event.text);
    const said = isQuestion ? await this.#parts.attachments.read(given) : given;
    const { app, message, event } = said;
    const { answer } = message.row;
    const reply = answer === null ? await this.#reply(said) : { text: answer };
    if ('form' in reply) {
      if (!(await this.#parts.messenger.openForm(app, event, reply.form))) {
        const { formLate: text } = wordsOf(app.locale);
        await this.#parts.messenger.answer(app, message, event.reply, { text });
      }
      return { state: 'done' };
    }
    if ('ask' in reply) {
      return {
        state: await this.#parts.conversations.answer(
          said,
          { text: reply.ask, incident: reply.incident ?? said.incident },
          signal,
        ),
      };
    }
    if (answer === null) {
      await message.keep({ answer: reply.text });
    }
    await this.#parts.messenger.answer(app, message, event.reply, reply);
    if (event.at_home === true) {
      await this.#parts.home.show(said);
    }
    return { state: 'done' };
  }

  async #reply(said: Said): Promise<Reply> {
    const { event, allowed, app } = said;
    const words = wordsOf(app.locale);
    if (event.kind === 'action') {
      return await this.#parts.commands.press(said);
    }
    if (said.isRevision && isCommand(event.text)) {
      return { text: words.editedCommand };
    }
    const command = await this.#parts.commands.run(said);
    if (command !== undefined) {
      const { files = [] } = event;
      return files.length > 0 && 'text' in command
        ? { ...command, text: `${command.text}\n\n${this.#parts.attachments.refusal(said)}` }
        : command;
    }
    if (!allowed) {
      return { text: words.unlinked };
    }
    if (event.text.trim() !== '') {
      return { ask: said.isRevision ? filled(words.edited, { text: event.text }) : event.text };
    }
    const { enclosures = [], unread = words.onlyText } = event;
    return enclosures.length > 0
      ? { ask: words.aboutFiles }
      : { text: event.has_media ? unread : words.help };
  }
}

/** A fault of svc itself is not for a chat that many read. */
const shownCause = (cause: unknown): string =>
  cause instanceof SendDeferred || (isSvcError(cause) && cause.code !== 'internal')
    ? cause.message
    : 'internal error';

const isListed = (allowed: readonly string[], { sender, conversation }: ImEvent): boolean =>
  allowed.includes('*') || allowed.includes(sender) || allowed.includes(conversation);
