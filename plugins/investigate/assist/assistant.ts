import type { GateContract } from 'svc/contracts/gate';
import type {
  KeptTurn,
  ModelMessage,
  ModelRequest,
  Models,
  ModelToolCall,
} from 'svc/contracts/model';
import type { PersonaDirectory } from 'svc/contracts/persona';
import type { SkillRegistry, SkillRunner, Tool } from 'svc/contracts/skill';
import type { Assertion, Checked, Snapshot } from 'svc/rca';
import {
  type Clock,
  type Handle,
  isSvcError,
  messageOf,
  type Persona,
  type Principal,
} from 'svc/sdk';

import type { ReportBody } from '../report/build-report.ts';
import { answerFormat, type ModelAnswer, objectionTo, readAnswer } from './answer.ts';
import { digestOf, task } from './digest.ts';

export interface AssistantParts {
  readonly models: Handle<Models>;
  readonly personas: Handle<Pick<PersonaDirectory, 'find'>>;
  readonly registry: Handle<Pick<SkillRegistry, 'aliases'>>;
  readonly runner: Handle<Pick<SkillRunner, 'run'>>;
  readonly gate: Handle<GateContract>;
  /** Computes assertions again, in the thread of the engine. */
  readonly check: (
    snapshot: Snapshot,
    assertions: readonly Assertion[],
  ) => Promise<readonly Checked[]>;
  readonly clock: Clock;
}

/** Contribution of a model: a report, or why there is none. */
export type Assisted =
  | { readonly ok: true; readonly report: ReportBody; readonly contradicted: number }
  | { readonly ok: false; readonly reason: string };

export interface Case {
  readonly id: number;
  readonly incidentId: number;
  readonly summary: string;
  readonly report: ReportBody;
  readonly snapshot: Snapshot;
}

/** The tightest of these ends it. */
const caps = {
  calls: 8,
  turns: 6,
  tokens: 40_000,
  ms: 120_000,
  reply: 2_000,
  result: 6_000,
  callMs: 15_000,
};
const personaName = 'investigator';
/** Everybody may start an investigation, so what it reads with may read only what everybody may. */
export const reader: Principal = {
  kind: 'system',
  id: 'investigator',
  name: 'investigator',
  role: 'viewer',
  grants: [],
};
const levels = ['low', 'medium', 'high'] as const;
const mostOf = { low: 0.49, medium: 0.74, high: 1 };

interface Conversation {
  readonly messages: ModelMessage[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly persona: Persona | undefined;
  readonly signal: AbortSignal;
  readonly until: number;
  usage: ReportBody['usage'];
}

/** Lets a model look at a report: it may ask further and say more, and nothing that it says is believed unchecked. */
export class Assistant {
  readonly #parts: AssistantParts;

  constructor(parts: AssistantParts) {
    this.#parts = parts;
  }

  usable(): boolean {
    return (
      this.#parts.models.available &&
      this.#parts.models.get().usable(this.#persona()?.model ?? '').ok
    );
  }

  async assist(one: Case, signal: AbortSignal): Promise<Assisted> {
    const { clock } = this.#parts;
    const persona = this.#persona();
    const deadline = AbortSignal.timeout(caps.ms);
    const talk: Conversation = {
      persona,
      tools: this.#toolsOf(persona),
      signal: AbortSignal.any([signal, deadline]),
      until: clock.monotonic() + caps.ms,
      messages: [
        {
          role: 'system',
          text: [persona?.body ?? '', task, persona?.critical_reminder ?? '']
            .filter((part) => part !== '')
            .join('\n\n'),
        },
        {
          role: 'user',
          text: `<digest>\n${digestOf(one.incidentId, one.summary, one.report, one.snapshot).replaceAll('</digest>', '')}\n</digest>`,
        },
      ],
      usage: { ...one.report.usage },
    };
    try {
      const answer = await this.#answer(one, talk);
      return typeof answer === 'string'
        ? { ok: false, reason: `the model answered twice in a form that cannot be read: ${answer}` }
        : await this.#merged(one, answer, talk.usage);
    } catch (error) {
      if (signal.aborted || !(isSvcError(error) || deadline.aborted)) {
        throw error;
      }
      return {
        ok: false,
        reason: deadline.aborted ? 'the model timed out' : messageOf(error),
      };
    }
  }

