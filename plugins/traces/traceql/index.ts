/** TraceQL as a whole: text in, answers out, over any source of spans. */
export { parse } from './parse/parser.ts';
export { printQuery } from './parse/print.ts';
export {
  search,
  type MatchedSpan,
  type MatchedSpanset,
  type MatchedTrace,
  type SearchOptions,
  type SearchResult,
} from './search/search.ts';
export {
  metrics,
  type MetricsOptions,
  type MetricsResult,
  type MetricsSeries,
} from './metrics/metrics.ts';
export { assertSent } from './metrics/series-bound.ts';
export { sightOf, textOf, type Sight } from './spans/enforce.ts';
export { prefilterOf } from './search/prefilter.ts';
export { queryOfTags, type TagSearch } from './search/tag-search.ts';
export {
  assertFieldsAlone,
  assertOneFilter,
  assertSpansAlone,
  enforcedQuery,
  withNames,
} from './search/enforced-query.ts';
