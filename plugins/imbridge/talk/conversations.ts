import type { ChatRuns, RunEnd } from 'svc/contracts/chat';
import { type Clock, type Handle, isSvcError, type Tables } from 'svc/sdk';

import type { ApprovalTalk } from './approvals.ts';
import type { Apps } from '../apps/apps.ts';
import { type ChartParts, MeasuredCharts, showCharts } from './charts.ts';
import type { Said } from './commands.ts';
import { MessageStore } from '../store/message-store.ts';
import { SendDeferred, type Saying } from '../messages/messenger.ts';
import type { ImTables } from '../store/tables.ts';
import { ownerOf, type ThreadLog } from './thread-log.ts';
import { filled, wordsOf } from '../messages/words.ts';

/** The text with its citations as links to what they cite; as it is while svc knows no address of its own. */
const withLinks = (text: string, url: string): string =>
  url === ''
    ? text
    : text.replaceAll(
        /\[(E[1-9]\d{0,14})\](?!\()/g,
        `[$1](${url.replace(/\/$/, '')}/ui/evidence/$1)`,
      );

export interface ConversationParts extends ChartParts {
  readonly publicUrl: () => string;
  readonly tables: Tables<ImTables>;
  readonly chat: Handle<ChatRuns>;
  readonly apps: Apps;
  readonly approvals: ApprovalTalk;
  readonly threads: ThreadLog;
  readonly clock: Clock;
}

export interface Question {
  readonly text: string;
  readonly incident: number | undefined;
}

/**
 * Time for which a plugin may be missing: plugins start one after the other, and are absent for a
 * moment when reloaded.
 */
const awayMs = 60_000;
const betweenRoomsMs = 1_000;
const keptMs = 90 * 86_400_000;
const betweenWorkersMs = 500;
/** Each edit waits longer than the one before, so that long answers do not use up what a platform allows. */
const slower = 1.3;

/** Questions to agents: one session for a thread and a person, with what others have said there, one run for a message, one answer for a run. */
export class Conversations {
  readonly #parts: ConversationParts;
  #awaySince: number | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  /** Answers a message; `waiting` means that people have to decide before it continues. */
  async answer(said: Said, question: Question, signal: AbortSignal): Promise<'done' | 'waiting'> {
    const { app, message, event } = said;
    const { chat, messenger, clock } = this.#parts;
    const words = wordsOf(app.locale);
    this.#awaySince = chat.available ? undefined : (this.#awaySince ?? clock.monotonic());
    if (this.#awaySince !== undefined && clock.monotonic() - this.#awaySince < awayMs) {
      throw new SendDeferred('agents are not available now', true, betweenRoomsMs);
    }
    if (!chat.available) {
      await messenger.answer(app, message, event.reply, { text: words.noChat });
      return 'done';
    }
    const objection = await this.#start(said, question);
    if (objection !== undefined) {
      await messenger.answer(app, message, event.reply, {
        text: filled(words.noAnswer, { why: objection }),
      });
      return 'done';
    }
    await this.#announce(said);
    const { problem, measured } = await this.#follow(said, signal);
    const end = await chat.get().settled(said.sender.principal, message.row.run_id, signal);
    if (end.finish_reason === 'approval') {
      return await this.#wait(said, end);
    }
    const text =
      end.text.trim() === ''
        ? filled(words.noAnswer, { why: problem ?? end.finish_reason })
        : withLinks(end.text, this.#parts.publicUrl());
    const posted = await messenger.answer(app, message, event.reply, {
      text: event.unread === undefined ? text : `${text}\n\n${event.unread}`,
    });
    await showCharts(this.#parts, said, measured, posted);
    await this.#parts.threads.note(said, question.text, end.text);
    return 'done';
  }

  /** Starts a new session in this thread for this person. */
  async renew(said: Said): Promise<void> {
    await this.#leaveSession(said);
    await this.#parts.threads.note(said, '', '');
  }

  async #leaveSession({ app, message, event, sender }: Said): Promise<void> {
    await message.write((tx) =>
      tx
        .deleteFrom('imbridge_threads')
        .where('app_id', '=', app.id)
        .where('thread', '=', event.thread)
        .where('owner', '=', ownerOf(sender.principal))
        .execute(),
    );
  }

  /** Ends sessions of threads in which nobody has written for long. */
  async forget(): Promise<void> {
    const before = this.#parts.clock.now() - keptMs;
    await this.#parts.tables.write((tx) =>
      tx.deleteFrom('imbridge_threads').where('updated_at', '<', before).execute(),
    );
    await this.#parts.threads.forget();
  }

  /** The run is on disk afterwards, once however often this is called; why not, where it cannot be. */
  async #start(said: Said, question: Question, isRepeat = false): Promise<string | undefined> {
    const { app, message, event, sender } = said;
    const before = await this.#parts.threads.before(said);
    const session = message.row.session_id ?? (await this.#session(said, question));
    const content =
      question.incident === undefined
        ? question.text
        : `@incident:${question.incident} ${question.text}`;
    const context = {
      platform: app.provider,
      ...(question.incident !== undefined && { incident_id: question.incident }),
    };
    try {
      const agent = app.default_agent ?? undefined;
      await this.#parts.chat.get().start({
        principal: sender.principal,
        session_id: session,
        run_id: message.row.run_id,
        content,
        enclosures: [...(event.enclosures ?? []), ...(before === undefined ? [] : [before])],
        agent,
        context,
        origin: 'im',
      });
      return undefined;
    } catch (error) {
      if (!isSvcError(error) || error.code === 'internal' || error.code === 'unavailable') {
        throw error;
      }
      if (error.reason !== 'chat.no_session' || isRepeat) {
        return error.message;
      }
      // It was deleted meanwhile; another one takes its place.
      message.inSession(null);
      await this.#leaveSession(said);
      return await this.#start(said, question, true);
    }
  }

  /** Session, thread and message in one commit. */
  async #session({ app, message, event, sender }: Said, { incident }: Question): Promise<string> {
    const { chat, clock } = this.#parts;
    const key = { app_id: app.id, thread: event.thread, owner: ownerOf(sender.principal) };
    const session = await message.write(async (tx) => {
      const found = await tx
        .selectFrom('imbridge_threads')
        .select('session_id')
        .where('app_id', '=', key.app_id)
        .where('thread', '=', key.thread)
        .where('owner', '=', key.owner)
        .executeTakeFirst();
      const opened =
        found?.session_id ??
        (await chat
          .get()
          .openSession(
            sender.principal,
            incident === undefined ? {} : { related_incident_id: incident },
          ));
      const row = { ...key, session_id: opened, updated_at: Math.floor(clock.now()) };
      await tx
        .insertInto('imbridge_threads')
        .values(row)
        .onConflict((on) =>
          on
            .columns(['app_id', 'thread', 'owner'])
            .doUpdateSet({ session_id: opened, updated_at: row.updated_at }),
        )
        .execute();
      await new MessageStore(tx).keep(message.row.id, { session_id: opened });
      return opened;
    });
    message.inSession(session);
    return session;
  }

  /** Shows that a message was read; if the platform cannot edit, there is only the answer. */
  async #announce({ app, message, event }: Said): Promise<void> {
    if (message.row.sent !== null || this.#parts.apps.platform(app.provider)?.edits === undefined) {
      return;
    }
    try {
      await this.#parts.messenger.answer(app, message, event.reply, {
        text: wordsOf(app.locale).thinking,
      });
    } catch (error) {
      if (!(error instanceof SendDeferred)) {
        throw error;
      }
    }
  }

  /** Shows the answer as it grows; returns what the run complained of last, and what it has measured. */
  async #follow(
    { app, message, sender }: Said,
    signal: AbortSignal,
  ): Promise<{ readonly problem: string | undefined; readonly measured: MeasuredCharts }> {
    const { chat, apps, messenger, clock } = this.#parts;
    const edits = apps.platform(app.provider)?.edits;
    const left = new Promise<'left'>((resolve) =>
      signal.addEventListener('abort', () => resolve('left'), { once: true }),
    );
    const events = chat.get().follow(sender.principal, message.row.run_id)[Symbol.asyncIterator]();
    let [text, shown, made, problem] = ['', '', 0, undefined as string | undefined];
    const measured = new MeasuredCharts();
    let [waits, last] = [edits?.every_ms ?? 0, clock.monotonic()];
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([events.next(), left]);
      if (next === 'left' || next.done === true) {
        signal.throwIfAborted();
        return { problem, measured };
      }
      const { type, data } = next.value;
      measured.add(next.value);
      if (type === 'start-step') {
        text = '';
      }
      text += type === 'text-delta' ? String(data['delta']) : '';
      problem = type === 'error' ? String(data['errorText']) : problem;
      const isDue =
        edits !== undefined &&
        made < edits.most &&
        clock.monotonic() - last >= waits &&
        text.trim() !== '' &&
        text !== shown;
      if (isDue) {
        [last, waits, shown, made] = [clock.monotonic(), waits * slower, text, made + 1];
        await messenger.grow(app, message, `${text} …`);
      }
    }
  }

  async #wait(said: Said, { text, approvals }: RunEnd): Promise<'waiting'> {
    const { app, message, event } = said;
    const cards = (
      await Promise.all(approvals.map((id) => this.#parts.approvals.card(app, id)))
    ).filter((card) => card !== undefined);
    if (cards.length === 0) {
      throw new SendDeferred(
        'the run was decided, or is between two workers and about to continue',
        true,
        betweenWorkersMs,
      );
    }
    const saying: Saying = {
      text: [text, ...cards.map((card) => card.text)]
        .filter((part) => part.trim() !== '')
        .join('\n\n'),
      buttons: cards.flatMap((card) => card.buttons ?? []),
    };
    await this.#parts.messenger.answer(app, message, event.reply, saying);
    return 'waiting';
  }
}
