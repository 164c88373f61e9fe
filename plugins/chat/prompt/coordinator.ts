import type { Models } from 'svc/contracts/model';
import type { KnownPersona, PersonaDirectory } from 'svc/contracts/persona';
import type { Principal } from 'svc/sdk';

import { errors } from './errors.ts';

export interface Choice {
  readonly persona: KnownPersona;
  readonly why: string;
  readonly candidates: readonly { readonly name: string; readonly score: number }[];
  /** Agents that may know more than the default one that answers, because none stood out. */
  readonly toAsk?: readonly string[];
}

export interface ChoiceAsk {
  readonly content: string;
  /** Agent that the person asks for. */
  readonly agent: string | undefined;
  readonly principal: Principal;
  readonly run: string;
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A name needs few of them; a model that thinks unasked needs the others to get to it. */
const maxAnswerTokens = 1_024;

const maxToAsk = 3;

/**
 * Chooses who answers: the agent that the person names, the clear match, the model's choice among
 * the matching ones, or the default.
 */
export class Coordinator {
  readonly #personas: PersonaDirectory;
  readonly #models: Models;

  constructor(personas: PersonaDirectory, models: Models) {
    this.#personas = personas;
    this.#models = models;
  }

  /** Throws for a name that no persona has, and for one that cannot work here: another one must not answer in its place. */
  named(name: string): KnownPersona {
    const persona = this.#personas.find(name);
    if (persona === undefined) {
      throw errors.no_agent({ name });
    }
    if (persona.unmet.length > 0) {
      throw errors.unmet({ name, unmet: persona.unmet.join('; ') });
    }
    return persona;
  }

  async choose(ask: ChoiceAsk): Promise<Choice> {
    if (ask.agent !== undefined) {
      return { persona: this.named(ask.agent), why: 'named in the request', candidates: [] };
    }
    const { persona, why, clear, candidates } = await this.#personas.route(
      ask.content,
      ask.principal,
    );
    if (clear) {
      return { persona, why, candidates };
    }
    const picked = candidates.length > 1 ? await this.#pick(ask, candidates, persona) : undefined;
    if (picked === undefined || picked.name === persona.name) {
      return { persona, why, candidates, toAsk: othersThan(persona, candidates) };
    }
    return {
      persona: picked,
      why: 'no persona matched clearly; the model chose among the best',
      candidates,
    };
  }

  /**
   * Lets a model choose. A choice is a convenience: if anything goes wrong, the default persona
   * answers.
   */
  async #pick(
    ask: ChoiceAsk,
    candidates: Choice['candidates'],
    standard: KnownPersona,
  ): Promise<KnownPersona | undefined> {
    const names = new Set([...candidates.map(({ name }) => name), standard.name]);
    const known = [...names].flatMap((name) => this.#personas.find(name) ?? []);
    const list = known
      .map(({ name, when_to_use: when }) => `${name}: ${when.slice(0, 300)}`)
      .join('\n');
    let text = '';
    try {
      const parts = this.#models.stream({
        model: '',
        messages: [
          {
            role: 'system',
            text: `Which of these agents should answer the question? Reply with one name and nothing else; as JSON, if you must: {"agent": "…"}.\n${list}`,
          },
          { role: 'user', text: ask.content.slice(0, 2_000) },
        ],
        tools: [],
        maxTokens: maxAnswerTokens,
        effort: 'none',
        format: formOf(known.map(({ name }) => name)),
        budget: { run: ask.run, session: ask.session, persona: standard.name },
        signal: ask.signal,
      });
      for await (const part of parts) {
        text += part.type === 'text' ? part.delta : '';
      }
    } catch {
      return undefined;
    }
    return known.find(({ name }) => name === nameIn(text));
  }
}

const othersThan = (
  { name: standard }: KnownPersona,
  candidates: Choice['candidates'],
): readonly string[] =>
  candidates.flatMap(({ name }) => (name === standard ? [] : [name])).slice(0, maxToAsk);

const formOf = (names: readonly string[]) => ({
  name: 'choice',
  schema: {
    type: 'object',
    properties: { agent: { type: 'string', enum: [...names] } },
    required: ['agent'],
    additionalProperties: false,
  },
});

/** Returns the name in an answer: alone, or in the form that was asked for. */
const nameIn = (text: string): string =>
  /"agent"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? text.trim().replaceAll(/^["'`*]+|["'`*.]+$/g, '');
