import type { Models } from 'svc/contracts/model';
import type { SvcError } from 'svc/sdk';
import { isSvcError, mayRead, type Principal } from 'svc/sdk';

import type { Engines } from './engines.ts';
import { errors } from './errors.ts';
import { type Dialect, patternFor } from './patterns.ts';

export interface TranslateAsk {
  readonly principal: Principal;
  readonly dialect: Dialect;
  readonly prompt: string;
  /** Context that the asker sees: names, an earlier query. */
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface Translated {
  readonly query: string;
  readonly explanation: string;
  readonly dialect: Dialect;
  /** True if svc itself can parse it; if not, the explanation says why. */
  readonly valid: boolean;
}

const rules: Readonly<Record<Dialect, string>> = {
  promql:
    'PromQL of Prometheus 3. Hosts carry the label device_id. Counters end in _total and need rate() or increase().',
  logql:
    'LogQL of Loki. Every selector needs a non-empty matcher; labels are job, host, filename, device_id; the level of a line is detected_level.',
  traceql:
    'TraceQL of Tempo. A service is resource.service.name; status is ok, error or unset; durations are written as 500ms.',
};
const system =
  'You write one query. Answer with the query in a fenced block, then one sentence that says what it shows, and nothing else.';
const answerTokens = 1_500;
const longestContext = 8_000;

/**
 * Translator from words to a query that svc can parse: by a model if there is one, else by patterns
 * and metric names.
 */
export class Translator {
  readonly #models: Models;
  readonly #engines: Engines;

  constructor(models: Models, engines: Engines) {
    this.#models = models;
    this.#engines = engines;
  }

  async translate(ask: TranslateAsk, signal: AbortSignal): Promise<Translated> {
    const names =
      ask.dialect === 'promql' && mayRead(ask.principal, 'metricsdb')
        ? await this.#engines.metricNames(ask.principal, ask.prompt, signal)
        : [];
    let trouble: SvcError | undefined;
    if (this.#models.usable('').ok) {
      try {
        const found = await this.#byModel(ask, names, signal);
        return found.valid ? found : ((await this.#byPattern(ask, names)) ?? found);
      } catch (error) {
        if (!isSvcError(error) || signal.aborted) {
          throw error;
        }
        trouble = error;
      }
    }
    const found = await this.#byPattern(ask, names);
    if (!found) {
      throw trouble ?? errors.no_pattern();
    }
    return trouble
      ? {
          ...found,
          explanation: `${found.explanation} (from a pattern, because the model failed: ${trouble.message})`,
        }
      : found;
  }

  /**
   * Translates with a model, in at most two attempts: the second one includes the error of the
   * first.
   */
  async #byModel(
    ask: TranslateAsk,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<Translated> {
    const question = questionOf(ask, names);
    const first = await this.#checked(ask, await this.#answer(question, signal));
    if (first.valid) {
      return first;
    }
    return this.#checked(
      ask,
      await this.#answer(
        `${question}\n\nThis was wrong:\n${first.query}\n${first.explanation}\nWrite it right.`,
        signal,
      ),
    );
  }

  async #answer(question: string, signal: AbortSignal): Promise<string> {
    let text = '';
    const messages = [
      { role: 'system', text: system } as const,
      { role: 'user', text: question } as const,
    ];
    const budget = { run: '', session: '', persona: '' };
    for await (const part of this.#models.stream({
      model: '',
      messages,
      tools: [],
      maxTokens: answerTokens,
      budget,
      signal,
    })) {
      text += part.type === 'text' ? part.delta : '';
    }
    return text;
  }

  async #checked({ dialect }: TranslateAsk, answer: string): Promise<Translated> {
    const block = /```[\w-]*\s*\n?([\s\S]*?)```/.exec(answer);
    const query = (block?.[1] ?? answer.trim().split('\n')[0] ?? '').trim();
    const rest = block ? answer.slice(block.index + block[0].length).trim() : '';
    const complaint =
      query === '' ? 'the model wrote no query' : await this.#engines.complaint(dialect, query);
    return {
      query,
      dialect,
      valid: complaint === undefined,
      explanation: complaint ?? (rest === '' ? 'as asked' : rest.slice(0, 1_000)),
    };
  }

  async #byPattern(
    { dialect, prompt }: TranslateAsk,
    names: readonly string[],
  ): Promise<Translated | undefined> {
    const [name] = names;
    const byName =
      name === undefined
        ? undefined
        : {
            query: name.endsWith('_total') ? `rate(${name}[5m])` : name,
            explanation: `the metric ${name}`,
          };
    const found =
      (name !== undefined && prompt.includes(name) ? byName : undefined) ??
      patternFor(dialect, prompt) ??
      byName;
    if (!found) {
      return undefined;
    }
    const complaint = await this.#engines.complaint(dialect, found.query);
    return {
      query: found.query,
      dialect,
      valid: complaint === undefined,
      explanation: complaint ?? found.explanation,
    };
  }
}

function questionOf({ dialect, prompt, context }: TranslateAsk, names: readonly string[]): string {
  return [
    rules[dialect],
    ...(names.length > 0 ? [`Available metrics: ${names.join(', ')}`] : []),
    ...(context === undefined
      ? []
      : [`What the user sees, as data: ${JSON.stringify(context).slice(0, longestContext)}`]),
    `Request: ${prompt}`,
  ].join('\n\n');
}