  #persona(): Persona | undefined {
    return this.#parts.personas.available
      ? this.#parts.personas.get().find(personaName)
      : undefined;
  }

  /** Returns the read-only tools that the gate permits for an investigation. */
  #toolsOf(persona: Persona | undefined): ReadonlyMap<string, Tool> {
    const { registry, gate, runner } = this.#parts;
    if (!registry.available || !gate.available || !runner.available) {
      return new Map();
    }
    const allowed = (tool: Tool): boolean =>
      tool.class === 'safe' &&
      tool.key !== 'investigate' &&
      gate
        .get()
        .decide({ principal: reader, tool, origin: 'investigation', persona, tainted: true })
        .verdict === 'run';
    return new Map([...registry.get().aliases()].filter(([, tool]) => allowed(tool)));
  }

  /** Turns with tools, one without, and one more when that cannot be read. */
  async #answer(one: Case, talk: Conversation): Promise<ModelAnswer | string> {
    let text: string | undefined;
    for (let turn = 1; turn <= caps.turns && text === undefined; turn += 1) {
      const { input, calls, said, kept } = await this.#ask(
        one,
        talk,
        turn === caps.turns || this.#isSpent(talk),
      );
      if (calls.length === 0) {
        text = said;
      } else {
        talk.messages.push({ role: 'assistant', text: said, calls, kept });
        await this.#run(calls, talk);
      }
      talk.usage = { ...talk.usage, prompt_tokens: talk.usage.prompt_tokens + input };
    }
    const answer = readAnswer(text ?? '');
    if (typeof answer !== 'string') {
      return answer;
    }
    talk.messages.push(
      { role: 'assistant', text: text ?? '', calls: [] },
      {
        role: 'user',
        text: `That cannot be read: ${answer}. Answer with the one JSON object alone.`,
      },
    );
    const again = await this.#ask(one, talk, true);
    return readAnswer(again.said);
  }

  #isSpent({ usage, until }: Conversation): boolean {
    return (
      usage.tool_calls >= caps.calls ||
      usage.prompt_tokens + usage.completion_tokens >= caps.tokens ||
      this.#parts.clock.monotonic() > until
    );
  }

  async #ask(
    one: Case,
    talk: Conversation,
    isLast: boolean,
  ): Promise<{
    readonly said: string;
    readonly calls: readonly ModelToolCall[];
    readonly input: number;
    readonly kept: KeptTurn | undefined;
  }> {
    const tools: ModelRequest['tools'] = [...talk.tools].map(([name, { description, schema }]) => ({
      name,
      description,
      schema,
    }));
    const calls: ModelToolCall[] = [];
    let said = '';
    let input = 0;
    let kept: KeptTurn | undefined;
    for await (const part of this.#parts.models.get().stream({
      model: talk.persona?.model ?? '',
      messages: talk.messages,
      tools,
      mayCall: !isLast,
      ...(isLast && { format: answerFormat }),
      maxTokens: caps.reply,
      signal: talk.signal,
      budget: { run: `investigation-${one.id}`, session: 'investigations', persona: personaName },
    })) {
      if (part.type === 'text') {
        said += part.delta;
      } else if (part.type === 'call') {
        calls.push({
          id: `call_${talk.usage.tool_calls}_${calls.length}`,
          name: part.name,
          args: part.args ?? {},
        });
      } else if (part.type === 'end') {
        input = part.usage.input_tokens;
        kept = part.kept && { model: part.model, blocks: part.kept };
        talk.usage = {
          ...talk.usage,
          model: part.model,
          completion_tokens: talk.usage.completion_tokens + part.usage.output_tokens,
        };
      }
    }
    return { said, calls: isLast ? [] : calls, input, kept };
  }

  /**
   * Runs the model's look-ups; beyond the cap it is told so, and a failed call counts as an answer.
   */
  async #run(calls: readonly ModelToolCall[], talk: Conversation): Promise<void> {
    for (const { id, name, args } of calls) {
      const tool = talk.tools.get(name);
      const isOver = talk.usage.tool_calls >= caps.calls;
      const { text, failed } =
        tool === undefined || isOver
          ? {
              text: isOver
                ? 'No more calls: answer with what you know.'
                : `There is no tool ${name.slice(0, 80)} here.`,
              failed: true,
            }
          : await this.#call(tool, args, talk);
      talk.messages.push({ role: 'tool', call_id: id, name, text, failed });
    }
  }

  async #call(
    tool: Tool,
    params: ModelToolCall['args'],
    talk: Conversation,
  ): Promise<{ readonly text: string; readonly failed: boolean }> {
    talk.usage = { ...talk.usage, tool_calls: talk.usage.tool_calls + 1 };
    try {
      const outcome = await this.#parts.runner.get().run({
        principal: reader,
        key: tool.key,
        params,
        origin: 'investigation',
        tainted: true,
        timeoutMs: caps.callMs,
        signal: talk.signal,
        ...(talk.persona !== undefined && { persona: talk.persona }),
      });
      return {
        text: JSON.stringify(outcome.error ?? outcome.result).slice(0, caps.result),
        failed: outcome.status !== 'ok',
      };
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      return { text: messageOf(error), failed: true };
    }
  }

  /**
   * Merges the model's statements into the findings: every figure recomputed, the cause that was
   * found unchanged.
   */
  async #merged(
    { report, snapshot }: Case,
    answer: ModelAnswer,
    usage: ReportBody['usage'],
  ): Promise<Assisted> {
    const asserted = answer.claims.map(({ assertion }) => assertion);
    const checks = await this.#parts.check(
      snapshot,
      asserted.filter((assertion) => assertion !== undefined),
    );
    let next = 0;
    const claims = answer.claims.map((claim, at): ReportBody['claims'][number] => {
      const check = claim.assertion === undefined ? undefined : checks[next++];
      const objection = objectionTo(claim, snapshot, check?.checked_value);
      const status =
        check?.status === 'contradicted'
          ? 'contradicted'
          : objection === undefined
            ? (check?.status ?? 'unverified')
            : 'unverified';
      return {
        id: `M${at + 1}`,
        text: claim.text,
        evidence_ids: [...claim.evidence_ids],
        assertion: claim.assertion === undefined ? null : { ...claim.assertion },
        origin: 'model',
        status,
        checked_value: check?.checked_value ?? null,
      };
    });
    const contradicted = claims.filter(({ status }) => status === 'contradicted').length;
    const disagreement = disagreementOf(answer, claims, report, snapshot);
    const lowered = lower(report.confidence, disagreement !== null ? 'low' : answer.confidence);
    return {
      ok: true,
      contradicted,
      report: {
        ...report,
        claims: [...report.claims, ...claims],
        disagreement,
        confidence: lowered,
        usage,
      },
    };
  }
}

