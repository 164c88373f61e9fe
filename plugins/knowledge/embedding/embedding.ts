import { DueWork } from 'svc/flow';
import {
  type Logger,
  messageOf,
  type PluginContext,
  type Settings,
  type ThreadHandle,
} from 'svc/sdk';

import type { QuestionEmbedder } from '../search/search-service.ts';
import type { Remainder } from '../search/index-jobs.ts';
import { packed } from '../search/vectors.ts';
import { type EmbeddingModel, modelSet, nameOfModel, vectorsOf } from './models.ts';

export interface EmbeddingParts {
  readonly index: ThreadHandle;
  readonly settings: Settings;
  readonly fetch: PluginContext['fetch'];
  readonly log: Logger;
  readonly now: () => number;
  /** Returns the wall time. */
  readonly wallNow: () => number;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

export interface EmbeddingState {
  /** Model whose vectors are in use; null if none. */
  readonly model: string | null;
  /** Chunks that got a vector since the start. */
  readonly embedded: number;
  readonly last_error: string | null;
}

const atOnce = 32;
const batchMs = 60_000;
const questionMs = 1_500;
const retryMs = 30_000;
const longestQuestion = 1_000;

/**
 * Vectors of chunks and questions, if a model is configured; searches use words alone without one,
 * or while it fails.
 */
export class Embedding implements QuestionEmbedder {
  readonly #parts: EmbeddingParts;
  readonly #loop: DueWork;
  #embedded = 0;
  /**
   * Model whose vectors are in use; the previous one stays until every chunk has a vector of the
   * next.
   */
  #serving: EmbeddingModel | undefined;
  #known: readonly EmbeddingModel[] = [];
  #restsUntil = 0;
  /** Time since which chunks without a vector are known, with the number done since. */
  #open: { readonly since: number; readonly done: number } | undefined;
  /** Last chunk with a vector, by index and model. */
  #done = { where: '', chunk: 0 };
  /** Called when every chunk has a vector of the model in use. */
  onComplete: (model: string) => void = () => undefined;

  constructor(parts: EmbeddingParts) {
    this.#parts = parts;
    this.#loop = new DueWork({
      work: (signal) => this.#bring(signal),
      failed: (error, cause) =>
        parts.log.warn(
          { event: 'knowledge.embedding_delayed', error },
          `failed to embed documents; retrying: ${cause}`,
        ),
      retryMs,
      later: parts.later,
    });
  }

  get state(): EmbeddingState {
    const model = this.#serving === undefined ? null : nameOfModel(this.#serving);
    return { model, embedded: this.#embedded, last_error: this.#loop.lastError };
  }

  /** Undefined while every chunk has its vector, as far as it is known. */
  get remainder(): Remainder | undefined {
    return this.#open && { ...this.#open, total: 0, error: this.#loop.lastError };
  }

  /** There are new chunks, or another model. */
  due(): void {
    this.#loop.due();
  }

  async of(
    text: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly model: string; readonly values: Float32Array } | undefined> {
    const { fetch, now, log } = this.#parts;
    const serving = this.#serving;
    if (serving === undefined || now() < this.#restsUntil) {
      return undefined;
    }
    try {
      const [vector] = await vectorsOf(fetch, serving, [text.slice(0, longestQuestion)], {
        timeoutMs: questionMs,
        signal,
      });
      return { model: nameOfModel(serving), values: Float32Array.from(vector!) };
    } catch (error) {
      // Searches must not wait for it again and again.
      this.#restsUntil = now() + retryMs;
      log.warn(
        { event: 'knowledge.question_not_embedded', error },
        `failed to embed a query; falling back to keyword search for 30 s: ${messageOf(error)}`,
      );
      return undefined;
    }
  }

  /** Embeds texts with the model in use; undefined if another one is in use by now. */
  async all(
    texts: readonly string[],
    model: string,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[] | undefined> {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += atOnce) {
      const serving = this.#serving;
      if (serving === undefined || nameOfModel(serving) !== model || signal.aborted) {
        return undefined;
      }
      const part = texts.slice(at, at + atOnce);
      const found = await vectorsOf(this.#parts.fetch, serving, part, {
        timeoutMs: batchMs,
        signal,
      });
      vectors.push(...found.map((vector) => Float32Array.from(vector)));
    }
    return vectors;
  }

  /**
   * Runs until the plugin stops; begins once there is a model, or chunks that may have vectors of
   * one.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (modelSet(this.#parts.settings) !== undefined) {
      this.#loop.due();
    }
    await this.#loop.run(signal);
  }

  async #bring(signal: AbortSignal): Promise<void> {
    const { index, settings } = this.#parts;
    const wanted = modelSet(settings);
    const { model: serving, file } = await index.call<{ model: string | undefined; file: string }>(
      'servingModel',
    );
    if (wanted !== undefined) {
      this.#known = [
        ...this.#known.filter((one) => nameOfModel(one) !== nameOfModel(wanted)),
        wanted,
      ].slice(-4);
    }
    this.#serves(this.#known.find((one) => nameOfModel(one) === serving));
    if (wanted === undefined) {
      if (serving !== undefined) {
        await index.call('keepModel', undefined);
      }
      this.#serves(undefined);
      this.#open = undefined;
      return;
    }
    await this.#embed(wanted, file, signal);
    if (
      !signal.aborted &&
      serving !== nameOfModel(wanted) &&
      nameOfModel(modelSet(settings) ?? wanted) === nameOfModel(wanted)
    ) {
      await index.call('keepModel', nameOfModel(wanted));
      this.#serves(wanted);
    }
    if (!signal.aborted && this.#serving !== undefined) {
      this.onComplete(nameOfModel(this.#serving));
    }
  }

  /** Chunk after chunk, until each has a vector of this model. */
  async #embed(wanted: EmbeddingModel, file: string, signal: AbortSignal): Promise<void> {
    const { index, fetch, settings } = this.#parts;
    const model = nameOfModel(wanted);
    const where = `${file} ${model}`;
    // Numbers of chunks only grow within a file.
    for (let after = this.#done.where === where ? this.#done.chunk : 0; !signal.aborted;) {
      const found = await index.call<readonly { chunk: number; text: string }[]>('unembedded', {
        model,
        after,
        limit: atOnce,
      });
      const set = modelSet(settings);
      if (found.length === 0 || set === undefined || nameOfModel(set) !== model) {
        this.#open = undefined;
        return;
      }
      this.#open ??= { since: Math.floor(this.#parts.wallNow()), done: 0 };
      const texts = found.map(({ text }) => text);
      const vectors = await vectorsOf(fetch, set, texts, { timeoutMs: batchMs, signal });
      await index.call('embed', {
        model,
        vectors: found.map(({ chunk }, at) => ({ chunk, vector: packed(vectors[at]!) })),
      });
      this.#embedded += found.length;
      this.#open = { ...this.#open, done: this.#open.done + found.length };
      after = found.at(-1)!.chunk;
      this.#done = { where, chunk: after };
    }
  }

  #serves(model: EmbeddingModel | undefined): void {
    if (
      model === undefined ||
      this.#serving === undefined ||
      nameOfModel(model) !== nameOfModel(this.#serving)
    ) {
      this.#restsUntil = 0;
    }
    this.#serving = model;
  }
}
