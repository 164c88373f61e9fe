import type { IncidentActions } from 'svc/contracts/alert';
import type { Investigations } from 'svc/contracts/investigate';
import type { KnowledgeWriting } from 'svc/contracts/knowledge';
import { type Call, covers, type Handle, type Principal } from 'svc/sdk';

import type { Sessions } from '../session/sessions.ts';
import type { MessageRow, SessionStore } from '../session/store.ts';
import { errors } from './errors.ts';

export interface KeptParts {
  readonly sessions: Sessions;
  readonly store: Pick<SessionStore, 'answerIn' | 'questionOf'>;
  readonly incidents: Handle<IncidentActions>;
  readonly documents: Handle<KnowledgeWriting>;
  readonly investigations: Handle<Investigations>;
}

export interface Keeping {
  readonly as: 'note' | 'document' | 'investigation';
  /** Default: the last answer of the session that says something. */
  readonly message_id?: number | undefined;
  /** Incident of a note or an investigation; default: that of the session. */
  readonly incident_id?: number | undefined;
  readonly path?: string | undefined;
  readonly title?: string | undefined;
  readonly org_id?: number | undefined;
}

export interface Kept {
  readonly as: Keeping['as'];
  readonly incident_id: number | null;
  readonly document_id: number | null;
  readonly path: string | null;
  readonly investigation_id: number | null;
}

type Change = Pick<Call, 'principal' | 'note'>;

const longestNote = 4_000;
const nothing = { incident_id: null, document_id: null, path: null, investigation_id: null };

/** Answers that people keep elsewhere, each with the permissions of the person who keeps it. */
export class KeptAnswers {
  readonly #parts: KeptParts;

  constructor(parts: KeptParts) {
    this.#parts = parts;
  }

  async keep(session: string, asked: Keeping, change: Change): Promise<Kept> {
    const { sessions, store } = this.#parts;
    const { related_incident_id: related } = await sessions.own(change.principal, session);
    const answer = await store.answerIn(session, asked.message_id);
    if (answer === undefined) {
      throw errors.no_answer({ id: session });
    }
    if (answer.content.trim() === '') {
      throw errors.empty_answer();
    }
    const incident = asked.incident_id ?? related ?? undefined;
    switch (asked.as) {
      case 'document':
        return await this.#asDocument(answer, asked, change);
      case 'note':
        return await this.#asNote(answer, incident, change);
      case 'investigation':
        return await this.#asInvestigation(answer, incident, change);
    }
  }

  async #asNote(answer: MessageRow, incident: number | undefined, change: Change): Promise<Kept> {
    if (incident === undefined) {
      throw errors.which_incident();
    }
    // People add notes as they are; a program needs the permission that the route for notes requires.
    if (change.principal.kind !== 'user') {
      requireRight(change.principal, 'note', 'alert:ack');
    }
    const by = answer.agent === null ? '' : `Answer of the agent ${answer.agent}:\n\n`;
    await this.#parts.incidents
      .get()
      .note(incident, `${by}${answer.content}`.slice(0, longestNote), change, {
        session_id: answer.session_id,
        message_id: answer.id,
      });
    return { as: 'note', ...nothing, incident_id: incident };
  }

  /** Adds the answer to the timeline of its incident, then has the incident investigated. */
  async #asInvestigation(
    answer: MessageRow,
    incident: number | undefined,
    change: Change,
  ): Promise<Kept> {
    const investigations = this.#parts.investigations.get();
    const kept = await this.#asNote(answer, incident, change);
    const { name, email, kind, id } = change.principal;
    const { id: investigation } = await investigations.start(
      kept.incident_id!,
      name ?? email ?? `${kind} ${id}`,
    );
    return { ...kept, as: 'investigation', investigation_id: investigation };
  }

  async #asDocument(
    answer: MessageRow,
    { path, title, org_id: org }: Keeping,
    change: Change,
  ): Promise<Kept> {
    if (path === undefined) {
      throw errors.which_path();
    }
    requireRight(change.principal, 'document', 'knowledge:create');
    const question = await this.#parts.store.questionOf(answer.session_id, answer.run_id);
    const heading = title ?? question?.replaceAll(/\s+/g, ' ').trim().slice(0, 120) ?? path;
    const written = await this.#parts.documents.get().write(
      {
        path,
        title: heading,
        tags: ['answer'],
        content: `# ${heading}\n\n${answer.content}\n`,
        ...(org !== undefined && { org_id: org }),
      },
      change,
    );
    return { as: 'document', ...nothing, ...written };
  }
}

function requireRight({ grants }: Principal, as: Keeping['as'], right: string): void {
  if (!grants.some((grant) => covers(grant, right))) {
    throw errors.may_not_keep({ as, right });
  }
}
