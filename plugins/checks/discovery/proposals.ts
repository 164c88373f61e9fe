import { Ajv } from 'ajv';
import type { EdgeFleet } from 'svc/contracts/edge';
import {
  type Call,
  type Clock,
  type Handle,
  isSvcError,
  type Logger,
  messageOf,
  type Page,
  pageOfList,
  type PageRequest,
  type Tables,
} from 'svc/sdk';

import type { Check, Definition } from '../check/check.ts';
import { CheckDraft, type CheckShown } from '../check/check-schema.ts';
import type { CheckTables } from '../check/check-store.ts';
import { errors } from '../check/errors.ts';
import { dismissalStore } from './dismissal-store.ts';
import { isFinding } from './finding.ts';
import { type Proposal, proposalsOf } from './proposal.ts';
import type { ProposalShown } from './proposal-schema.ts';

export interface ProposalsParts {
  readonly fleet: Handle<EdgeFleet>;
  readonly tables: Tables<CheckTables>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly checks: () => readonly Check[];
  /** Returns the definition of a check as it would be; throws for one that cannot be. */
  readonly definitionOf: (draft: CheckDraft) => Definition;
  readonly create: (call: Actor, draft: CheckDraft) => Promise<CheckShown>;
  /** Ends with the plugin. */
  readonly signal: AbortSignal;
}

type Actor = Pick<Call, 'note' | 'requireMatch' | 'signal'>;

interface Looked {
  /** Time by the clock that never jumps. */
  readonly at: number;
  readonly proposals: readonly Proposal[];
  readonly notes: string;
}

const isDraft = new Ajv({ strict: false, logger: false }).compile<CheckDraft>(CheckDraft);
const method = 'check_discover';
const [againMs, soonMs, timeoutMs] = [15 * 60_000, 30_000, 20_000];
const [atOnce, maxOfAgent] = [4, 500];
const nothing: readonly Proposal[] = [];

/** Addresses that agents find on their machines and that a check could watch. */
export class Proposals {
  readonly #parts: ProposalsParts;
  readonly #looked = new Map<number, Looked>();
  readonly #looking = new Set<number>();

  constructor(parts: ProposalsParts) {
    this.#parts = parts;
  }

