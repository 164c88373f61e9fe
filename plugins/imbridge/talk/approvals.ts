import type { Approval, ApprovalBook } from 'svc/contracts/approval';
import type { Clock, Handle, Ids, Tables } from 'svc/sdk';

import type { Actions, Labelled } from './actions.ts';
import type { Apps } from '../apps/apps.ts';
import type { MessageQueue } from '../store/message-queue.ts';
import { MessageStore, type NewMessage } from '../store/message-store.ts';
import type { LeasedMessage } from '../messages/leased-message.ts';
import type { Messenger, Saying } from '../messages/messenger.ts';
import type { People } from '../apps/people.ts';
import type { AppRow, ImTables } from '../store/tables.ts';
import { filled, wordsOf } from '../messages/words.ts';

export interface ApprovalTalkParts {
  readonly apps: Apps;
  readonly tables: Pick<Tables<ImTables>, 'read'>;
  readonly queue: MessageQueue;
  readonly people: People;
  readonly actions: Actions;
  readonly messenger: Messenger;
  readonly book: Handle<ApprovalBook>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface ApprovalTelling {
  readonly what: 'approval';
  readonly approval: string;
  readonly sender: string;
}

const waits = (approval: Approval): boolean =>
  approval.status === 'pending' || approval.status === 'partially_signed';
const longestShown = 1_500;

/**
 * Messages about changes that wait for signatures: a separate one to each linked person whose
 * signature would count.
 */
export class ApprovalTalk {
  readonly #parts: ApprovalTalkParts;

  constructor(parts: ApprovalTalkParts) {
    this.#parts = parts;
  }

  /**
   * Sends open approvals, also those requested during downtime, and to newly linked people. A key
   * keeps each from being sent twice.
   */
  async tellOpen(): Promise<void> {
    if (this.#parts.book.available) {
      for (const approval of await this.#parts.book.get().open()) {
        await this.requested(approval);
      }
    }
  }

  async requested(approval: Approval): Promise<void> {
    const { tables, apps, queue, people, book, clock, ids } = this.#parts;
    // Told of before its commit, it is found when those that are open are told the next time.
    if (!book.available || (await book.get().get(approval.id)) === undefined) {
      return;
    }
    const now = Math.floor(clock.now());
    // Where the run was started, its own thread shows it.
    const origin =
      approval.owner.kind === 'chat'
        ? await new MessageStore(tables.read).byRun(approval.owner.ref)
        : undefined;
    const asker = origin && (JSON.parse(origin.payload) as { readonly sender?: string }).sender;
    const rows: NewMessage[] = [];
    for (const app of await apps.enabled()) {
      for (const { sender, user_id: user } of await people.linkedTo(app.id)) {
        if (
          (origin?.app_id === app.id && asker === sender) ||
          !(await this.#isFor(approval.id, user))
        ) {
          continue;
        }
        const telling: ApprovalTelling = { what: 'approval', approval: approval.id, sender };
        rows.push({
          id: ids.uuid(),
          app_id: app.id,
          event_key: `tell:approval:${approval.id}:${sender}`.slice(0, 300),
          kind: 'tell',
          conversation: `person:${sender}`,
          lane: `${app.id}|person:${sender}`,
          payload: JSON.stringify(telling),
          run_id: ids.uuid(),
          created_at: now,
        });
      }
    }
    await queue.add(rows);
  }

  /** Sends an approval, unless it was decided meanwhile, or the person may no longer sign it. */
  async tell(
    app: AppRow,
    message: LeasedMessage,
    { approval, sender }: ApprovalTelling,
  ): Promise<'done' | 'ignored'> {
    const { apps, people, book } = this.#parts;
    const platform = apps.platform(app.provider);
    const signer = (await people.linkedTo(app.id)).find((link) => link.sender === sender);
    const isTold =
      book.available && signer !== undefined && (await this.#isFor(approval, signer.user_id));
    const card = platform === undefined || !isTold ? undefined : await this.card(app, approval);
    if (card === undefined) {
      return 'ignored';
    }
    await this.#parts.messenger.answer(app, message, platform!.personTarget(sender), card);
    return 'done';
  }

  /** Returns whether their signature would count: they may sign, and see the device it is about. */
  async #isFor(approval: string, user: number): Promise<boolean> {
    return (await this.#parts.book.get().objection(approval, user)) === undefined;
  }

  /**
   * Returns the exact text of what will run, with buttons that are valid for exactly that;
   * undefined once it is decided. What does not fit into a message is signed in the console.
   */
  async card(app: AppRow, id: string): Promise<Saying | undefined> {
    const approval = this.#parts.book.available ? await this.#parts.book.get().get(id) : undefined;
    if (approval === undefined || !waits(approval)) {
      return undefined;
    }
    const words = wordsOf(app.locale);
    const { args_sha256, tool, target, rendered, signatures, requested_by: by } = approval;
    const what = `${tool} (${target.name})`;
    const head = [
      filled(words.waiting, { count: signatures }),
      `${what} ← ${by.name} (${by.role})`,
    ];
    if (rendered.length > longestShown) {
      const text = [...head, `${rendered.slice(0, longestShown)}…`, words.signElsewhere].join('\n');
      return { text };
    }
    const acts: readonly Labelled[] = [
      {
        label: words.approve,
        style: 'primary',
        act: { kind: 'approve', approval: id, args_sha256, what },
      },
      {
        label: words.deny,
        style: 'danger',
        act: { kind: 'deny', approval: id, args_sha256, what },
      },
    ];
    const buttons = await this.#parts.actions.buttons(app.id, acts);
    const byText = filled(words.byText, { approve: buttons[0]!.token, deny: buttons[1]!.token });
    const text = [...head, rendered, args_sha256.slice(0, 12), byText].join('\n');
    return { text, buttons };
  }
}
