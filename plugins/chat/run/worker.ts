import type { GatedPersona } from 'svc/contracts/gate';
import type { KnownPersona } from 'svc/contracts/persona';
import type { SvcError } from 'svc/sdk';
import { isSvcError, messageOf, type Principal } from 'svc/sdk';

import { askKey } from '../journal/citations.ts';
import type { Digest } from '../journal/digest.ts';
import { apply, type Entry, type RunState, type Within } from '../journal/journal.ts';
import { ToolCalls } from './calls.ts';
import { closeRun } from './closing.ts';
import { errors } from './errors.ts';
import { nextStep } from './next-step.ts';
import type { OpenRun, RunPorts, Work } from './ports.ts';
import { LostRun } from './run-store.ts';
import { askModel } from './turn.ts';

/** Refusals of the storage that say: none of this was written, there are too many writes. */
const notBegun: ReadonlySet<string> = new Set(['storage.queue_full', 'storage.wait_too_long']);
const maxTries = 30;
const pauseMs = 1_000;

export type Standing = 'ended' | 'waiting' | 'left';

/** Carries one run from row to row until it ends, waits for people, or has to be left to another worker. */
export class RunWorker implements OpenRun {
  readonly #ports: RunPorts;
  readonly work: Work;
  #state: RunState;
  #rows: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: RunPorts, work: Work, state: RunState, rows: number) {
    this.#ports = ports;
    this.work = work;
    this.#state = state;
    this.#rows = rows;
  }

  get state(): RunState {
    return this.#state;
  }

  get persona(): KnownPersona | undefined {
    const { routed, asked } = this.#state;
    const found = routed && this.#ports.personas.find(routed.agent);
    return found && asked.within ? restrained(found, asked.within) : found;
  }

  async run(isCancelled: () => boolean): Promise<Standing> {
    try {
      return seesAsAsked(this.work)
        ? await this.#steps(isCancelled)
        : await this.#end('error', errors.devices_changed());
    } catch (error) {
      if (error instanceof LostRun) {
        return 'left';
      }
      if (this.work.signal.aborted) {
        return isCancelled() ? await this.#end('cancelled', undefined) : 'left';
      }
      this.#ports.log.warn(
        { event: 'chat.run_failed', run_id: this.work.row.id, cause: messageOf(error) },
        'run failed',
      );
      const failure = isSvcError(error) ? error : errors.failed_inside();
      return this.#end(failure.code === 'budget_exceeded' ? 'budget' : 'error', failure);
    }
  }

  /** Appends keep their order. */
  append(entries: readonly Entry[], along?: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(async () => {
      const { events, row } = this.work;
      const fresh = events.unstored();
      const reserve = events.nextReserve();
      const more = async (): Promise<void> => {
        if (reserve !== undefined) {
          await this.#ports.runs.update(row.id, { reserved_seq: reserve });
        }
        await along?.();
      };
      const { runs, clock } = this.#ports;
      await this.#inTurn(() =>
        runs.append(row, clock.now(), { from: this.#rows + 1, entries, events: fresh }, more),
      );
      events.stored(fresh.length);
      if (reserve !== undefined) {
        events.reserved(reserve);
      }
      this.#rows += entries.length;
      this.#state = entries.reduce<RunState>(apply, this.#state);
    });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** A write that did not come to its turn is asked for again: many runs at once are no reason to lose one of them. */
  async #inTurn(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (
          !notBegun.has((isSvcError(error) && error.reason) || '') ||
          tries === maxTries ||
          this.work.signal.aborted
        ) {
          throw error;
        }
        await this.#ports.pause(pauseMs, this.work.signal);
      }
    }
  }

  async #steps(isCancelled: () => boolean): Promise<Standing> {
    const { events, row, session } = this.work;
    events.add('start', {
      messageId: row.id,
      messageMetadata: { session_id: session.id, run_id: row.id },
    });
    await this.append([]);
    const calls = new ToolCalls(this.#ports, this);
    for (;;) {
      if (isCancelled()) {
        return this.#end('cancelled', undefined);
      }
      this.work.signal.throwIfAborted();
      const step = nextStep(this.#state);
      switch (step.do) {
        case 'route':
          await routeRun(this.#ports, this);
          break;
        case 'ask':
          await askModel(this.#ports, this, step.last);
          break;
        case 'note':
          await this.append([{ kind: 'noted', about: step.about, text: step.text }]);
          break;
        case 'plan':
          await calls.plan(step.calls);
          break;
        case 'recover':
          await calls.recover(step.call);
          break;
        case 'wait':
          if (await calls.stillWait(step.calls)) {
            events.add('finish', { finishReason: 'tool-calls' });
            await this.append([], () =>
              this.#ports.runs.update(row.id, { state: 'waiting', holder: null }),
            );
            return 'waiting';
          }
          break;
        case 'end':
          return this.#end(step.finish, undefined);
      }
    }
  }

  async #end(
    finish: Extract<Entry, { kind: 'ended' }>['finish'],
    failure: SvcError | undefined,
  ): Promise<Standing> {
    await closeRun(this.#ports, this, finish, failure);
    return 'ended';
  }
}

/**
 * Restrains a persona that works for another agent: it reads within that one's limits as well, and
 * asks no third.
 */
const restrained = (
  persona: KnownPersona,
  { agent, allowed = [], denied }: Within,
): KnownPersona & GatedPersona => ({
  ...persona,
  permission_mode: 'read-only',
  disallowed_tools: [...persona.disallowed_tools, askKey],
  within: { name: agent, tools: allowed, disallowed_tools: denied, permission_mode: 'read-only' },
});

/** Returns whether the person still sees the devices that the run may have read about. */
const seesAsAsked = ({ row, principal }: Work): boolean =>
  JSON.stringify((JSON.parse(row.principal) as Principal).selectors) ===
  JSON.stringify(principal.selectors);

const maxTurns = 100;
const turnsWithin = 12;

const mayAsk = ({ tools, disallowed_tools: denied }: KnownPersona): boolean =>
  (tools.length === 0 || tools.includes(askKey)) && !denied.includes(askKey);

/**
 * Chooses the persona and stores the prompt of its model, once: a resumed run continues with the
 * same text.
 */
async function routeRun(ports: RunPorts, run: OpenRun): Promise<void> {
  const { row, session, principal, events, signal } = run.work;
  const { content, agent, context, enclosed, within } = run.state.asked;
  const wanted = agent ?? session.agent ?? undefined;
  const {
    persona,
    why,
    candidates,
    toAsk = [],
  } = await ports.coordinator.choose({
    content,
    agent: wanted,
    principal,
    run: row.id,
    session: session.id,
    signal,
  });
  events.add('data-plan', { data: { agent: persona.name, why, candidates }, transient: true });
  const spawn = {
    ...(session.related_incident_id !== null && { incident_id: session.related_incident_id }),
    ...context,
  };
  const isFirst =
    within !== undefined || !(await ports.sessions.hasAnswered(session.id, persona.name));
  const opening = isFirst ? ports.personas.initialPrompt(persona, spawn, principal).trim() : '';
  const { text, found } =
    within === undefined && ports.mentions.available
      ? await ports.mentions.get().resolve(content, principal)
      : { text: content, found: false };
  const told =
    toAsk.length === 0 || !mayAsk(persona)
      ? text
      : `${text}\n\nAgents whose subject this may be (from svc; ask them with ${askKey}): ${toAsk.join(', ')}`;
  const digest = JSON.parse(session.digest) as Digest;
  await run.append(
    [
      {
        kind: 'routed',
        agent: persona.name,
        version: persona.version,
        why,
        prompt: [opening, told, enclosed ?? ''].filter((part) => part !== '').join('\n\n'),
        kernel: ports.settings.kernel(),
        max_turns: Math.min(
          persona.max_turns > 0 ? persona.max_turns : ports.settings.maxTurns(),
          within === undefined ? maxTurns : turnsWithin,
        ),
        tainted:
          found || enclosed !== undefined || digest.tainted === true || within?.tainted === true,
        evidence: [...digest.evidence.map(({ id }) => id), ...(within?.evidence ?? [])],
      },
    ],
    () => ports.runs.update(row.id, { agent: persona.name }),
  );
}