  /** Asks the agents that were not asked for a while, a few at a time. */
  lookAround(): void {
    const { fleet, clock } = this.#parts;
    if (!fleet.available) {
      return;
    }
    const edges = fleet.get();
    const known = new Set(edges.list().map(({ id }) => id));
    [...this.#looked.keys()]
      .filter((id) => !known.has(id))
      .forEach((id) => this.#looked.delete(id));
    const due = [...edges.online()].filter((id) => {
      const at = this.#looked.get(id)?.at;
      const isDue = at === undefined || clock.monotonic() - at >= againMs;
      // An agent of an older version knows no such method.
      return isDue && edges.capabilities(id)?.methods.includes(method) === true;
    });
    for (const id of due.filter((one) => !this.#looking.has(one))) {
      if (this.#looking.size < atOnce) {
        this.#looking.add(id);
        void this.#look(id).finally(() => this.#looking.delete(id));
      }
    }
  }

  async list(page: PageRequest): Promise<Page<ProposalShown>> {
    const dismissed = new Set(await dismissalStore(this.#parts.tables.read).all());
    return pageOfList(
      [...this.#open().values()].map((proposals) => this.#shown(proposals, dismissed)),
      ({ target, id }) => `${target} ${id}`,
      page,
    );
  }

  /** Creates a check that was proposed, under a name that is free. */
  async take(call: Actor, id: string): Promise<CheckShown> {
    const { draft } = this.#find(id);
    const names = new Set(this.#parts.checks().map(({ name }) => name));
    const wanted = plainName(draft.name ?? '');
    let name = wanted;
    for (let count = 2; names.has(name); count++) {
      name = `${wanted} ${count}`;
    }
    return await this.#parts.create(call, { ...draft, name });
  }

  async dismiss(call: Pick<Call, 'note'>, id: string): Promise<void> {
    const { draft } = this.#find(id);
    const { tables, clock } = this.#parts;
    await tables.write(async (tx) => {
      await dismissalStore(tx).add(id, Math.floor(clock.now()));
      call.note({
        resourceType: 'check_proposal',
        resourceId: id,
        after: { target: draft.target },
      });
    });
  }

  async #look(edgeId: number): Promise<void> {
    const { fleet, clock, log, signal } = this.#parts;
    const name = fleet.get().get(edgeId)?.name;
    const before = this.#looked.get(edgeId);
    // An agent that does not answer, or whose connection ends, is asked again soon, but not at once.
    const at = clock.monotonic() - againMs + soonMs;
    this.#looked.set(edgeId, { proposals: nothing, notes: '', ...before, at });
    try {
      const answer = await fleet.get().call<unknown>(edgeId, method, {}, { timeoutMs, signal });
      if (!isFinding(answer) || name === undefined) {
        log.warn(
          { event: 'checks.discovery_malformed', agent: name },
          'agent reported malformed findings',
        );
        this.#looked.set(edgeId, { at: clock.monotonic(), proposals: nothing, notes: '' });
        return;
      }
      const proposals = proposalsOf(name, answer).filter(({ draft }) => this.#isPossible(draft));
      const notes = answer.notes.join(' ');
      this.#looked.set(edgeId, {
        at: clock.monotonic(),
        proposals: proposals.slice(0, maxOfAgent),
        notes,
      });
      if (notes !== '' && notes !== before?.notes) {
        log.info(
          { event: 'checks.discovery_limited', agent: name, notes: answer.notes.slice(0, 20) },
          'agent could not read all files that checks are proposed from',
        );
      }
    } catch (error) {
      if (!signal.aborted) {
        log.debug(
          { agent: name, cause: messageOf(error) },
          'failed to ask an agent for proposals of checks',
        );
      }
    }
  }

  /** Returns whether a person could have written this. */
  #isPossible(draft: CheckDraft): boolean {
    try {
      const named = { ...draft, name: plainName(draft.name ?? '') };
      this.#parts.definitionOf(named);
      return isDraft(named);
    } catch (error) {
      if (isSvcError(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Returns those that no check watches yet, by ID, with all agents that found them. */
  #open(): ReadonlyMap<string, readonly Proposal[]> {
    const watched = new Set(
      this.#parts.checks().map(({ definition: { kind, target } }) => `${kind} ${target}`),
    );
    const found = new Map<string, Proposal[]>();
    for (const { proposals } of this.#looked.values()) {
      for (const proposal of proposals) {
        const { kind, target } = this.#parts.definitionOf(proposal.draft);
        if (!watched.has(`${kind} ${target}`)) {
          found.set(proposal.id, [...(found.get(proposal.id) ?? []), proposal]);
        }
      }
    }
    return found;
  }

  #find(id: string): Proposal {
    const proposal = this.#open().get(id)?.[0];
    if (proposal === undefined) {
      throw errors.no_proposal({ id });
    }
    return proposal;
  }

  #shown(proposals: readonly Proposal[], dismissed: ReadonlySet<string>): ProposalShown {
    const { id, draft, source } = proposals[0]!;
    const {
      kind,
      target,
      places,
      interval_s: interval,
      conditions,
      group,
    } = this.#parts.definitionOf(draft);
    return {
      id,
      name: plainName(draft.name ?? ''),
      kind,
      target,
      places: [...places],
      interval_s: interval,
      conditions: [...conditions],
      group,
      source,
      agents: proposals.map(({ agent }) => agent),
      dismissed: dismissed.has(id),
    };
  }
}

/** Makes a name that the API accepts of any text. */
const plainName = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9 ._-]+/g, '-')
    .slice(0, 70)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '') || 'check';
