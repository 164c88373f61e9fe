import type { ModelEffort, ModelProvider, Models } from 'svc/contracts/model';
import type { SvcError } from 'svc/sdk';
import { type Settings } from 'svc/sdk';

import { errors } from './errors.ts';

/** A model that can be asked now. */
export interface Chosen {
  /** `<provider>/<model>`. */
  readonly id: string;
  readonly provider: ModelProvider;
  readonly context: number;
}

const setUp =
  'set a key such as llm.openai_api_key, or llm.ollama_base_url, and llm.default_model if another than its first model is wanted';

/** Catalogue of models, by id, with the default one. */
export class ModelCatalogue {
  readonly #providers: () => readonly ModelProvider[];
  readonly #settings: Pick<Settings, 'get'>;

  constructor(providers: () => readonly ModelProvider[], settings: Pick<Settings, 'get'>) {
    this.#providers = providers;
    this.#settings = settings;
  }

  get providers(): readonly ModelProvider[] {
    return this.#providers();
  }

  /** Default model; empty if there is none. */
  get standard(): string {
    const named = this.#settings.get<string>('llm.default_model');
    if (named !== '') {
      return named;
    }
    const first = this.#providers()
      .filter((provider) => provider.configured())
      .flatMap((provider) => provider.models().map(({ id }) => `${provider.name}/${id}`));
    return first[0] ?? '';
  }

  /** Throws unless the model, or for an empty text the standard one, can be asked. */
  choose(model: string): Chosen {
    const id = model === '' ? this.standard : model;
    if (id === '') {
      throw errors.none({ setUp });
    }
    const name = id.split('/', 1)[0]!;
    const provider = this.#providers().find((candidate) => candidate.name === name);
    if (!provider || id.length <= name.length + 1) {
      const names = this.#providers().map((candidate) => candidate.name);
      throw errors.no_provider({ id, names: names.join(', ') });
    }
    if (!provider.configured()) {
      throw errors.not_configured({ id, setUp });
    }
    const known = provider.models().find((candidate) => `${name}/${candidate.id}` === id);
    return { id, provider, context: known?.context ?? 32_768 };
  }

  /**
   * Returns the models to ask if this one fails for good: only those that the administrator lists.
   */
  fallbacksOf(id: string): readonly Chosen[] {
    return this.#settings
      .get<readonly string[]>('llm.fallback_models')
      .filter((other) => other !== id)
      .flatMap((other) => {
        const { ok } = this.usable(other);
        return ok ? [this.choose(other)] : [];
      });
  }

  usable(model: string, effort?: ModelEffort): ReturnType<Models['usable']> {
    try {
      const { id, context, provider } = this.choose(model);
      return { ok: true, model: id, context, thinking: roomToThink(provider, id, effort) };
    } catch (error) {
      return { ok: false, message: (error as SvcError).message };
    }
  }
}

/** Returns the tokens that a model may think in addition to its answer. */
export const roomToThink = (
  provider: ModelProvider,
  id: string,
  effort: ModelEffort | undefined,
): number => provider.thinkingRoom?.(id.slice(provider.name.length + 1), effort) ?? 0;
