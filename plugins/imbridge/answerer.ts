import type { ImEvent } from 'svc/contracts/imbridge';

import type { ApprovalTalk, ApprovalTelling } from './approvals.ts';
import type { Apps } from './apps.ts';
import type { Commands, Reply, Said } from './commands.ts';
import type { Conversations } from './conversations.ts';
import type { IncidentTalk, IncidentTelling } from './incidents.ts';
import type { JobStore } from './job-store.ts';
import { type Messenger, SendDeferred } from './messenger.ts';
import type { People } from './people.ts';
import type { JobRow, JobState } from './tables.ts';
import { wordsOf } from './words.ts';

export interface AnswererParts {
  readonly apps: Apps;
  readonly jobs: JobStore;
  readonly people: People;
  readonly commands: Commands;
  readonly conversations: Conversations;
  readonly incidents: IncidentTalk;
  readonly approvals: ApprovalTalk;
  readonly messenger: Messenger;
  readonly perMinute: () => number;
}

export interface Ended {
  readonly state: Exclude<JobState, 'queued'>;
  readonly why?: string;
}

const minuteMs = 60_000;
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

  async handle(job: JobRow, signal: AbortSignal): Promise<Ended> {
    const { apps, people, incidents, approvals } = this.#parts;
    const app = await apps.row(job.app_id);
    const platform = apps.platform(app.provider);
    if (app.enabled === 0) {
      return { state: 'ignored', why: 'the app is disabled' };
    }
    if (platform === undefined) {
      throw new SendDeferred(`the room of ${app.provider} is not enabled`, true, betweenRoomsMs);
    }
    if (job.kind === 'tell') {
      const telling = JSON.parse(job.payload) as IncidentTelling | ApprovalTelling;
      return {
        state:
          telling.what === 'incident'
            ? await incidents.tell(app, job, telling)
            : await approvals.tell(app, job, telling),
      };
    }
    const event = JSON.parse(job.payload) as ImEvent;
    const sender = await people.senderOf(app, event.sender);
    const listed = isListed(JSON.parse(app.allow_from) as readonly string[], event);
    if (platform.allow_list && !listed) {
      return { state: 'ignored', why: 'the sender is not in allow_from' };
    }
    // A group that others flood is still that of the person on call: people are counted separately.
    const brought =
      job.kind === 'message'
        ? await this.#parts.jobs.before(job, minuteMs, sender.linked ? 'own' : 'all')
        : 0;
    if (brought >= this.#parts.perMinute()) {
      return { state: 'ignored', why: 'the conversation brings too many messages' };
    }
    const said: Said = {
      app,
      job,
      event,
      sender,
      allowed: sender.linked || listed,
      incident: await incidents.incidentOf(app, event),
    };
    return await this.#answer(said, signal);
  }

  async #answer(said: Said, signal: AbortSignal): Promise<Ended> {
    const { app, job, event } = said;
    const reply = job.answer === null ? await this.#reply(said) : { text: job.answer };
    if ('ask' in reply) {
      return {
        state: await this.#parts.conversations.answer(
          said,
          { text: reply.ask, incident: reply.incident ?? said.incident },
          signal,
        ),
      };
    }
    if (job.answer === null) {
      await this.#parts.jobs.update(job.id, { answer: reply.text });
    }
    await this.#parts.messenger.answer(app, job, event.reply, reply);
    return { state: 'done' };
  }

  async #reply(said: Said): Promise<Reply> {
    const { event, allowed, app } = said;
    const words = wordsOf(app.locale);
    if (event.kind === 'action') {
      return await this.#parts.commands.press(said);
    }
    const command = await this.#parts.commands.run(said);
    if (command !== undefined) {
      return command;
    }
    if (!allowed) {
      return { text: words.unlinked };
    }
    return event.text.trim() === ''
      ? { text: event.has_media ? words.onlyText : words.help }
      : { ask: event.text };
  }
}

const isListed = (allowed: readonly string[], { sender, conversation }: ImEvent): boolean =>
  allowed.includes('*') || allowed.includes(sender) || allowed.includes(conversation);
