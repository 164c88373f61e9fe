import { route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { Tag } from './documents/schema.ts';
import type { Embedding } from './embedding/embedding.ts';
import { errors } from './errors.ts';
import type { Feed } from './search/feed.ts';
import type { Measure } from './measure/measure.ts';
import type { RerankMeasure } from './measure/rerank-measure.ts';
import type { SearchService } from './search/search-service.ts';

const Modes = Type.Enum(['hybrid', 'lexical', 'vector'], {
  default: 'hybrid',
  description: 'hybrid: keywords, plus similarity with the weight measured for this knowledge base',
});

const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '\\S',
    description: 'Words, "phrases", path:folder, tag:name',
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
  path_prefix: Type.Optional(
    Type.String({ minLength: 1, maxLength: 400, description: 'A folder and everything below it' }),
  ),
  tag: Type.Optional(Tag),
  mode: Type.Optional(Modes),
  rerank: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Whether knowledge.rerank_model, if one is set, may reorder the first results',
    }),
  ),
});

const Hit = Type.Object({
  doc_id: Type.Integer(),
  title: Type.String(),
  path: Type.String(),
  version: Type.Integer({ description: 'Version of the document that was found' }),
  chunk: Type.Integer({ description: 'Index of the part within the document, starting at 0' }),
  heading: Type.String({ description: 'Headings above the part' }),
  anchor: Type.String({ description: 'Anchor of the nearest heading' }),
  score: Type.Number({ description: 'Relevance, from 0 to 1 in every mode' }),
  highlights: Type.Array(
    Type.Object({
      text: Type.String(),
      marks: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
        description: 'Start and end, in UTF-16 code units of the text',
      }),
    }),
  ),
});

const SearchAnswer = Type.Object({
  items: Type.Array(Hit),
  mode: Type.Enum(['hybrid', 'lexical', 'vector'], { description: 'Search mode that was used' }),
  reranked: Type.Boolean({ description: 'Whether a chat model reordered the first results' }),
  fits: Type.Boolean({
    description:
      'Whether one of the first three results covers enough of the question; if not, most likely no document answers it',
  }),
});

const Named = Type.Object({
  id: Type.Integer(),
  path: Type.String(),
  title: Type.String(),
  tags: Type.Array(Type.String()),
  source: Type.String(),
  version: Type.Integer(),
  content: Type.String(),
});

/** Extent of a measure, whatever it is of. */
const extent = {
  measured_at: Type.String({ format: 'date-time' }),
  documents: Type.Integer(),
  questions: Type.Integer({ description: '0: too few documents to measure' }),
};

const Measured = Type.Object({
  ...extent,
  words: Type.Number({
    description:
      'Share of questions that keywords alone answer within the first three results, from 0 to 1',
  }),
  used: Type.Number({ description: 'The same with the current weight' }),
  equal: Type.Number({ description: 'The same with similarity and keywords weighted equally' }),
});

const Reranking = Type.Object({
  model: Type.String(),
  used: Type.Boolean({
    description:
      'Whether it reorders results: only if it ranks documents higher, by more than chance',
  }),
  measure: Type.Union([
    Type.Object({
      ...extent,
      before: Type.Number({
        description:
          'Share of questions answered within the first three results without the model, from 0 to 1',
      }),
      after: Type.Number({ description: 'The same with the model' }),
    }),
    Type.Null(),
  ]),
});

const IndexState = Type.Object({
  state: Type.Enum(['starting', 'indexing', 'rebuilding', 'ready']),
  documents: Type.Integer(),
  chunks: Type.Integer(),
  behind: Type.Integer({ description: 'Number of changes not yet visible to searches' }),
  rebuilt: Type.Union([Type.Number(), Type.Null()], {
    description: 'Progress of the index rebuild, from 0 to 1',
  }),
  last_error: Type.Union([Type.String(), Type.Null()]),
  vectors: Type.Object({
    model: Type.Union([Type.String(), Type.Null()], {
      description: 'Model whose vectors are used; null: searches use keywords only',
    }),
    embedded: Type.Integer({ description: 'Number of document parts embedded since startup' }),
    last_error: Type.Union([Type.String(), Type.Null()]),
    weight: Type.Number({
      description:
        'Weight of similarity relative to keywords; 0: similarity only adds documents that no keyword finds',
    }),
    measure: Type.Union([Measured, Type.Null()], {
      description:
        'What the model adds, measured with titles and sentences from this knowledge base',
    }),
  }),
  rerank: Type.Union([Reranking, Type.Null()], {
    description: 'The chat model that may reorder results; null: none is set',
  }),
});

