import type {
  KnowledgeDocument,
  KnowledgeHit,
  KnowledgeRead,
  KnowledgeSearch,
} from 'svc/contracts/knowledge';
import { messageOf, type Principal, type Tables, type ThreadHandle } from 'svc/sdk';

import { DocStore } from '../documents/doc-store.ts';
import type { KnowledgeTables } from '../documents/tables.ts';
import { seesObservations } from '../documents/reader.ts';
import { audiencesOf } from './audience.ts';
import { errors } from './errors.ts';
import type { Feed } from './feed.ts';
import { maxReranked, type Reranker } from './rerank.ts';
import type { Answer, Mode, Search } from './searcher.ts';

/** The vector of a question, where a model is set and answers in time. */
export interface QuestionEmbedder {
  of(
    text: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly model: string; readonly values: Float32Array } | undefined>;
}

export interface Asked {
  readonly text: string;
  readonly limit: number;
  readonly path?: string | undefined;
  readonly tag?: string | undefined;
  readonly mode: Mode;
  /** False if it is asked at every letter: a chat model takes seconds and costs money. */
  readonly rerank?: boolean | undefined;
  readonly principal: Principal;
  readonly signal?: AbortSignal | undefined;
}

export interface SearchServiceParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly search: ThreadHandle;
  readonly feed: Feed;
  readonly embedder: QuestionEmbedder;
  /** Returns the weight of similarity that this base was measured to gain from. */
  readonly weight: (model: string) => number;
  readonly reranker: Reranker;
  readonly log: SearchNotes;
}

/** Journal of searches without a result, and of the documents that were read. */
export interface SearchNotes {
  note(principal: Principal, text: string, found: readonly number[]): void;
  opened(principal: Principal, doc: number): void;
}

/** Answer with whether a chat model has changed its order. */
export type OrderedAnswer = Answer & { readonly reranked: boolean };

const searchMs = 10_000;
const freshMs = 400;
const usual = 10;
const runbook = 'playbook://';

/** Search and reading of documents, by people, agents and other plugins alike. */
export class SearchService implements KnowledgeSearch, KnowledgeRead {
  readonly #parts: SearchServiceParts;

  constructor(parts: SearchServiceParts) {
    this.#parts = parts;
  }

  async ask(asked: Asked): Promise<OrderedAnswer> {
    const { text, limit, mode, rerank = true, signal } = asked;
    const { reranker } = this.#parts;
    if (mode !== 'hybrid' || !rerank || !reranker.isUsed) {
      return { ...(await this.#found(asked)), reranked: false };
    }
    const answer = await this.#found({ ...asked, limit: Math.max(limit, maxReranked) });
    const items = await reranker.order(text, answer.items, signal);
    return {
      ...answer,
      items: (items ?? answer.items).slice(0, limit),
      reranked: items !== undefined,
    };
  }

  /** Answers somebody who chooses among the results themselves. */
  async askByHand(asked: Asked): Promise<OrderedAnswer> {
    const answer = await this.ask(asked);
    // What a filter leaves out is not missing.
    if (asked.path === undefined && asked.tag === undefined) {
      const found = answer.items.map(({ doc_id: id }) => id);
      this.#parts.log.note(asked.principal, asked.text, found);
    }
    return answer;
  }

  async #found({ text, limit, path, tag, mode, principal, signal }: Asked): Promise<Answer> {
    const { search, feed, embedder } = this.#parts;
    const [vector] = await Promise.all([
      mode === 'lexical' ? undefined : embedder.of(text, signal),
      feed.caughtUp(freshMs),
    ]);
    if (mode === 'vector' && vector === undefined) {
      throw errors.no_vectors();
    }
    const asked: Search = {
      text,
      limit,
      path: path?.replace(/\/+$/, ''),
      tag,
      audiences: audiencesOf(principal),
      mode,
      vector,
      weight: vector === undefined ? 0 : this.#parts.weight(vector.model),
    };
    const answer = await search
      .call<Answer>('search', asked, { timeoutMs: searchMs, ...(signal && { signal }) })
      .catch((error: unknown) => this.#failed(error));
    if (seesObservations(principal)) {
      return answer;
    }
    // The index may not know yet that a document concerns devices.
    const ids = answer.items.map(({ doc_id: id }) => id);
    const seen = await new DocStore(this.#parts.tables.read).among(ids, principal);
    return { ...answer, items: answer.items.filter(({ doc_id: id }) => seen.has(id)) };
  }

  /** A damaged index does not heal: another is made of the documents. */
  async #failed(error: unknown): Promise<never> {
    if (/malformed|not a database|corrupt/i.test(messageOf(error))) {
      await this.#parts.feed.anew();
      throw errors.index_damaged({ cause: error, retryAfterSeconds: 2 });
    }
    throw error;
  }

  async search({
    text,
    limit = usual,
    path,
    principal,
    signal,
  }: Parameters<KnowledgeSearch['search']>[0]): Promise<readonly KnowledgeHit[]> {
    const { items } = await this.ask({
      text,
      limit: Math.min(50, Math.max(1, Math.floor(limit))),
      path,
      mode: 'hybrid',
      principal,
      signal,
    });
    if (items.length === 0 && path === undefined) {
      this.#parts.log.note(principal, text, []);
    }
    return items.map(
      ({ doc_id, path: at, title, heading, anchor, version, highlights, score }) => ({
        document_id: doc_id,
        path: at,
        title,
        heading,
        anchor,
        version,
        score,
        excerpt: highlights.map(({ text: part }) => part).join(' … '),
      }),
    );
  }

  async read(
    reference: number | string,
    principal: Principal,
  ): Promise<KnowledgeDocument | undefined> {
    const store = new DocStore(this.#parts.tables.read);
    const id =
      typeof reference === 'number'
        ? reference
        : (idOf(reference) ?? (await this.#at(reference, principal, store)));
    const doc = id === undefined ? undefined : await store.whole(id, principal);
    if (doc !== undefined) {
      this.#parts.log.opened(principal, doc.id);
    }
    return (
      doc && {
        document_id: doc.id,
        path: doc.path,
        title: doc.title,
        tags: JSON.parse(doc.tags) as string[],
        source: doc.source,
        version: doc.version,
        content: doc.content,
      }
    );
  }

  async #at(reference: string, principal: Principal, store: DocStore): Promise<number | undefined> {
    const plain = reference.split('#', 1)[0]!.normalize('NFC');
    const paths = plain.startsWith(runbook)
      ? [`vault/${plain.slice(runbook.length)}`, plain.slice(runbook.length)]
      : [plain];
    for (const path of paths) {
      const found = await store.at(path, principal);
      if (found) {
        return found.id;
      }
    }
    return undefined;
  }
}

/** Returns the id in a number, or in the address of a document here. */
function idOf(reference: string): number | undefined {
  const id = /^(\d{1,15})$|\/knowledge\/docs\/(\d{1,15})(?:[#?].*)?$/.exec(reference);
  return id === null ? undefined : Number(id[1] ?? id[2]);
}
