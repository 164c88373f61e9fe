import type { ChatRuns, RunAsk, RunEnd, RunEvent, RunUsage } from 'svc/contracts/chat';
import type { SvcError } from 'svc/sdk';
import { type Principal, type Scope } from 'svc/sdk';

import { replay, type RunState, type Within } from '../journal/journal.ts';
import { enclosedText } from '../prompt/enclosures.ts';
import { type Sessions, ownerOf } from '../session/sessions.ts';
import { activeKey } from '../session/store.ts';
import { finalText, usageOf } from './closing.ts';
import { isDue, isRunDue } from './due.ts';
import { errors } from './errors.ts';
import { EventLog } from './event-log.ts';
import type { RunPorts } from './ports.ts';
import { type RunRow, unworked } from './run-store.ts';
import { RunWorker } from './worker.ts';

const heldMs = 15_000;
const heartbeatMs = 5_000;
const flushMs = 20;
const lookAgainMs = 100;

export interface RunsOptions {
  readonly ports: Omit<RunPorts, 'flushSoon'>;
  readonly sessions: Sessions;
  readonly scope: Scope;
  /** Id of this generation of this process, which holds runs. */
  readonly holder: string;
  /** Returns whether a holder belongs to a process that is gone. */
  readonly isGone: (holder: string) => boolean;
  /** Tells the next generation, if there is one, of a run that this one has left. */
  readonly left: (runId: string) => void;
  readonly livePrincipal: (principal: Principal) => Principal | undefined;
}

interface Active {
  readonly events: EventLog;
  readonly stop: AbortController;
  cancelled: boolean;
  /** A decision came while it was worked on. */
  again: boolean;
}

