import type { KnownPersona, PersonaDirectory } from 'svc/contracts/persona';
import type { Tool, ToolSource } from 'svc/contracts/skill';
import type { Scope } from 'svc/sdk';
import { Type } from 'typebox';

import { askKey, evidenceOf, missingCitations, withoutCitations } from '../journal/citations.ts';
import { isTainted, replay, type Within } from '../journal/journal.ts';
import { ownerOf } from '../session/sessions.ts';
import { finalText, shownCalls, usageOf } from './closing.ts';
import { errors } from './errors.ts';
import type { RunRow, RunStore } from './run-store.ts';
import type { Runs } from './runs.ts';

export interface SubAgentParts {
  readonly runs: Runs;
  readonly store: RunStore;
  readonly personas: PersonaDirectory;
  readonly scope: Scope;
}

const longestMs = 300_000;
const longestFindings = 5_000;

const Params = Type.Object({
  agent: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the agent.' }),
  task: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description:
      'What to find out, including everything the agent needs to know: it cannot see this conversation.',
  }),
});

const ask: Tool = {
  key: askKey,
  name: 'Ask another agent',
  scope: 'manager',
  class: 'safe',
  tier: 'core',
  devices: 'narrowed',
  source: 'chat',
  trust: 'untrusted',
  description:
    'Has another agent investigate one question using read-only tools, and returns its findings with the evidence for them. Changes nothing. Several agents can run at once.',
  schema: Params as unknown as Tool['schema'],
};

/** Agents that agents ask: a run of its own under the call that asked for it, one level deep, which reads and answers with findings. */
export class SubAgents implements ToolSource {
  readonly #parts: SubAgentParts;
  readonly #list = [ask];

  constructor(parts: SubAgentParts) {
    this.#parts = parts;
  }

  list(): readonly Tool[] {
    return this.#list;
  }

  onChange(): () => void {
    return () => undefined;
  }

  /** Runs an agent; repeated by the same call after a kill, it is the same run. */
  async run(
    _key: string,
    params: Readonly<Record<string, unknown>>,
    call: Parameters<ToolSource['run']>[2],
  ): Promise<object> {
    const { runs, store, scope } = this.#parts;
    const { agent, task } = params as { agent: string; task: string };
    const [parentId = '', callId = ''] = (call.idempotencyKey ?? '').split(':');
    const parent = await store.find(parentId);
    if (
      parent === undefined ||
      parent.parent !== null ||
      parent.state === 'ended' ||
      parent.owner !== ownerOf(call.principal)
    ) {
      throw errors.no_parent({ askKey, agent });
    }
    const id = `${parentId}.${callId}`;
    if ((await store.find(id)) === undefined) {
      const persona = this.#able(agent);
      await runs.startWithin(parent, id, {
        content: task,
        agent: persona.name,
        within: await this.#within(parent),
      });
    }
    await runs.resume(id);
    const forget = scope.timeout(`end of run ${id}`, longestMs, () =>
      runs.cancel(call.principal, id),
    );
    try {
      await Promise.race([runs.settled(call.principal, id), left(call.signal)]);
    } finally {
      await forget();
    }
    return this.#findings(id);
  }

  #able(name: string): KnownPersona {
    const persona = this.#parts.personas.find(name);
    if (persona === undefined || persona.unmet.length > 0) {
      const why = persona === undefined ? 'there is none with that name' : persona.unmet.join('; ');
      throw errors.agent_not_asked({ name, why });
    }
    return persona;
  }

  async #within({ id }: RunRow): Promise<Within> {
    const { store, personas } = this.#parts;
    const state = replay(await store.journal(id));
    const agent = state.routed?.agent ?? '';
    const { disallowed_tools: denied = [], tools: allowed = [] } = personas.find(agent) ?? {};
    return {
      run: id,
      agent,
      context: state.asked.context,
      tainted: isTainted(state),
      denied,
      allowed,
      evidence: [...evidenceOf(state)],
      token_limit: state.asked.token_limit,
    };
  }

  /** Returns the findings of a run, never how it got them. */
  async #findings(id: string): Promise<object> {
    const { store } = this.#parts;
    const row = await store.find(id);
    if (row?.state !== 'ended') {
      throw errors.agent_left();
    }
    const state = replay(await store.journal(id));
    const text = withoutCitations(finalText(state), missingCitations(state)).trim();
    if (text === '') {
      throw errors.no_findings({
        agent: `${row.agent}`,
        error: state.ended?.error ?? `${row.finish_reason}`,
      });
    }
    return {
      agent: row.agent,
      run_id: id,
      finish_reason: row.finish_reason,
      findings: text.slice(0, longestFindings),
      tools_called: shownCalls(state).length,
      usage: usageOf(state),
    };
  }
}

const left = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
    }
  });
