import type { Diagnosis, Examination, Looking } from 'svc/contracts/doctor';
import type { ModelMessage, ModelPart, ModelRequest, Models } from 'svc/contracts/model';
import { isSvcError, type SvcError } from 'svc/sdk';

export interface Finding {
  readonly check: 'answers' | 'streams' | 'counts' | 'tools' | 'parallel' | 'results' | 'window';
  readonly ok: boolean;
  readonly detail: string;
}

export interface Examined {
  readonly model: string;
  readonly context: number;
  readonly ok: boolean;
  readonly verdict: string;
  readonly summary: string;
  readonly findings: readonly Finding[];
}

const lookUp = {
  name: 'look_up',
  description: 'The population of one city. Call it once for each city.',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const question: ModelMessage = {
  role: 'user',
  text: 'Use the tool look_up for Paris and for Rome, both at once, and then say which is larger.',
};
/** Max tokens used to examine a window; more would cost more than it reveals. */
const maxFilled = 12_000;
const codeWord = 'TOURMALINE';

/** Finds out by asking what a model can do and what not: about four short calls and a long one, charged as any other. */
export class ModelDoctor implements Examination {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  /** The one that serves. Whether it can do what agents need costs calls to find out. */
  async look({ thorough, signal }: Looking): Promise<Diagnosis> {
    const usable = this.#models.usable('');
    if (!usable.ok) {
      return {
        verdict: 'ok',
        detail: `no model is available, so agents do not answer: ${usable.message}`,
        fix: null,
      };
    }
    if (!thorough) {
      return {
        verdict: 'ok',
        detail: `${usable.model} is in use; test what it can do with "svc doctor --thorough"`,
        fix: null,
      };
    }
    const { model, ok, findings } = await this.examine('', signal);
    const missing = findings.filter((finding) => !finding.ok).map(({ detail }) => detail);
    return ok
      ? { verdict: 'ok', detail: [model, ...missing].join('; '), fix: null }
      : {
          verdict: 'fail',
          detail: `${model}: ${missing.join('; ')}`,
          fix: 'set llm.default_model to one that calls tools; "svc llm doctor MODEL" tries others',
        };
  }

  async examine(asked: string, signal: AbortSignal): Promise<Examined> {
    const usable = this.#models.usable(asked);
    if (!usable.ok) {
      return {
        model: asked,
        context: 0,
        ok: false,
        verdict: 'There is no model to test, so agents do not answer',
        summary: usable.message,
        findings: [{ check: 'answers', ok: false, detail: usable.message }],
      };
    }
    const { model, context } = usable;
    const findings = await this.#speech(model, signal);
    if (findings[0]!.ok) {
      findings.push(
        ...(await this.#tools(model, signal)),
        await this.#window(model, context, signal),
      );
    }
    // One call at a time is slower, and no more.
    const isUseful = findings.every(({ check, ok }) => ok || check === 'parallel');
    return {
      model,
      context,
      ok: isUseful,
      verdict: verdictOn(model, isUseful, findings),
      summary: findings.map(({ detail }) => detail).join('; '),
      findings,
    };
  }

  async #speech(model: string, signal: AbortSignal): Promise<Finding[]> {
    const parts = await this.#ask({
      model,
      signal,
      messages: [{ role: 'user', text: 'Count from one to thirty in words.' }],
    });
    if (!Array.isArray(parts)) {
      return [{ check: 'answers', ok: false, detail: parts.message }];
    }
    const pieces = parts.filter(({ type }) => type === 'text').length;
    const end = parts.at(-1);
    const counted = end?.type === 'end' && !end.usage.estimated;
    return [
      {
        check: 'answers',
        ok: pieces > 0,
        detail: pieces > 0 ? 'answers' : 'empty answer; it may need more tokens for thinking',
      },
      {
        check: 'streams',
        ok: pieces > 1,
        detail:
          pieces > 1
            ? `answers in ${pieces} pieces`
            : 'answers in one piece, so people have to wait',
      },
      {
        check: 'counts',
        ok: counted,
        detail: counted
          ? 'reports token usage'
          : 'does not report token usage; budgets use an estimate',
      },
    ];
  }

  async #tools(model: string, signal: AbortSignal): Promise<Finding[]> {
    const parts = await this.#ask({ model, signal, messages: [question], tools: [lookUp] });
    if (!Array.isArray(parts)) {
      return [{ check: 'tools', ok: false, detail: parts.message }];
    }
    const calls = parts.filter((part) => part.type === 'call');
    const good = calls.filter(
      ({ name, args }) => name === lookUp.name && typeof args?.['city'] === 'string',
    );
    const tools: Finding =
      calls.length === 0
        ? {
            check: 'tools',
            ok: false,
            detail: 'does not call tools when asked to; agents can only chat with it',
          }
        : {
            check: 'tools',
            ok: good.length === calls.length,
            detail:
              good.length === calls.length
                ? 'calls tools as described'
                : 'calls tools with wrong names or arguments',
          };
    const parallel: Finding = {
      check: 'parallel',
      ok: good.length > 1,
      detail:
        good.length > 1
          ? 'calls several tools at once'
          : 'calls one tool at a time; investigations take longer',
    };
    return [
      tools,
      parallel,
      ...(good.length > 0 ? [await this.#results(model, good, parts.at(-1)!, signal)] : []),
    ];
  }

  async #results(
    model: string,
    calls: readonly Extract<ModelPart, { type: 'call' }>[],
    end: ModelPart,
    signal: AbortSignal,
  ): Promise<Finding> {
    const made = calls.map(({ name, args }, index) => ({
      id: `doctor-${index}`,
      name,
      args: args!,
    }));
    const kept =
      end.type === 'end' && end.kept ? { model: end.model, blocks: end.kept } : undefined;
    const messages: ModelMessage[] = [
      question,
      { role: 'assistant', text: '', calls: made, kept },
      ...made.map(({ id, name }): ModelMessage => ({
        role: 'tool',
        call_id: id,
        name,
        text: '{"population": 2100000}',
        failed: false,
      })),
    ];
    const parts = await this.#ask({ model, signal, messages, tools: [lookUp] });
    return Array.isArray(parts)
      ? { check: 'results', ok: true, detail: 'uses the results of tools' }
      : { check: 'results', ok: false, detail: parts.message };
  }

  /**
   * Tests the window. Some servers silently truncate what does not fit: a word at the very
   * beginning reveals that.
   */
  async #window(model: string, context: number, signal: AbortSignal): Promise<Finding> {
    const tokens = Math.min(maxFilled, Math.floor(context * 0.7));
    const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(Math.floor(tokens / 11));
    const text = `The code word is ${codeWord}.\n${filler}\nWhat is the code word? Answer with it alone.`;
    const parts = await this.#ask({ model, signal, messages: [{ role: 'user', text }] });
    if (!Array.isArray(parts)) {
      return {
        check: 'window',
        ok: false,
        detail: `does not accept ${tokens} tokens: ${parts.message}`,
      };
    }
    const said = parts.map((part) => (part.type === 'text' ? part.delta : '')).join('');
    const ok = said.toUpperCase().includes(codeWord);
    return {
      check: 'window',
      ok,
      detail: ok
        ? `reads all of ${tokens} tokens`
        : `does not see the beginning of ${tokens} tokens; enlarge its context window, or set its size with llm.context_tokens`,
    };
  }

  async #ask(
    request: Pick<ModelRequest, 'model' | 'messages' | 'signal'> & Partial<ModelRequest>,
  ): Promise<ModelPart[] | SvcError> {
    const parts: ModelPart[] = [];
    try {
      for await (const part of this.#models.stream({
        tools: [],
        maxTokens: 2_000,
        budget: { run: '', session: '', persona: '' },
        ...request,
      })) {
        parts.push(part);
      }
      return parts;
    } catch (error) {
      if (isSvcError(error) && !request.signal.aborted) {
        return error;
      }
      throw error;
    }
  }
}

function verdictOn(model: string, isUseful: boolean, findings: readonly Finding[]): string {
  if (!findings[0]!.ok) {
    return `${model} did not answer`;
  }
  return isUseful
    ? `Agents can work with ${model}`
    : `Agents cannot work with ${model} as it is; choose another model with llm.default_model`;
}
