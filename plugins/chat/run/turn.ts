import type { ModelPart } from 'svc/contracts/model';

import { type Digest, noDigest } from '../journal/digest.ts';
import { effortOf } from '../prompt/effort.ts';
import { promptOf } from '../prompt/prompt.ts';
import type { Offer } from '../tools/toolbag.ts';
import type { PlannedCall, RunState } from '../journal/journal.ts';
import type { OpenRun, RunPorts } from './ports.ts';

const historyMessages = 40;

/** One turn of the model: asked with what fits, streamed to readers as it comes, stored whole before any of its calls is made. */
export async function askModel(ports: RunPorts, run: OpenRun, isLast: boolean): Promise<void> {
  const { state, persona, work } = run;
  if (persona === undefined) {
    throw new Error(`persona ${state.routed!.agent} is gone`);
  }
  // An answer that was all thoughts is asked for once more, with fewer of them and twice the room.
  const spentRoom = isAllThought(state);
  const effort = spentRoom ? 'low' : effortOf(persona);
  const usable = ports.models.usable(persona.model, effort);
  const offer = await ports.toolbag.offer(
    { principal: work.principal, persona, origin: work.origin },
    state,
  );
  const { within } = state.asked;
  const history =
    within === undefined
      ? (await ports.sessions.lastMessages(work.session.id, historyMessages)).filter(
          ({ run_id: id }) => id !== work.row.id,
        )
      : [];
  const usualTokens = ports.settings.maxReplyTokens();
  const isRoomy = usable.ok && usable.context >= 8 * usualTokens;
  const maxTokens = spentRoom && isRoomy ? 2 * usualTokens : usualTokens;
  const { messages, tail, compacted } = promptOf({
    state,
    persona,
    offer,
    history,
    clock: ports.clock,
    systemContext: ports.settings.systemContext(),
    model: usable.ok ? usable.model : persona.model,
    guides: ports.registry.guides(),
    digest: within === undefined ? (JSON.parse(work.session.digest) as Digest) : noDigest,
    agents: ports.personas.list(),
    window: (usable.ok ? usable.context - (usable.thinking ?? 0) : 8_192) - maxTokens,
  });
  if (compacted) {
    work.events.add('data-notice', { data: { code: 'compacted' }, transient: true });
  }
  work.events.add('start-step');
  const budget = {
    run: within?.run ?? work.row.id,
    session: work.session.id,
    persona: persona.name,
    limit: within?.token_limit ?? state.asked.token_limit,
  };
  const telling = new TurnTelling(ports, run, offer, isLast);
  for await (const part of ports.models.stream({
    model: persona.model,
    messages,
    tail,
    tools: offer.tools,
    mayCall: !isLast,
    maxTokens,
    effort,
    budget,
    signal: work.signal,
  })) {
    telling.take(part);
  }
  await telling.store();
}

/** Returns whether the last answer used its room up before it said anything. */
function isAllThought({ turns }: RunState): boolean {
  const last = turns.at(-1);
  return last?.finish === 'length' && last.text.trim() === '' && last.calls.length === 0;
}

/** Turns the parts of one answer into events, and into the row of the journal. */
class TurnTelling {
  readonly #ports: RunPorts;
  readonly #run: OpenRun;
  readonly #offer: Offer;
  /** Calls of a last turn were not asked for, and are not made. */
  readonly #isLast: boolean;
  readonly #calls = new Map<number, PlannedCall>();
  /**
   * Our ids by position of the call in the answer: those of vendors may be duplicates, or of any
   * length.
   */
  readonly #ids = new Map<number, string>();
  #open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  #text = '';
  #end: Extract<ModelPart, { type: 'end' }> | undefined;

  constructor(ports: RunPorts, run: OpenRun, offer: Offer, isLast: boolean) {
    this.#ports = ports;
    this.#run = run;
    this.#offer = offer;
    this.#isLast = isLast;
  }

  take(part: ModelPart): void {
    const { events } = this.#run.work;
    if (this.#isLast && part.type.startsWith('call')) {
      return;
    }
    switch (part.type) {
      case 'text':
        this.#text += part.delta;
        this.#say('text', part.delta);
        return;
      case 'reasoning':
        this.#say('reasoning', part.delta);
        return;
      case 'call-start':
        this.#closeText();
        events.add('tool-input-start', {
          toolCallId: this.#idOf(part.index),
          toolName: this.#keyOf(part.name),
          dynamic: true,
        });
        return;
      case 'call-delta':
        events.add('tool-input-delta', {
          toolCallId: this.#idOf(part.index),
          inputTextDelta: part.delta,
        });
        return;
      case 'call': {
        this.#closeText();
        const call = {
          id: this.#idOf(part.index),
          name: part.name,
          tool: this.#keyOf(part.name),
          args: part.args,
        };
        this.#calls.set(part.index, call);
        const shown = {
          toolCallId: call.id,
          toolName: call.tool,
          input: part.args ?? part.text,
          dynamic: true,
        };
        if (part.args === undefined) {
          events.add('tool-input-error', {
            ...shown,
            errorText: 'the arguments are not one JSON object',
          });
        } else {
          events.add('tool-input-available', shown);
        }
        return;
      }
      case 'end':
        this.#end = part;
    }
  }

  async store(): Promise<void> {
    this.#closeText();
    if (this.#end === undefined) {
      throw new Error('the answer of the model has no end');
    }
    const { finish, usage, model, kept } = this.#end;
    this.#run.work.events.add('data-usage', { data: { ...usage, model }, transient: true });
    this.#run.work.events.add('finish-step');
    await this.#run.append([
      {
        kind: 'answered',
        text: this.#text,
        calls: [...this.#calls.values()],
        finish,
        usage,
        model,
        // Calls that are not made must not come back either.
        kept: this.#isLast ? undefined : kept,
      },
    ]);
  }

  #say(type: 'text' | 'reasoning', delta: string): void {
    const { events } = this.#run.work;
    if (this.#open?.type !== type) {
      this.#closeText();
      this.#open = { type, id: this.#ports.ids.token(6) };
      events.add(`${type}-start`, { id: this.#open.id });
    }
    if (events.delta(`${type}-delta`, this.#open.id, delta)) {
      events.flush();
    } else {
      this.#ports.flushSoon(events);
    }
  }

  #closeText(): void {
    if (this.#open !== undefined) {
      this.#run.work.events.add(`${this.#open.type}-end`, { id: this.#open.id });
      this.#open = undefined;
    }
  }

  #idOf(index: number): string {
    const id = this.#ids.get(index) ?? `call_${this.#ports.ids.token(9)}`;
    this.#ids.set(index, id);
    return id;
  }

  #keyOf(name: string): string {
    return this.#offer.byName.get(name)?.key ?? name;
  }
}