function rerankState(model: string, measure: RerankMeasure): Static<typeof IndexState>['rerank'] {
  if (model === '') {
    return null;
  }
  const measured = measure.of(model);
  return {
    model,
    used: measured?.helps ?? false,
    measure:
      measured === undefined
        ? null
        : {
            measured_at: timestamp(measured.measured_at),
            documents: measured.documents,
            questions: measured.questions,
            before: measured.before,
            after: measured.after,
          },
  };
}

export interface IndexParts {
  readonly feed: Feed;
  readonly embedding: Embedding;
  readonly measure: Measure;
  readonly rerankMeasure: RerankMeasure;
  /** Name of the chat model that may reorder results; empty: none. */
  readonly rerankModel: () => string;
}

export const searchRoutes = (
  searchService: SearchService,
  parts: IndexParts,
): readonly RouteDeclaration[] => [...readRoutes(searchService), ...indexRoutes(parts)];

const readRoutes = (searchService: SearchService): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/knowledge/search',
    access: 'any',
    devices: 'narrowed',
    summary:
      'Search documents; the best-matching part of each document comes first, then further parts',
    query: SearchQuery,
    response: SearchAnswer,
    errors: ['conflict', 'unavailable'],
    async handle({
      query: { q, limit = 10, path_prefix: path, tag, mode = 'hybrid', rerank },
      principal,
      signal,
    }) {
      const answer = await searchService.askByHand({
        text: q,
        limit,
        path,
        tag,
        mode,
        rerank,
        principal,
        signal,
      });
      return answer as never;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/knowledge/document',
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a document by number, path, or the playbook link of a rule or report',
    query: Type.Object({
      doc: Type.String({
        minLength: 1,
        maxLength: 1_000,
        pattern: '\\S',
        description: 'Such as 12, vault/hosts/disk-full.md or playbook://hosts/disk-full.md',
      }),
    }),
    response: Named,
    errors: ['not_found'],
    async handle({ query: { doc }, principal }) {
      const found = await searchService.read(doc.trim(), principal);
      if (found === undefined) {
        throw errors.no_document({ doc: JSON.stringify(doc) });
      }
      const { document_id: id, path, title, tags, source, version, content } = found;
      return { id: Number(id), path, title, tags: [...tags], source, version, content };
    },
  }),
];

const indexRoutes = (parts: IndexParts): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/knowledge/index',
    access: 'any',
    summary: 'Get the state of the search index',
    response: IndexState,
    handle: () => indexState(parts),
  }),
  route({
    method: 'POST',
    path: '/api/v1/knowledge/index/rebuild',
    access: 'knowledge:update',
    brief: [],
    summary: 'Rebuild the search index; the current one stays in use meanwhile',
    response: IndexState,
    status: 202,
    async handle() {
      await parts.feed.anew();
      return await indexState(parts);
    },
  }),
];

async function indexState({
  feed,
  embedding,
  measure,
  rerankMeasure,
  rerankModel,
}: IndexParts): Promise<Static<typeof IndexState>> {
  const { model, ...vectors } = embedding.state;
  const measured = measure.of(model);
  return {
    ...(await feed.state()),
    vectors: {
      ...vectors,
      model,
      weight: measured?.weight ?? 0,
      measure:
        measured === undefined
          ? null
          : {
              measured_at: timestamp(measured.measured_at),
              documents: measured.documents,
              questions: measured.questions,
              words: measured.words,
              used: measured.used,
              equal: measured.equal,
            },
    },
    rerank: rerankState(rerankModel(), rerankMeasure),
  };
}