/** Every run that is worked on here: started, taken over, followed, cancelled. */
export class Runs implements ChatRuns {
  readonly #ports: RunPorts;
  readonly #options: RunsOptions;
  readonly #active = new Map<string, Active>();
  #dirty = new Set<EventLog>();
  #isKept = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#ports = { ...options.ports, flushSoon: (log) => this.#flushSoon(log) };
  }

  openSession(principal: Principal, ask: Parameters<ChatRuns['openSession']>[1]): Promise<string> {
    return this.#options.sessions.create(principal, ask).then(({ id }) => id);
  }

  async start({
    principal,
    session_id: sessionId,
    content,
    enclosures = [],
    agent,
    context = {},
    origin,
    run_id: given,
    token_limit: limit,
  }: RunAsk): Promise<{ readonly run_id: string }> {
    if (given !== undefined && (await this.#ports.runs.find(given)) !== undefined) {
      return await this.#startedBefore(principal, sessionId, given);
    }
    const session = await this.#options.sessions.toWriteIn(principal, sessionId);
    if (agent !== undefined) {
      this.#ports.coordinator.named(agent);
    }
    const now = this.#ports.clock.now();
    const id = given ?? this.#ports.ids.uuid();
    const enclosed = enclosedText(enclosures);
    await this.#options.sessions.addAsk(session, { content, enclosed }, id, async () => {
      await this.#ports.runs.insert(
        {
          id,
          session_id: session.id,
          owner: ownerOf(principal),
          origin,
          agent: agent ?? null,
          principal: JSON.stringify(principal),
          ...unworked,
          created_at: now,
        },
        {
          kind: 'asked',
          content,
          agent,
          context,
          ...(enclosed !== '' && { enclosed }),
          token_limit: limit,
        },
      );
      await this.#ports.sessions.update(session.id, {
        last_message_at: now,
        updated_at: now,
        active: activeKey(now, session.id),
      });
    });
    await this.resume(id);
    return { run_id: id };
  }

  /** Starts a run for the agent of another run, with the same person, session and budgets. */
  async startWithin(
    parent: RunRow,
    id: string,
    asked: { readonly content: string; readonly agent: string; readonly within: Within },
  ): Promise<void> {
    const { session_id, owner, origin, principal } = parent;
    const row = {
      id,
      session_id,
      owner,
      origin,
      principal,
      agent: asked.agent,
      ...unworked,
      parent: parent.id,
      created_at: this.#ports.clock.now(),
    };
    await this.#ports.runs.insert(row, { kind: 'asked', context: asked.within.context, ...asked });
  }

  async #startedBefore(
    principal: Principal,
    sessionId: string,
    id: string,
  ): Promise<{ readonly run_id: string }> {
    const { state } = await this.requireIn(sessionId, principal, id);
    if (state === 'running') {
      await this.resume(id);
    }
    return { run_id: id };
  }

  /** Works on a run from where its journal ends, unless another worker has it. */
  async resume(id: string): Promise<void> {
    const active = this.#active.get(id);
    if (active !== undefined) {
      active.again = true;
      return;
    }
    const { runs, clock } = this.#ports;
    const until = clock.now() + heldMs;
    const { holder, isGone } = this.#options;
    const row = await runs.take(id, holder, until, clock.now(), isGone);
    if (row === undefined) {
      return;
    }
    const events = new EventLog(clock, await runs.events(id, 0), row.reserved_seq);
    const begun: Active = { events, stop: new AbortController(), cancelled: false, again: false };
    this.#active.set(id, begun);
    this.#keepOn();
    // Read now: who has cancelled before has written it down, and who does from now on finds it here.
    begun.cancelled ||= (await runs.find(id))?.cancelled === 1;
    this.#options.scope.task(`run ${id}`, (signal) => this.#carry(row, begun, signal));
  }

  /** Continues a run when an approval it waits for is decided, or announced again. */
  async decided(id: string, approvalId: string): Promise<void> {
    const { approvals } = this.#ports;
    const approval = approvals.available ? await approvals.get().get(approvalId) : undefined;
    if (approval !== undefined && (await isDue(approval, this.#ports))) {
      await this.resume(id);
    }
  }

  /** Runs that are left over: of a killed process, or of the generation before this one. */
  async takeOver(): Promise<void> {
    for (const { id, state } of await this.#ports.runs.open()) {
      if (state === 'running' || (await isRunDue(id, this.#ports))) {
        await this.resume(id);
      }
    }
  }

  /** Extends the leases of runs in progress here; one whose end could not be written expires. */
  #keepOn(): void {
    if (this.#isKept || this.#active.size === 0) {
      return;
    }
    this.#isKept = true;
    this.#options.scope.timeout('hold runs', heartbeatMs, async () => {
      this.#isKept = false;
      this.#keepOn();
      if (this.#active.size > 0) {
        await this.#ports.runs.keep(
          this.#options.holder,
          [...this.#active.keys()],
          this.#ports.clock.now() + heldMs,
        );
      }
    });
  }

  async *follow(principal: Principal, runId: string, afterSeq = 0): AsyncGenerator<RunEvent> {
    const { state } = await this.#own(principal, runId);
    const active = state === 'running' ? await this.#worked(runId) : this.#active.get(runId);
    const source =
      active === undefined
        ? await this.#ports.runs.events(runId, afterSeq)
        : active.events.follow(afterSeq);
    // A finish in the middle is of an earlier stretch, before an approval: a stream ends with one.
    let held: RunEvent | undefined;
    for await (const event of source) {
      held = event.type === 'finish' ? event : undefined;
      if (held === undefined) {
        yield event;
      }
    }
    if (held !== undefined) {
      yield held;
    }
  }

  /**
   * Waits for a run; `isApart`: whether the chosen agent works in the background, and is not waited
   * for.
   */
  async settled(
    principal: Principal,
    runId: string,
    signal?: AbortSignal,
    isApart?: (agent: string) => boolean,
  ): Promise<RunEnd> {
    for await (const { type, data } of this.follow(principal, runId)) {
      signal?.throwIfAborted();
      if (type === 'data-plan' && isApart?.((data['data'] as { agent: string }).agent) === true) {
        const usage = usageOf(await this.stateOf(principal, runId));
        return { run_id: runId, finish_reason: 'background', text: '', usage, approvals: [] };
      }
    }
    const row = await this.#own(principal, runId);
    const state = replay(await this.#ports.runs.journal(runId));
    const waiting = state.turns
      .flatMap(({ calls }) => calls)
      .filter(({ state: at }) => at === 'waiting');
    return {
      run_id: runId,
      finish_reason: row.state === 'ended' ? row.finish_reason! : 'approval',
      text: finalText(state),
      agent: state.routed?.agent,
      error: state.ended?.error,
      usage: await this.#usage(row, state),
      approvals: waiting.flatMap(({ approval }) => approval ?? []),
    };
  }

  /** Returns the tokens of a run and of those that its agent has requested. */
  async #usage(row: RunRow, { turns }: RunState): Promise<RunUsage> {
    const { runs } = this.#ports;
    const asked = await runs.within(row);
    const theirs = await Promise.all(asked.map(async ({ id }) => replay(await runs.journal(id))));
    return usageOf({ turns: [turns, ...theirs.map((each) => each.turns)].flat() });
  }

  async cancel(principal: Principal, runId: string): Promise<void> {
    await this.#own(principal, runId);
    await this.end(runId);
  }

  /** Cancels a run and those that its agent has requested, whoever owns them. */
  async end(runId: string): Promise<void> {
    const row = await this.#ports.runs.find(runId);
    if (row === undefined || row.state === 'ended') {
      return;
    }
    await this.#ports.runs.update(runId, { cancelled: 1 });
    for (const { id } of (await this.#ports.runs.open(row.owner)).filter(
      ({ parent }) => parent === runId,
    )) {
      await this.end(id);
    }
    const active = this.#active.get(runId);
    if (active === undefined) {
      await this.resume(runId);
      return;
    }
    active.cancelled = true;
    active.stop.abort(new Error('cancelled'));
  }

  async stateOf(principal: Principal, runId: string): Promise<RunState> {
    const { id } = await this.#own(principal, runId);
    return replay(await this.#ports.runs.journal(id));
  }

  /** A run of another session is not found in this one. */
  async requireIn(sessionId: string, principal: Principal, runId: string): Promise<RunRow> {
    const row = await this.#own(principal, runId);
    if (row.session_id !== sessionId) {
      throw noRun(runId);
    }
    return row;
  }

  /** A run that is not over and not worked on here is between two workers; it is waited for. */
  async #worked(runId: string): Promise<Active | undefined> {
    for (let waited = 0; waited < heldMs; waited += lookAgainMs) {
      const active = this.#active.get(runId);
      if (active !== undefined || (await this.#ports.runs.find(runId))?.state !== 'running') {
        return active;
      }
      await new Promise<void>(
        (resolve) =>
          void this.#options.scope.timeout('look for a worker', lookAgainMs, () => resolve()),
      );
    }
    return undefined;
  }

  /** Returns its answer as history shows it, or what there is of it so far. */
  async textOf(principal: Principal, runId: string): Promise<string> {
    const row = await this.#own(principal, runId);
    return (
      (await this.#ports.sessions.answerOf(row.session_id, runId)) ??
      finalText(replay(await this.#ports.runs.journal(row.id)))
    );
  }

  async #carry(row: RunRow, active: Active, leave: AbortSignal): Promise<void> {
    const stop = (): void => active.stop.abort(leave.reason);
    leave.addEventListener('abort', stop, { once: true });
    try {
      const session = await this.#ports.sessions.find(row.session_id);
      const principal = this.#options.livePrincipal(JSON.parse(row.principal) as Principal);
      if (session === undefined || principal === undefined) {
        await this.#ports.runs.change(row, {
          state: 'ended',
          finish_reason: 'cancelled',
          ended_at: this.#ports.clock.now(),
          holder: null,
        });
        return;
      }
      const entries = await this.#ports.runs.journal(row.id);
      const work = {
        row,
        session,
        principal,
        origin: row.origin as RunAsk['origin'],
        events: active.events,
        signal: active.stop.signal,
      };
      const standing = await new RunWorker(this.#ports, work, replay(entries), entries.length).run(
        () => active.cancelled,
      );
      if (standing === 'left') {
        await this.#ports.runs.change(row, { holder: null });
        this.#options.left(row.id);
      }
    } finally {
      leave.removeEventListener('abort', stop);
      active.events.close();
      this.#active.delete(row.id);
    }
    if ((active.again || active.cancelled) && !leave.aborted) {
      await this.resume(row.id);
    }
  }

  /** Another person's run is not found, for all but admins. */
  async #own(principal: Principal, runId: string): Promise<RunRow> {
    const row = await this.#ports.runs.find(runId);
    if (
      row === undefined ||
      !(row.owner === ownerOf(principal) || principal.grants.includes('*'))
    ) {
      throw noRun(runId);
    }
    return row;
  }

  #flushSoon(log: EventLog): void {
    if (this.#dirty.size === 0) {
      this.#options.scope.timeout('send text', flushMs, () => {
        const dirty = this.#dirty;
        this.#dirty = new Set();
        dirty.forEach((each) => each.flush());
      });
    }
    this.#dirty.add(log);
  }
}

const noRun = (id: string): SvcError => errors.no_run({ id });