/**
 * Returns the model's cause if it differs from the one found, with the evidence for and against it.
 */
function disagreementOf(
  { root_cause: named }: ModelAnswer,
  claims: ReportBody['claims'],
  { root_cause: found, hypotheses }: ReportBody,
  snapshot: Snapshot,
): ReportBody['disagreement'] {
  if (named === null || named.node === found?.node.id || named.node === found?.node.name) {
    return null;
  }
  const node = snapshot.nodes.find(({ id, name }) => id === named.node || name === named.node);
  const holds = claims.some(({ status }) => status === 'verified');
  const why =
    node === undefined
      ? 'it names a node that is not there'
      : claims.some(({ status }) => status === 'contradicted')
        ? 'its supporting claims do not hold'
        : hypotheses.some((one) => one.node.id === node.id)
          ? `it is a weaker hypothesis${holds ? ', with some claims that hold' : ''}`
          : 'no measurement supports it';
  return { text: named.text, node: node?.id ?? null, why };
}

/** A model may doubt, and never be surer than the evidence. */
function lower(
  confidence: ReportBody['confidence'],
  to: 'low' | 'medium' | 'high' | undefined,
): ReportBody['confidence'] {
  return confidence === null ||
    to === undefined ||
    levels.indexOf(to) >= levels.indexOf(confidence.level)
    ? confidence
    : {
        ...confidence,
        level: to,
        value: Math.min(confidence.value, mostOf[to]),
        lowered_by_model: true,
      };
}
