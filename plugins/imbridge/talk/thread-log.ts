import type { Enclosure } from 'svc/contracts/chat';
import type { Clock, Principal, Tables } from 'svc/sdk';

import type { Said } from './commands.ts';
import type { SenderNames } from './sender-names.ts';
import type { ImTables } from '../store/tables.ts';

export interface ThreadLogParts {
  readonly tables: Tables<ImTables>;
  readonly names: SenderNames;
  readonly clock: Clock;
}

export const ownerOf = ({ kind, id }: Principal): string => `${kind}:${id}`;

const isPrivate = ({ direct, hidden }: Said['event']): boolean => direct || hidden === true;

const keptMs = 7 * 86_400_000;
const maxExchanges = 20;
const longestQuestion = 1_000;
const longestAnswer = 2_000;

/**
 * Questions and answers in threads that several people read. Each person has a session of their own, whose tool results
 * others need not see; what was said in the open is handed over from here.
 */
export class ThreadLog {
  readonly #parts: ThreadLogParts;

  constructor(parts: ThreadLogParts) {
    this.#parts = parts;
  }

  /** Returns what others have said in the thread since its sender last asked there. */
  async before(said: Said): Promise<Enclosure | undefined> {
    const { app, message, event, sender } = said;
    if (isPrivate(event)) {
      return undefined;
    }
    const rows = await this.#parts.tables.read
      .selectFrom('imbridge_said')
      .selectAll()
      .where('app_id', '=', app.id)
      .where('thread', '=', event.thread)
      .where('id', '<', message.row.id)
      .where('created_at', '>', this.#parts.clock.now() - keptMs)
      .orderBy('id', 'desc')
      .limit(maxExchanges)
      .execute();
    const own = rows.findIndex(({ owner }) => owner === ownerOf(sender.principal));
    const lines = rows
      .slice(0, own < 0 ? rows.length : own)
      .toReversed()
      .filter(({ question }) => question !== '')
      .flatMap(({ name, question, answer }) => [
        `${name}: ${question}`,
        ...(answer === '' ? [] : [`you: ${answer}`]),
      ]);
    return lines.length === 0
      ? undefined
      : {
          title: `said before in this thread, which ${await this.#parts.names.of(said)} continues`,
          text: lines.join('\n'),
        };
  }

  /** Notes an exchange; without a question, that its sender knows all that was said before. */
  async note(said: Said, question: string, answer: string): Promise<void> {
    const { app, message, event, sender } = said;
    if (isPrivate(event)) {
      return;
    }
    const row = {
      id: message.row.id,
      app_id: app.id,
      thread: event.thread,
      owner: ownerOf(sender.principal),
      name: question === '' ? '' : await this.#parts.names.of(said),
      question: shortened(question, longestQuestion),
      answer: shortened(answer, longestAnswer),
      created_at: Math.floor(this.#parts.clock.now()),
    };
    await message.write((tx) =>
      tx
        .insertInto('imbridge_said')
        .values(row)
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute(),
    );
  }

  async forget(): Promise<void> {
    const before = this.#parts.clock.now() - keptMs;
    await this.#parts.tables.write((tx) =>
      tx.deleteFrom('imbridge_said').where('created_at', '<', before).execute(),
    );
  }
}

const shortened = (text: string, most: number): string =>
  text.length <= most ? text.trim() : `${text.slice(0, most).trim()}…`;
